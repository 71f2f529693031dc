package result

import (
	"path"
	"strings"

	"svc.example/internal/ground/digest"
)

// OverviewsOf begins the keys of a job's overviews and movie, which packages overview and movie
// keep: they go with the ZIP.
func OverviewsOf(jobID string) string { return Overviews + "/" + jobID + "/" }

// Overviews is the first word of the keys of overviews.
const Overviews = "overviews"

// SumOf is the SHA-256 that the bytes of a kept overview have by its key, "" for another
// key.
func SumOf(key string) string {
	name := path.Base(key)
	_, sum, _ := strings.Cut(strings.TrimSuffix(name, path.Ext(name)), "-")
	if _, sum, _ = strings.Cut(sum, "-"); digest.Is(sum) {
		return sum
	}
	return ""
}
