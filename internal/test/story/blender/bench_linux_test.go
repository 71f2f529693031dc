package blender_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/test/apptest"
	"svc.example/internal/test/screen"
	"svc.example/internal/test/story"
	"svc.example/internal/work/benchmark"
)

// A stopped benchmark has no result, says so, and can be started again.
func TestABenchmarkThatIsInterruptedHasNoResult(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "result.json")
	command := exec.Command(apptest.Binary(t), "bench", "--blender", story.RealBlender(t), "--sandbox", "off", "--device", "cpu", "--denoise", "off",
		"--allow-blender-version", "--work", t.TempDir(), "--out", out)
	command.Env = os.Environ()
	shown := screen.Start(t, command, 120)
	shown.Type(t, benchmark.SceneNames()[0], "\x03")
	_ = command.Wait() // the exit code says it
	shown.End(t)
	if code := command.ProcessState.ExitCode(); code != 130 || !strings.Contains(shown.Seen(), "interrupted: there is no result, and nothing was sent. Start the same command again") {
		t.Errorf("it ends with %d and says\n%s", code, shown.Seen())
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a receipt: %v", err)
	}
}
