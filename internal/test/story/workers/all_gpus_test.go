package workers_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"svc.example/internal/test/apptest"
	"svc.example/internal/test/script"
)

// rows is what nvidia-smi 535 and later print of two cards.
const rows = `0, GPU-3a1f9f0e-52c6-9f1d-8f9e-2c5f1c5d0a01, NVIDIA RTX A6000, 00000000:01:00.0
1, GPU-7be1a4c2-0f2b-1d6e-5a77-41c0f3b0aa02, NVIDIA L4, 00000000:3B:00.0
`

// TestAllGPUsAreTriedAndNoneIsMadeUp: the command starts a worker with a Blender of its own for
// each card that nvidia-smi names. No card is there, so each of them says that it has none, and
// nothing renders on the processor instead.
func TestAllGPUsAreTriedAndNoneIsMadeUp(t *testing.T) {
	t.Parallel()
	if cards, _ := filepath.Glob("/dev/nvidia[0-9]*"); len(cards) > 0 {
		t.Fatal("this machine has a GPU of NVIDIA's: the test needs one without")
	}
	folder := t.TempDir()
	smi := filepath.Join(folder, "bin", "nvidia-smi")
	if err := os.Mkdir(filepath.Dir(smi), 0o700); err != nil {
		t.Fatal(err)
	}
	script.Write(t, smi, "cat <<'END'\n"+rows+"END\n")
	svc := apptest.Binary(t)
	run := func(path string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, svc, "worker", "run", "--all-gpus", "--allow-blender-version",
			"--server", "http://127.0.0.1:9", "--key", "svc_node_"+strings.Repeat("a", 43), "--name", "rack", "--work", filepath.Join(folder, "work"), "--sandbox", "off")
		command.Env = append(os.Environ(), "PATH="+path, "CUDA_VISIBLE_DEVICES=")
		out, err := command.CombinedOutput()
		if err == nil {
			t.Errorf("it ended well:\n%s", out)
		}
		return string(out)
	}
	said := run(filepath.Dir(smi) + ":" + os.Getenv("PATH"))
	for _, want := range []string{
		`gpu=0 .*uuid=GPU-3a1f.* cores=\d+ .*blender_memory=\d+`, `gpu=1 .*uuid=GPU-7be1`,
		`worker rack-gpu0: no GPU that Cycles can render on`, `worker rack-gpu1: no GPU that Cycles can render on`,
	} {
		if !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if said := run("/usr/bin:/bin"); !strings.Contains(said, "start a worker for each") || !strings.Contains(said, "nvidia-smi") {
		t.Errorf("without nvidia-smi: %s", said)
	}
}
