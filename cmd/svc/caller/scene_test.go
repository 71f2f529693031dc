package caller

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/ociotest"
	"svc.example/internal/work/quote"
)

// TestASceneThatNoServiceRendersIsRefusedBeforeAnythingIsSent: no client takes part here.
func TestASceneThatNoServiceRendersIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Setenv("OCIO", "")
	studio := t.TempDir()
	ociotest.Write(t, studio)
	cycles := apptest.PlainScene(t)
	folder := t.TempDir()
	for name, content := range map[string][]byte{"cycles.blend": cycles, "other.blend": bytes.ReplaceAll(cycles, []byte("CYCLES\x00"), []byte("OTHERS\x00"))} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, flags := range []FileFlags{{}, {NoFiles: true}, {OCIO: filepath.Join(studio, ociotest.Config)}} {
		s, err := openScene(t.Context(), filepath.Join(folder, "cycles.blend"), flags, client.Settings{}, terminal.NewDisplay(io.Discard, time.Now))
		if err != nil {
			t.Errorf("a scene of Cycles with %+v: %v", flags, err)
			continue
		}
		if err := s.has(""); err != nil || s.frames.Count() < 1 {
			t.Errorf("its frames %+v: %v", s.frames, err)
		}
		s.close()
		if _, err = openScene(t.Context(), filepath.Join(folder, "other.blend"), flags, client.Settings{}, terminal.NewDisplay(io.Discard, time.Now)); !fault.Is(err, fault.EngineNotSupported) {
			t.Errorf("a scene of another engine with %+v: %v", flags, err)
		}
	}
}

// The service would refuse these after the upload.
func TestARangeThatNoJobCanHaveIsRefusedBeforeTheUpload(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		frames quote.Frames
		want   fault.Code
	}{
		{quote.Frames{Start: 0, End: 0, Step: 1}, fault.InvalidFrameRange},
		{quote.Frames{Start: 1, End: 10_001, Step: 1}, fault.FrameRangeTooLarge},
	} {
		s := &scene{path: "scene.blend", frames: tt.frames}
		if err := s.has(""); !fault.Is(err, tt.want) {
			t.Errorf("all of %+v: %v", tt.frames, err)
		}
		if err := s.has("5"); err != nil {
			t.Errorf("frame 5 of %+v: %v", tt.frames, err)
		}
	}
}
