//go:build deploy

package processes_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/s3test"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
)

// TestSlurmFarmOutlivesItsDead is a farm as described in docs/scale.md: three processes of
// the service over PostgreSQL and an S3 store, a balancer in front, and workers that a real
// Slurm runs because svc autoscale asks for them. Two processes of the service are killed,
// one after the other, a worker in the middle of a frame, and the autoscaler restarts.
// Every job completes for its price, its receipt verifies, and the audit is clean. make
// deploy-test runs this.
func TestSlurmFarmOutlivesItsDead(t *testing.T) {
	const workers, frames = 2, 4
	config := app.Config{Data: t.TempDir(), Database: dbtest.URL(t, "postgres"), Blobs: s3test.Address(t), LeaseLife: 5 * time.Second, Log: story.LogOf(t)}
	svc := story.Open(t, config) // looks at the stores, serves nothing
	var addresses []string
	var servers []*faultTarget
	for range 3 {
		given := story.ServerConfig{
			Listen: story.FreeAddress(t), Data: config.Data, Database: config.Database, Blobs: config.Blobs, LeaseLife: config.LeaseLife, NoWorker: true,
		}
		addresses = append(addresses, given.Listen)
		servers = append(servers, &faultTarget{role: story.ServerRole, config: func() any { return given }})
	}
	for _, s := range servers {
		s.start(t)
	}
	balancer := httptest.NewServer(apptest.Balancer(addresses))
	t.Cleanup(balancer.Close)
	node := svc.NodeKey().Secret
	stop := autoscaleSlurm(t, balancer.URL, node, workers)

	var callers []story.Caller
	var jobs []*client.Job
	for range 2 {
		c := svc.Caller(story.Credit)
		c.Client = story.NewClient(t, balancer.URL, c.Agent.Secret)
		callers, jobs = append(callers, c), append(jobs, c.StartFrames(frames))
	}
	running := func() (ids []string) {
		ids = strings.Fields(slurm(t, nil, "squeue", "--noheader", "--name=svc-worker", "--states=RUNNING", "--format=%i"))
		if len(ids) > workers {
			t.Errorf("%d workers run, at most %d were allowed", len(ids), workers)
		}
		return ids
	}
	rendering := func() bool { return framesRendering(svc, jobs[0].JobID)+framesRendering(svc, jobs[1].JobID) > 0 }
	accepted := func() int { return len(svc.Frames(jobs[0].JobID)) + len(svc.Frames(jobs[1].JobID)) }
	another := func() { // waits for one more frame
		before := accepted()
		await.Until(t, "a frame more", func() bool { return accepted() > before || before == 2*frames })
	}

	await.Until(t, "a frame that renders", rendering)
	servers[0].p.Kill()
	t.Logf("one process of three is killed at %d frames", accepted())
	another()
	servers[0].start(t)

	await.Until(t, "a frame that renders", rendering)
	victims := running()
	if len(victims) == 0 {
		t.Fatal("Slurm runs no worker")
	}
	slurm(t, nil, "scancel", "--full", "--signal=KILL", victims[0])
	await.Until(t, "the worker's end", func() bool {
		return !strings.Contains(" "+strings.Join(running(), " ")+" ", " "+victims[0]+" ")
	})
	t.Logf("a worker is killed at %d frames", accepted())

	stop()
	autoscaleSlurm(t, balancer.URL, node, workers)
	another()
	servers[1].p.Kill()
	t.Logf("another process is killed at %d frames", accepted())
	another()
	servers[1].start(t)

	for i, c := range callers {
		done := c.Await(jobs[i].JobID, client.StatusCompleted)
		c.VerifiedZIP(done)
		svc.WantMoney(c.Workspace, story.Credit-frames, wallet.Credited, wallet.Reserved, wallet.Captured)
		for _, f := range failuresOf(svc, done.JobID) {
			t.Logf("frame %d was rendered again: %s", f.Frame, f.Code)
		}
	}
	await.Until(t, "the workers end on their own", func() bool { return states(t, "svc-worker") == "" })
}
