package operator

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/internal/work/worker"
)

// TestTheWorkerInsideUsesTheMachineAsItsFlagsSay: they are those of svc worker run, and what no
// worker can do is refused before anything is opened.
func TestTheWorkerInsideUsesTheMachineAsItsFlagsSay(t *testing.T) {
	t.Parallel()
	program, err := os.Executable() // stands in for Blender, which is not started
	if err != nil {
		t.Fatal(err)
	}
	parsed := func(flags ...string) (serve Serve) {
		t.Helper()
		parser, err := kong.New(&serve, kong.Vars{"data": "./data"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(append(flags, "--data="+t.TempDir(), "--sandbox=off", "--blender="+program)); err != nil {
			t.Fatal(err)
		}
		return serve
	}
	serve := parsed("--blenders-per-device=3", "--cores=5", "--cache=1000", "--keep-scene=90s", "--whole-picture=2MiB")
	inside, err := serve.embedded(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	m, threads := inside.Machine, inside.Renderer.(worker.Blender).Threads
	if m.Blenders != 3 || m.Cores != 5 || m.CacheBytes != 1000 || m.KeepScene != 90*time.Second || m.WholePicture != 2<<20 || threads != 5 {
		t.Errorf("the worker has %+v and %d threads", m, threads)
	}
	for _, flags := range [][]string{{"--cores=-1"}, {"--keep-scene=-1s"}, {"--all-gpus", "--device=cpu"}} {
		serve := parsed(flags...)
		if _, err := serve.service(); err == nil {
			t.Errorf("%v is taken", flags)
		}
	}
}
