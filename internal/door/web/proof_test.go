package web

import (
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
		page, err := proofPage(proofBody{Receipt: job.Receipt}).write()
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(page), "<h1>")
		text, _, _ = strings.Cut(text, "</p>")
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
