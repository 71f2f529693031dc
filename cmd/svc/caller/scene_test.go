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
		s.close()
		if _, err = openScene(t.Context(), filepath.Join(folder, "other.blend"), flags, client.Settings{}, terminal.NewDisplay(io.Discard, time.Now)); !fault.Is(err, fault.EngineNotSupported) {
			t.Errorf("a scene of another engine with %+v: %v", flags, err)
		}
	}
}
