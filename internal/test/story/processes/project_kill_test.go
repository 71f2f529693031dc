package processes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
)

// killFiles is how many files the project of a kill round has; killFrames are the frames of
// its job.
const (
	killFiles  = 313
	killFrames = 3
)

// TestAProjectIsSentAndRenderedThroughKills kills svc render while it sends a project, the
// server after any of its commits, and the worker after any frame, with SIGKILL. The same
// command again ends with the frames: each part is stored once, and there is one job.
//
// Fifty rounds in the long run; a round is called by its seed.
func TestAProjectIsSentAndRenderedThroughKills(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.Engines() {
		for seed := range uint64(long.Scale(1, 25)) {
			t.Run(fmt.Sprintf("%s/seed-%d", engine, seed), func(t *testing.T) {
				t.Parallel()
				killRound(t, dbtest.URL(t, engine), rand.New(rand.NewPCG(seed, killFiles)))
			})
		}
	}
}

func killRound(t *testing.T, database string, random *rand.Rand) {
	config := app.Config{Data: t.TempDir(), Database: database, Listen: story.FreeAddress(t), LeaseLife: story.Lapse, Log: story.LogOf(t)}
	svc := story.Open(t, config)
	svc.URL = "http://" + config.Listen
	c := svc.Caller(story.Credit)
	folder := killProject(t)
	stop := story.Supervise(t, story.ServerConfig{
		Listen: config.Listen, Data: config.Data, Database: config.Database, Blobs: config.Blobs, LeaseLife: config.LeaseLife, NoWorker: true, AllowSynthetic: true, KillAfter: 1 + random.Int64N(killFiles),
	})
	render := func() (*exec.Cmd, *bytes.Buffer) {
		command := exec.Command(apptest.Binary(t), "render", "main.blend", "--allow-missing", "--yes", "--frames", fmt.Sprintf("1-%d", killFrames), "--out", "out")
		command.Dir, command.SysProcAttr = folder, story.DiesWithTheTest()
		command.Env = append(os.Environ(), "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Agent.Secret, "XDG_CONFIG_HOME="+folder)
		var said bytes.Buffer
		command.Stdout, command.Stderr = &said, &said
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		return command, &said
	}
	stored := func() (n int) {
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			keys, err := tx.ContentKeys(ctx)
			n = len(keys)
			return err
		})
		return n
	}

	first, _ := render()
	parts := random.IntN(killFiles - 1)
	ended := make(chan struct{})
	go func() {
		_ = first.Wait() // it is killed
		close(ended)
	}()
	await.Until(t, fmt.Sprintf("%d parts", parts), func() bool {
		select {
		case <-ended: // no server answered for long
			return true
		default:
			return stored() >= parts
		}
	})
	_ = first.Process.Kill() // it may have ended
	<-ended

	again, said := render()
	work := func() *story.Process {
		return story.Launch(t, story.WorkerRole, story.WorkerConfig{Server: svc.URL, Key: svc.NodeKey().Secret, WorkDir: t.TempDir(), Synthetic: true, Sound: true})
	}
	doomed := work()
	for range 1 + random.IntN(killFrames-1) {
		doomed.Await(story.Patient(t), "delivered")
	}
	doomed.Kill() // while it has another frame
	work()
	if err := again.Wait(); err != nil {
		t.Fatalf("the same command again: %v\n%s", err, said)
	}
	stop()
	verify := exec.Command(apptest.Binary(t), "verify", "out") // as it is printed, without the server
	verify.Dir = folder
	if text, err := verify.CombinedOutput(); err != nil || !strings.Contains(said.String(), "svc verify out\n") || strings.Contains(string(text), "NOT CHECKED") || !strings.Contains(string(text), "as svc render sent them") {
		t.Errorf("the printed command: %v\n%s", err, text)
	}
	frames, err := filepath.Glob(filepath.Join(folder, "out", "frame_*.png"))
	if err != nil || len(frames) != killFrames {
		t.Errorf("%d frames came, %v:\n%s", len(frames), err, said)
	}
	if n := stored(); n != killFiles {
		t.Errorf("the parts of %d files are %d", killFiles, n)
	}
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		jobs, err := tx.JobIDs(ctx, "")
		if len(jobs) != 1 {
			t.Errorf("there are %d jobs, want one", len(jobs))
		}
		return err
	})
	svc.WantMoney(c.Workspace, story.Credit-killFrames, wallet.Credited, wallet.Reserved, wallet.Captured)
}

// killProject is a folder with a scene whose cache has a file for each frame.
func killProject(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	err := os.CopyFS(folder, os.DirFS("../../../render/scenefiles/testdata/kinds"))
	for frame := 3; frame <= 300; frame++ {
		name := filepath.Join(folder, "blendcache_main", fmt.Sprintf("436C6F7468_%06d_00.bphys", frame))
		err = errors.Join(err, os.WriteFile(name, fmt.Appendf(nil, "frame %d", frame), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
