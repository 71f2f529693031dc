package app_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// uncharged are the places whose costly work is charged to no caller, each with its reason.
var uncharged = map[string]string{
	"work/delivery/delivery.go":   "workers are needed, whatever they cost; their decoding has bounds of its own",
	"work/preview/accept.go":      "a worker's picture, of 640 pixels at most",
	"work/recheck/accept.go":      "a worker's picture",
	"work/job/search.go":          "work/job/list.go charges it",
	"work/receipt/contents.go":    "svc verify reads a ZIP on its caller's machine",
	"work/receipt/pictures.go":    "svc verify reads pictures on its caller's machine",
	"work/overview/loop.go":       "work/overview/overview.go charges all that is drawn",
	"work/overview/sheet.go":      "work/overview/overview.go charges all that is drawn",
	"work/synthetic/synthetic.go": "a worker for tests",
	"work/watch/strips.go":        "encoded of preview.go charges it",
}

var costly = regexp.MustCompile(`blendfile\.(Inspect|InspectAs|Open)\(|pixels\.(Read|ReadWithin|Thumbnail)\(|contentkey\.InTree\(|scenefiles\.(Find|Complete|ActiveScene)\(|archive\.Open\(|fpdf\.New\(|nativewebp\.Encode|jpeg\.Encode\(|openReceipt\(ctx, tx, row|tx\.JobPageFound\(`)

// TestCostlyWorkIsCharged walks the code of the service, and fails for a file that reads
// scenes, decodes pictures, draws documents, proves or searches outside ratelimit.Work.
func TestCostlyWorkIsCharged(t *testing.T) {
	t.Parallel()
	places := 0
	for _, folder := range []string{"app", "door", "front", "work"} {
		err := fs.WalkDir(os.DirFS(".."), folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "work/worker/") {
				return err
			}
			text, err := os.ReadFile("../" + path)
			if err != nil || !costly.Match(text) {
				return err
			}
			places++
			if uncharged[path] == "" && !strings.Contains(string(text), "ratelimit.Work(") {
				t.Errorf("%s does %q and charges nobody: put it into ratelimit.Work, or say here why not", path, costly.Find(text))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if places < 10 {
		t.Errorf("only %d places were found", places)
	}
}
