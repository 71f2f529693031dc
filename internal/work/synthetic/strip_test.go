package synthetic_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/render/strips"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

func TestStripsFinishToTheWholeFrame(t *testing.T) {
	t.Parallel()
	s := opened(t, synthetic.Renderer{})
	stripper := s.(worker.Stripper)
	whole, err := s.Render(t.Context(), 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(whole.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{2, 3, 5} {
		var parts []strips.Strip
		dir := t.TempDir()
		for i, rows := range strips.Cut(whole.Height, k, nil, 0) {
			part := strips.Strip{Rows: rows, Held: rows.Wider(strips.Overlap, whole.Height)}
			f, err := stripper.RenderStrip(t.Context(), 3, part, nil)
			if err != nil {
				t.Fatal(err)
			}
			part.Path = filepath.Join(dir, string(rune('a'+i)))
			if err := os.Rename(f.Path, part.Path); err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				if err := strips.Seams(parts[i-1], part); err != nil {
					t.Error(err)
				}
			}
			parts = append(parts, part)
		}
		f, err := stripper.Finish(t.Context(), 3, parts, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d strips give another picture: %v", k, err)
		}
	}
}
