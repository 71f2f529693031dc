package operator

import (
	"fmt"
	"strconv"
	"strings"

	"svc.example/internal/work/preview"
)

// previewLimits is the value of --free-previews: previews of an upload, and of a workspace
// a day.
type previewLimits preview.Limits

// mostPreviews is the highest limit that is accepted: a day has no time for
// more.
const mostPreviews = 10_000

// UnmarshalText reads two numbers with a comma between, or 0, which is none.
func (l *previewLimits) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*l = previewLimits{}
		return nil
	}
	upload, day, both := strings.Cut(string(text), ",")
	ofUpload, err1 := strconv.Atoi(upload)
	ofDay, err2 := strconv.Atoi(day)
	if !both || err1 != nil || err2 != nil || min(ofUpload, ofDay) < 1 || max(ofUpload, ofDay) > mostPreviews {
		return fmt.Errorf("%q is neither 0 nor two numbers of 1 to %d, such as 3,20", text, mostPreviews)
	}
	*l = previewLimits{Upload: ofUpload, Day: ofDay}
	return nil
}
