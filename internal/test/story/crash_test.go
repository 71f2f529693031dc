package story_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/work/wallet"
)

// crashLanes is how many crash runs of one database go on side by side.
const crashLanes = 2

// TestNothingIsLostWhereverTheServerIsKilled kills the server behind its first
// commit, in another run behind its second, and so on until a run ends before
// its turn comes. Embedded, the worker dies with the server; apart, it outlives
// it.
//
// The long run kills behind every commit in each of the four ways. The short run
// deals the commits out among them: there is a kill behind each commit, in one way.
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

// crashRun drives one job to its end over a server that is killed behind its
// commit n, and says whether that commit came.
func crashRun(t *testing.T, database string, embedded bool, n int64) (killed bool) {
	config := app.Config{Data: t.TempDir(), Database: database, Listen: freeAddress(t), LeaseLife: lapse, Log: logOf(t)}
	svc := open(t, config)
	svc.url = "http://" + config.Listen
	c := svc.caller(credit)
	if !embedded {
		svc.worker(&painter{})
	}
	receiver := newWebhookReceiver(t)
	stop := supervise(t, serverConfig{
		Listen: config.Listen, Data: config.Data, Database: config.Database, Blobs: config.Blobs, LeaseLife: config.LeaseLife, KillAfter: n, NoWorker: !embedded, WebhookCA: receiver.pem,
	})
	job, secret := c.startWithWebhook(crashFrames, receiver.address)
	job = c.await(job.JobID, client.StatusCompleted)
	c.fetch(job, crashFrames)
	receiver.once(job, secret)
	killed = stop()

	svc.wantMoney(c.workspace, credit-crashFrames, wallet.Credited, wallet.Reserved, wallet.Captured)
	svc.read(func(ctx context.Context, tx *db.Tx) error {
		jobs, err := tx.JobIDs(ctx, "")
		if len(jobs) != 1 {
			t.Errorf("there are %d jobs, want one", len(jobs))
		}
		return err
	})
	return killed
}

// webhookReceiver is an HTTPS server in this process that keeps what it gets.
type webhookReceiver struct {
	t        *testing.T
	address  string
	pem      string // whom its certificate is by
	received chan delivery
}

// delivery is what a webhookReceiver got. It can come before the caller knows the
// secret, so it is verified later, at the time when it came.
type delivery struct {
	header http.Header
	body   []byte
	at     time.Time
}

func newWebhookReceiver(t *testing.T) *webhookReceiver {
	t.Helper()
	ca := newAuthority(t)
	pair, err := tls.LoadX509KeyPair(ca.cert, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	e := &webhookReceiver{t: t, pem: string(ca.pem), received: make(chan delivery, 100)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the server was killed in the middle of it
		}
		select {
		case e.received <- delivery{r.Header, body, time.Now()}:
		default: // waiting here would keep the server from closing, for good
			t.Errorf("more calls than %d that nobody looked at", cap(e.received))
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that a kill cuts off
	server.StartTLS()
	t.Cleanup(server.Close)
	e.address = server.URL
	return e
}

// trusting admits webhooks to receivers of this machine whose certificates are by pem.
func trusting(pem string) outbound.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(pem))
	return outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots}
}

// once checks that the job's end was sent, each time as the same event, signed with
// the secret.
func (e *webhookReceiver) once(job *client.Job, secret string) {
	e.t.Helper()
	first := e.verified(await.Next(e.t, e.received, "a webhook of the job's end"), secret)
	if first.Type != client.EventCompleted || first.Job.JobID != job.JobID || first.Job.Status != job.Status {
		e.t.Errorf("%s holds %+v", first.Type, first.Job)
	}
	for {
		select {
		case d := <-e.received:
			if again := e.verified(d, secret); again.ID != first.ID {
				e.t.Errorf("it was sent as %s and as %s", first.ID, again.ID)
			}
		default:
			return
		}
	}
}

func (e *webhookReceiver) verified(d delivery, secret string) *client.WebhookEvent {
	e.t.Helper()
	event, err := client.VerifyWebhook(secret, d.header, d.body, d.at)
	if err != nil {
		e.t.Fatal(err)
	}
	return event
}

// startWithWebhook is start with a webhook whose secret the service makes. Only the first
// answer tells it; the client repeats a start whose answer is lost under the same
// Idempotency-Key.
func (c caller) startWithWebhook(n int, address string) (job *client.Job, secret string) {
	c.t.Helper()
	q := c.quote(n)
	job, err := c.Start(patient(c.t), q.UploadID, q.QuoteID, client.StartRequest{LegalAcceptance: client.LegalV1, WebhookURL: address})
	if err != nil {
		c.t.Fatal(err)
	}
	if job.WebhookSecret == "" {
		c.t.Fatalf("the service made a secret for %s and the answer that told it is lost for good", job.JobID)
	}
	return job, job.WebhookSecret
}

// supervise starts a server, and again when it was killed, as an operator's service
// manager does, until stop, which says whether it has been killed before. It does
// not outlive the story.
func supervise(t *testing.T, config serverConfig) (stop func() (killed bool)) {
	t.Helper()
	stopping, ended := make(chan struct{}), make(chan bool, 1)
	go func() { ended <- keepUp(t, config, stopping) }()
	stop = sync.OnceValue(func() bool {
		close(stopping)
		return <-ended
	})
	t.Cleanup(func() { stop() })
	return stop
}

func keepUp(t *testing.T, config serverConfig, stopping <-chan struct{}) (killed bool) {
	for {
		p, err := begin(serverRole, config, apptest.LogWriter(t, t.Output()))
		if err != nil {
			t.Error(err)
			return killed
		}
		died := make(chan error, 1)
		go func() { died <- p.Wait() }()
		select {
		case <-stopping:
			_ = p.Process.Kill() // the store must bear that too
			<-died
			return killed
		case err := <-died:
			if !wasKilled(err) {
				t.Errorf("the server ended by itself: %v", err)
				return killed
			}
			killed, config.KillAfter = true, 0
		}
	}
}

func wasKilled(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
