package processes_test

import (
	"context"
	"fmt"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
)

// crashLanes is how many crash runs of one database are in progress at once.
const crashLanes = 2

// TestNothingIsLostWhereverTheServerIsKilled kills the server after its first
// commit, in another run after its second, and so on until a run ends before that
// commit. An embedded worker dies with the server; a separate one outlives it.
//
// The long run kills after every commit in each of the four ways. The short run
// divides the commits among them: there is a kill after each commit, in one way.
func TestNothingIsLostWhereverTheServerIsKilled(t *testing.T) {
	t.Parallel()
	way := 0
	for _, worker := range []string{"embedded", "apart"} {
		for _, engine := range dbtest.Engines() {
			first, ways := way, 4
			way++
			for lane := range crashLanes {
				begin, step := int64(first+lane*ways+1), int64(crashLanes*ways)
				if long.Run() {
					begin, step = int64(lane+1), crashLanes
				}
				t.Run(fmt.Sprintf("%s/%s/lane-%d", engine, worker, lane), func(t *testing.T) {
					t.Parallel()
					for n, killed := begin, true; killed; n += step {
						t.Run(fmt.Sprintf("commit-%d", n), func(t *testing.T) {
							killed = crashRun(t, dbtest.URL(t, engine), worker == "embedded", n)
						})
					}
				})
			}
		}
	}
}

// crashFrames is how many frames the job of a crash run has.
const crashFrames = 3

// crashRun drives one job to its end over a server that is killed after its
// commit n, and says whether that commit came.
func crashRun(t *testing.T, database string, embedded bool, n int64) (killed bool) {
	config := app.Config{Data: t.TempDir(), Database: database, Listen: story.FreeAddress(t), LeaseLife: story.Lapse, Log: story.LogOf(t)}
	svc := story.Open(t, config)
	svc.URL = "http://" + config.Listen
	c := svc.Caller(story.Credit)
	if !embedded {
		svc.Worker(&story.Painter{})
	}
	receiver := story.NewWebhookReceiver(t)
	stop := story.Supervise(t, story.ServerConfig{
		Listen: config.Listen, Data: config.Data, Database: config.Database, Blobs: config.Blobs, LeaseLife: config.LeaseLife, KillAfter: n, NoWorker: !embedded, WebhookCA: receiver.PEM,
	})
	job, secret := startWithWebhook(c, crashFrames, receiver.Address)
	job = c.Await(job.JobID, client.StatusCompleted)
	c.Fetch(job, crashFrames)
	receiver.Once(job, secret)
	killed = stop()

	svc.WantMoney(c.Workspace, story.Credit-crashFrames, wallet.Credited, wallet.Reserved, wallet.Captured)
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		jobs, err := tx.JobIDs(ctx, "")
		if len(jobs) != 1 {
			t.Errorf("there are %d jobs, want one", len(jobs))
		}
		return err
	})
	return killed
}

// startWithWebhook is start with a webhook whose secret the service makes. Only the first
// answer contains it; the client repeats a start whose answer is lost under the same
// Idempotency-Key.
func startWithWebhook(c story.Caller, n int, address string) (job *client.Job, secret string) {
	c.T.Helper()
	q := c.QuoteFrames(n)
	job, err := c.Start(story.Patient(c.T), q, client.StartRequest{LegalAcceptance: client.LegalV1, WebhookURL: address})
	if err != nil {
		c.T.Fatal(err)
	}
	if job.WebhookSecret == "" {
		c.T.Fatalf("the service made a secret for %s and the answer that told it is lost for good", job.JobID)
	}
	return job, job.WebhookSecret
}
