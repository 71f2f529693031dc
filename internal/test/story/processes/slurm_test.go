//go:build deploy

package processes_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/wallet"
)

// slurm runs a program of Slurm, with further variables.
func slurm(t *testing.T, env []string, words ...string) string {
	t.Helper()
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), env...)
	command.Dir = t.TempDir()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", words, err, out)
	}
	return strings.TrimSpace(string(out))
}

// states are the states of the jobs of a name.
func states(t *testing.T, name string) string {
	t.Helper()
	return slurm(t, nil, "squeue", "--noheader", "--name="+name, "--format=%T")
}

// autoscaleSlurm has svc autoscale ask a real Slurm for workers with a real Blender, at most
// max, until stop is called or the story ends.
func autoscaleSlurm(t *testing.T, server, key string, max int) (stop func()) {
	t.Helper()
	if os.Getenv("SLURM_CONF") == "" {
		t.Fatal("there is no Slurm here: run make deploy-test")
	}
	binary := apptest.Binary(t)
	scaler := exec.Command(binary, "autoscale", "--engine=slurm", "--job="+scriptOf(t, "worker-cpu.sbatch"), fmt.Sprintf("--max=%d", max), "--every=1s")
	scaler.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "SVC_SERVER="+server, "SVC_NODE_KEY="+key,
		"SVC_BLENDER="+story.RealBlender(t), "SVC_ALLOW_BLENDER_VERSION=true", "SVC_SANDBOX=auto", "SVC_EXIT_IDLE=5s", "SVC_WORK="+t.TempDir())
	scaler.Dir, scaler.Stderr, scaler.WaitDelay = t.TempDir(), t.Output(), time.Second
	if err := scaler.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = scaler.Process.Signal(os.Interrupt)
		_ = scaler.Wait()
	})
	t.Cleanup(stop)
	return stop
}

// framesRendering is how many frames of a job are being rendered.
func framesRendering(svc *story.Service, jobID string) (n int) {
	svc.T.Helper()
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		all, err := dispatch.HeldOf(ctx, tx, jobID)
		for _, f := range all {
			if f.Progress > 0 {
				n++
			}
		}
		return err
	})
	return n
}

// failuresOf are the failed attempts of a job.
func failuresOf(svc *story.Service, jobID string) (failed []dispatch.FailedFrame) {
	svc.T.Helper()
	svc.Read(func(ctx context.Context, tx *db.Tx) (err error) {
		failed, err = dispatch.FailuresOf(ctx, tx, jobID, 10)
		return err
	})
	return failed
}

// TestSlurmRunsTheWorkersThatAJobIsWorth has svc autoscale ask a real Slurm for a worker. A
// job of a better partition takes the machine in the middle of a frame: the frame is given
// back at once, and is no failed attempt. Slurm requeues the worker, which finishes the
// job, and ends when it is idle. make deploy-test runs this.
func TestSlurmRunsTheWorkersThatAJobIsWorth(t *testing.T) {
	svc := story.Start(t, app.Config{Listen: story.FreeAddress(t), Data: t.TempDir(), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	autoscaleSlurm(t, svc.URL, svc.NodeKey().Secret, 1)

	job, err := c.Take(c.QuoteFrames(6))
	if err != nil {
		t.Fatal(err)
	}
	held := func() int { return framesRendering(svc, job.JobID) }
	await.Until(t, "a frame that renders", func() bool { return held() > 0 })
	begun := time.Now()
	slurm(t, nil, "sbatch", "--partition=high", "--exclusive", "--job-name=better", "--wrap=sleep 2")
	await.Until(t, "the better job", func() bool { return states(t, "better") == "RUNNING" })
	t.Logf("the machine changed hands in %s", time.Since(begun).Round(100*time.Millisecond))
	if held() != 0 {
		t.Error("the worker still holds a frame")
	}
	done := c.Await(job.JobID, client.StatusCompleted)
	if failed := failuresOf(svc, job.JobID); len(failed) != 0 {
		t.Errorf("attempts failed: %+v", failed)
	}
	c.VerifiedZIP(done)
	svc.WantMoney(c.Workspace, story.Credit-int64(done.FrameCount), wallet.Credited, wallet.Reserved, wallet.Captured)
	await.Until(t, "the worker ends on its own", func() bool { return states(t, "svc-worker") == "" })
}

// scriptOf is a batch script of deploy/slurm.
func scriptOf(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "deploy", "slurm", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
