package money_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/testmode"
)

// tablesOf is what every table of the real store has: its rows, and one hash over them.
func tablesOf(svc *story.Service) map[string]string {
	svc.T.Helper()
	path := filepath.Join(svc.T.TempDir(), "snapshot.db")
	if err := svc.App.DB.Snapshot(story.Patient(svc.T), path, nil); err != nil {
		svc.T.Fatal(err)
	}
	pool, err := sql.Open("sqlite", path)
	if err != nil {
		svc.T.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	all := map[string]string{}
	for _, table := range texts(svc.T, pool, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
		columns := texts(svc.T, pool, "SELECT name FROM pragma_table_info('"+table+"')")
		rows := texts(svc.T, pool, "SELECT json_array("+strings.Join(columns, ", ")+") FROM "+table)
		slices.Sort(rows)
		all[table] = fmt.Sprintf("%d rows, %.8x", len(rows), sha256.Sum256([]byte(strings.Join(rows, "\n"))))
	}
	return all
}

func texts(t *testing.T, pool *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := pool.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// knowsTestMode are the tables of the real store that test mode may change: callers, how
// often they called, and which workspaces have a world. Time alone changes the pulse and the
// register of processes.
var knowsTestMode = []string{"account_key", "agent_key", "process", "pulse", "rate_limit", "test_world"}

// bySnapshot are tables of which a snapshot of PostgreSQL has its own rows.
const bySnapshot = "goose_db_version"

// TestNothingOfTestModeEntersTheRealStore does in test mode what there is to do, and compares
// every table of the real store, every file and every figure of its metrics.
func TestNothingOfTestModeEntersTheRealStore(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		var metrics string
		config.MetricsListen, config.AnnounceMetrics = "127.0.0.1:0", func(address string) { metrics = address }
		svc := story.Start(t, config)
		paying := svc.Caller(story.Credit)
		kept := paying.StartFrames(1) // one real job that waits for a worker
		c := svc.TestCaller()
		tables, files, figures := tablesOf(svc), svc.Files(""), counted(t, metrics)

		began := time.Now()
		done := c.Await(c.StartFrames(3).JobID, client.StatusCompleted)
		t.Logf("the first job, with the opening of its world, took %s", time.Since(began).Round(time.Millisecond))
		began = time.Now()
		again := c.Await(c.StartFrames(1).JobID, client.StatusCompleted)
		t.Logf("a job of one frame, with its upload, took %s", time.Since(began).Round(time.Millisecond))
		if again.RenderSeconds > 1 {
			t.Errorf("a frame took %g s", again.RenderSeconds)
		}
		failing, err := c.Take(c.Named("test-out_of_memory.blend", 1))
		if err != nil {
			t.Fatal(err)
		}
		c.Await(failing.JobID, client.StatusFailed)
		verifiedTestZIP(c, done)
		if _, err := c.OrderPreview(story.Patient(t), again.UploadID, 1); err != nil {
			t.Error(err)
		}
		if status, answer := c.Clock(svc.URL, `{"advance_seconds":3000000}`); status != 200 || answer.Moved != 3e6 {
			t.Fatalf("moving the clock: %d, %+v", status, answer)
		}
		if wallet, err := c.Wallet(story.Patient(t)); err != nil || wallet.AvailableCents != 100_000-4 {
			t.Errorf("the wallet of test mode has %+v, %v", wallet, err)
		}

		now := tablesOf(svc)
		for table, before := range tables {
			if table != bySnapshot && now[table] != before && !slices.Contains(knowsTestMode, table) {
				t.Errorf("test mode changed the table %s: %s, before %s", table, now[table], before)
			}
		}
		if left := svc.Files(""); !slices.Equal(left, files) {
			t.Errorf("test mode changed the files: %v, before %v", left, files)
		}
		if after := counted(t, metrics); after != figures {
			t.Errorf("test mode changed the metrics:\n%s\nbefore:\n%s", after, figures)
		}
		if job, err := paying.Job(story.Patient(t), kept.JobID); err != nil || job.Status != client.StatusQueued {
			t.Errorf("the real job is %+v, %v: it must not be rendered", job, err)
		}
		for _, jobID := range []string{done.JobID, failing.JobID} {
			if _, err := paying.Job(story.Patient(t), jobID); !is(err, fault.RenderNotFound) {
				t.Errorf("the real service answers %v about a job of test mode", err)
			}
		}
		found, err := svc.App.AuditTestWorld(story.Patient(t), c.Workspace)
		if err != nil || len(found.Breaches) > 0 || found.Jobs != 3 {
			t.Errorf("the audit of the test world: %+v, %v", found, err)
		}
	})
}

// is reports whether a client's error has a code.
func is(err error, code fault.Code) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && refused.Code == string(code)
}

// counted is what metrics count of requests, frames, jobs and webhooks.
func counted(t *testing.T, address string) string {
	t.Helper()
	text := story.Get(t, http.MethodGet, address+"/metrics", nil).Body
	var lines []string
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, " ")
		name, _, _ = strings.Cut(name, "{")
		if strings.HasPrefix(name, "svc_") && (strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_count")) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		t.Fatalf("the metrics count nothing:\n%s", text)
	}
	return strings.Join(lines, "")
}

// verifiedTestZIP downloads a job of test mode, and wants a receipt that cannot be mistaken
// for a real one.
func verifiedTestZIP(c story.Caller, job *client.Job) {
	c.T.Helper()
	path := filepath.Join(c.T.TempDir(), "job.zip")
	if _, err := c.Download(story.Patient(c.T), job.JobID, path, nil); err != nil {
		c.T.Fatal(err)
	}
	zip, err := os.ReadFile(path)
	if err != nil {
		c.T.Fatal(err)
	}
	signed, err := c.Receipt(story.Patient(c.T), job.JobID)
	if err != nil {
		c.T.Fatal(err)
	}
	keys, err := c.SigningKeys(story.Patient(c.T))
	if err != nil || len(keys) != 1 {
		c.T.Fatalf("%d keys, %v", len(keys), err)
	}
	checks, err := client.Verify(signed, keys, bytes.NewReader(zip), int64(len(zip)))
	if !errors.Is(err, client.ErrTestReceipt) || !strings.Contains(checks[0].Text, "TEST RECEIPT") {
		c.T.Errorf("a receipt of test mode is taken: %+v, %v", checks, err)
	}
	for _, check := range checks[1:] {
		if check.Status == "failed" {
			c.T.Errorf("beyond that, it is not sound: %+v", check)
		}
	}
	if _, err := client.Verify(signed, keys, bytes.NewReader(zip), int64(len(zip)), client.AcceptTest()); err != nil {
		c.T.Errorf("a caller that asks for one of test mode does not get it: %v", err)
	}
	logged, err := c.Proof(story.Patient(c.T), job.JobID)
	if err != nil {
		c.T.Fatal(err)
	}
	if _, err := client.VerifyLog(signed, logged, keys, nil); !errors.Is(err, client.ErrTestReceipt) {
		c.T.Errorf("in the log: %v", err)
	}
	if !strings.Contains(logged.Checkpoint, "/test/"+c.Workspace+"/log\n") {
		c.T.Errorf("the log of test mode has the name of another: %s", logged.Checkpoint)
	}
	var r receipt.Receipt
	if err := json.Unmarshal(signed.Members, &r); err != nil || !r.Test || r.Renderer.ID != contract.SyntheticRenderer {
		c.T.Errorf("the receipt looks real: %+v, %v", r, err)
	}
}

// TestARealServicesKeysRefuseATestReceipt: a caller that pinned the keys of the service knows
// no key of any test world.
func TestARealServicesKeysRefuseATestReceipt(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c, paying := svc.TestCaller(), svc.Caller(story.Credit)
		job := c.Await(c.StartFrames(1).JobID, client.StatusCompleted)
		signed, err := c.Receipt(story.Patient(t), job.JobID)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := paying.SigningKeys(story.Patient(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Verify(signed, keys, nil, 0); !errors.Is(err, client.ErrBadSignature) {
			t.Errorf("the keys of the service take it: %v", err)
		}
	})
}

// TestEveryTrickBringsWhatItsNameSays uploads the scene under every name of the list.
func TestEveryTrickBringsWhatItsNameSays(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.TestCaller()
		documented, err := os.ReadFile("../../../../docs/test-mode.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range testmode.Tricks() {
			if !bytes.Contains(documented, []byte("| `test-"+name+".blend` |")) {
				t.Errorf("docs/test-mode.md has no row of test-%s.blend", name)
			}
		}
		for _, name := range testmode.Tricks() {
			t.Run(name, func(t *testing.T) {
				c := withTest(c, t)
				if slices.Contains([]string{testmode.Slow, testmode.WorkerLostOnce, string(fault.WorkerLost)}, name) {
					t.Parallel() // what waits does so in a world of its own
					c = svc.With(t).TestCaller()
				}
				job, err := startOnce(svc, c, c.Named("test-"+name+".blend", 2))
				if testmode.Refusal("test-"+name+".blend", 2) != nil { // it is one of a start
					if !is(err, fault.Code(name)) {
						t.Errorf("the start answers %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				switch name {
				case testmode.WorkerLostOnce, testmode.Slow, testmode.Black:
					done := c.Await(job.JobID, client.StatusCompleted)
					if black := len(done.Findings) > 0; black != (name == testmode.Black) {
						t.Errorf("the findings are %+v", done.Findings)
					}
					least := map[string]time.Duration{testmode.WorkerLostOnce: story.Lapse, testmode.Slow: testmode.SlowFrame}[name]
					if took := done.CompletedAt.Sub(done.CreatedAt); took < least {
						t.Errorf("it took %s", took)
					}
				default:
					ended := c.Await(job.JobID, client.StatusFailed)
					if ended.Failure == nil || ended.Failure.Code != name || ended.ChargedCents != 0 {
						t.Errorf("the job ended with %+v", ended.Failure)
					}
				}
			})
		}
		if found, err := svc.App.AuditTestWorld(story.Patient(t), c.Workspace); err != nil || len(found.Breaches) > 0 {
			t.Errorf("the audit of the test world: %+v, %v", found, err)
		}
	})
}

// withTest is the caller for a subtest.
func withTest(c story.Caller, t *testing.T) story.Caller {
	c.T = t
	return c
}

// startOnce starts a quote by a client that does not try again.
func startOnce(svc *story.Service, c story.Caller, q *client.Quote) (*client.Job, error) {
	once, err := client.New(svc.URL, c.Agent.Secret, client.WithAttempts(1))
	if err != nil {
		c.T.Fatal(err)
	}
	return once.Start(story.Patient(c.T), q, client.StartRequest{LegalAcceptance: client.LegalV1})
}

// TestAFrameOfAFileFailsByItsNumber fails one frame and no other.
func TestAFrameOfAFileFailsByItsNumber(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c := svc.TestCaller()
		job, err := c.Take(c.Named("test-blender_crashed@3.blend", 4))
		if err != nil {
			t.Fatal(err)
		}
		ended := c.Await(job.JobID, client.StatusFailed)
		if ended.Failure.Code != "blender_crashed" || !strings.Contains(ended.Failure.Message, "Frame 3") || ended.FramesCompleted > 3 {
			t.Errorf("it ended with %+v after %d frames", ended.Failure, ended.FramesCompleted)
		}
		if whole := c.Await(c.MustTake(c.Named("test-blender_crashed@9.blend", 2)), client.StatusCompleted); whole.FramesCompleted != 2 {
			t.Errorf("without that frame: %+v", whole)
		}
	})
}

// TestTheClockOfTestModeBringsWhatIsDue moves it over the ends of a quote and of an artifact,
// and no others.
func TestTheClockOfTestModeBringsWhatIsDue(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c, other, paying := svc.TestCaller(), svc.TestCaller(), svc.Caller(story.Credit)
		done := c.Await(c.StartFrames(1).JobID, client.StatusCompleted)
		others := other.QuoteFrames(1)
		quoted, reals := c.QuoteFrames(2), paying.QuoteFrames(1)
		if status, answer := c.Clock(svc.URL, `{"advance_seconds":-1}`); status != 400 && status != 422 || answer.Moved != 0 {
			t.Errorf("the clock goes back: %d, %+v", status, answer)
		}
		status, answer := c.Clock(svc.URL, `{"advance_seconds":90000}`) // 25 hours
		if ahead := time.Until(answer.Now); status != 200 || ahead < 24*time.Hour || ahead > 26*time.Hour {
			t.Fatalf("the clock says %d, %+v", status, answer)
		}
		if _, err := c.Take(quoted); !is(err, fault.QuoteExpired) {
			t.Errorf("a quote of yesterday: %v", err)
		}
		for _, untouched := range []struct {
			story.Caller
			*client.Quote
		}{{other, others}, {paying, reals}} {
			if _, err := untouched.Take(untouched.Quote); err != nil {
				t.Errorf("a moved clock reaches others: %v", err)
			}
		}
		later := answer.Now.Add(31 * 24 * time.Hour).Format(time.RFC3339)
		if status, answer := c.Clock(svc.URL, `{"now":"`+later+`"}`); status != 200 {
			t.Fatalf("a time to go to: %d, %+v", status, answer)
		}
		await.Until(t, "the artifact is gone", func() bool {
			_, err := c.Artifact(story.Patient(t), done.JobID)
			return is(err, fault.ArtifactExpired)
		})
		if status, answer := c.Clock(svc.URL, `{"now":"2000-01-01T00:00:00Z"}`); status != 400 || answer.Error.Code != "invalid_request" {
			t.Errorf("the clock goes back: %d, %+v", status, answer)
		}
		if status, answer := c.Clock(svc.URL, `{"advance_seconds":316000000}`); status != 400 {
			t.Errorf("the clock goes eleven years ahead: %d, %+v", status, answer)
		}
		if status, answer := paying.Clock(svc.URL, `{"advance_seconds":1}`); status != 409 || answer.Error.Code != "wrong_mode" {
			t.Errorf("a real key moves a clock: %d, %+v", status, answer)
		}
		c.Await(c.StartFrames(1).JobID, client.StatusCompleted) // it continues in the future
	})
}
