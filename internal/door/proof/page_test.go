package proof

import (
	"bytes"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/test/receipttest"
)

func TestAPageSaysThatPaintedFramesWereNotRendered(t *testing.T) {
	t.Parallel()
	job, err := receipttest.Complete(1)
	if err != nil {
		t.Fatal(err)
	}
	head := func() string {
		t.Helper()
		var page bytes.Buffer
		if err := writePage(&page, shown{Receipt: job.Receipt}); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(page.String(), "<header>")
		text, _, _ = strings.Cut(text, "</header>")
		return text
	}
	if got := head(); !strings.Contains(got, "1 frame, rendered on ") {
		t.Errorf("of a frame that Blender rendered:%s", got)
	}
	job.Receipt.Renderer.ID = contract.SyntheticRenderer
	if got := head(); !strings.Contains(got, "1 frame, NOT rendered but painted by a synthetic renderer, no Blender, ") || strings.Contains(got, "rendered on") {
		t.Errorf("of a frame that was painted for a test:%s", got)
	}
}
