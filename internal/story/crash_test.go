package story_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/db"
	"svc.example/internal/db/dbtest"
	"svc.example/internal/wallet"
)

// crashLanes is how many crash runs of one database go on side by side.
const crashLanes = 2

// TestNothingIsLostWhereverTheServerIsKilled kills the server behind its first
// commit, in another run behind its second, and so on until a run ends before
// its turn comes. Embedded, the worker dies with the server; apart, it outlives
// it.
func TestNothingIsLostWhereverTheServerIsKilled(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.Engines() {
		for _, worker := range []string{"embedded", "apart"} {
			for lane := range crashLanes {
				t.Run(fmt.Sprintf("%s/%s/lane-%d", engine, worker, lane), func(t *testing.T) {
					t.Parallel()
					for n, killed := int64(lane+1), true; killed; n += crashLanes {
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

// crashRun drives one job to its end over a server that is killed behind its
// commit n, and says whether that commit came.
func crashRun(t *testing.T, database string, embedded bool, n int64) (killed bool) {
	config := app.Config{Data: t.TempDir(), Database: database, Listen: freeAddress(t), LeaseLife: lapse, Log: logOf(t)}
	h := open(t, config)
	h.url = "http://" + config.Listen
	c := h.caller(credit)
	if !embedded {
		h.worker(&painter{})
	}
	s := supervise(t, serverConfig{
		Listen: config.Listen, Data: config.Data, Database: config.Database, LeaseLife: config.LeaseLife, KillAfter: n, NoWorker: !embedded,
	})
	job := c.start(crashFrames)
	job = c.await(job.JobID, client.StatusCompleted)
	c.fetch(job, crashFrames)
	killed = s.stop()

	h.wantMoney(c.workspace, credit-crashFrames, wallet.Credited, wallet.Reserved, wallet.Captured)
	h.read(func(ctx context.Context, tx *db.Tx) error {
		jobs, err := tx.JobIDs(ctx, "")
		if len(jobs) != 1 {
			t.Errorf("there are %d jobs, want one", len(jobs))
		}
		return err
	})
	return killed
}

// freeAddress is an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// supervisor starts a server again when it was killed, as an operator's service
// manager does.
type supervisor struct {
	stopping chan struct{}
	ended    chan bool // whether a kill was seen
}

func supervise(t *testing.T, config serverConfig) *supervisor {
	s := &supervisor{stopping: make(chan struct{}), ended: make(chan bool, 1)}
	go func() {
		killed := false
		for {
			p := launch(t, serverRole, config)
			died := make(chan error, 1)
			go func() { died <- p.Wait() }()
			select {
			case <-s.stopping:
				_ = p.Process.Kill() // the store must bear that too
				<-died
				s.ended <- killed
				return
			case err := <-died:
				if !wasKilled(err) {
					t.Errorf("the server ended by itself: %v", err)
					<-s.stopping
					s.ended <- killed
					return
				}
				killed = true
				config.KillAfter = 0
			}
		}
	}()
	return s
}

// stop ends the server for good and says whether it had killed itself before.
func (s *supervisor) stop() (killed bool) {
	close(s.stopping)
	select {
	case killed = <-s.ended:
	case <-time.After(patience):
	}
	return killed
}

func wasKilled(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
