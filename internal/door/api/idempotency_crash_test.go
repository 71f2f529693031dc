package api_test

import (
	"bytes"
	"context"
	"database/sql"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/door/api"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/dbtest"
)

// kept is what a database holds at one moment.
type kept struct {
	effects [7]int // uploads, quotes, jobs, jobs that await their submit, cancelled jobs, free previews, share links
	answers int    // of requests with an Idempotency-Key
}

// commits reads the database after each commit, where a kill could strike.
type commits struct {
	raw  *sql.DB
	mu   sync.Mutex
	seen []kept
	err  error
}

func (c *commits) read() (k kept, err error) {
	e := &k.effects
	err = c.raw.QueryRowContext(context.Background(), `SELECT (SELECT count(*) FROM upload), (SELECT count(*) FROM quote), (SELECT count(*) FROM job),
		(SELECT count(*) FROM job WHERE status = 'awaiting_submit'), (SELECT count(*) FROM job WHERE status = 'cancelled'),
		(SELECT count(*) FROM preview), (SELECT count(*) FROM share), (SELECT count(*) FROM idempotency WHERE status <> 0)`).Scan(&e[0], &e[1], &e[2], &e[3], &e[4], &e[5], &e[6], &k.answers)
	return k, err
}

// note reads under the lock: a commit in the background that read before a request began,
// and was noted after that, would show the database as it was before the request.
func (c *commits) note() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := c.read()
	if err != nil {
		c.err = err
	}
	c.seen = append(c.seen, now)
}

// during is what was seen at the commits of do, after what was there before it.
func (c *commits) during(t *testing.T, do func()) []kept {
	t.Helper()
	begin := func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		before, err := c.read()
		c.seen = []kept{before}
		return err
	}
	if err := begin(); err != nil {
		t.Fatal(err)
	}
	do()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		t.Fatal(c.err)
	}
	return slices.Clone(c.seen)
}

// keyedRequest is a request to a route that takes an Idempotency-Key.
type keyedRequest struct {
	path   string
	secret string // of the caller's key
	header map[string]string
	body   body
}

// keyedRequests has one of each kind for every route, by its operation id and, where
// it has two kinds, a word more. What it asks for changes something.
func keyedRequests(s *service) map[string]func() keyedRequest {
	key := func(value string) map[string]string { return map[string]string{"Idempotency-Key": value} }
	inspected := func() answer { return s.post("/node/v1/uploads/inspect", s.form(nil, "scene.blend", demo.Scene())) }
	started := func() string {
		q := inspected()
		return s.post("/node/v1/uploads/"+q.text("upload_id")+"/start", jsonBody(`{"quote_id":"`+q.text("quote_id")+`","legal_acceptance":"SVC_LEGAL_V1"}`)).text("job_id")
	}
	uploaded := func() string {
		return s.call("POST", "/v1/renders", s.account, jsonBody(`{"upload_id":"`+inspected().text("upload_id")+`"}`)).text("job_id")
	}
	ended := func() string {
		jobID := started()
		s.post("/node/v1/jobs/"+jobID+"/cancel", body{})
		return jobID
	}
	told := `"webhook_url":"` + deadReceiver + `"`
	return map[string]func() keyedRequest{
		"quoteUpload": func() keyedRequest {
			return keyedRequest{"/node/v1/uploads/" + inspected().text("upload_id") + "/quote", s.agent, key("quote"), jsonBody(`{"frame_start":1,"frame_end":2}`)}
		},
		"createProject": func() keyedRequest {
			scene, parts := cut("scene.blend", demo.Scene(), len(demo.Scene()))
			s.sendPart(parts[0])
			return keyedRequest{"/node/v1/projects", s.agent, key("project"), listed("scene.blend", []sentFile{scene}, "")}
		},
		"previewInspectedUpload": func() keyedRequest {
			return keyedRequest{"/node/v1/uploads/" + inspected().text("upload_id") + "/preview", s.agent, key("look"), jsonBody(`{"frame":2}`)}
		},
		"previewUpload": func() keyedRequest {
			return keyedRequest{"/v1/uploads/" + inspected().text("upload_id") + "/preview", s.account, key("look"), jsonBody(`{}`)}
		},
		"startUpload": func() keyedRequest {
			q := inspected()
			terms := jsonBody(`{"quote_id":"` + q.text("quote_id") + `","legal_acceptance":"SVC_LEGAL_V1",` + told + `}`)
			return keyedRequest{"/node/v1/uploads/" + q.text("upload_id") + "/start", s.agent, key("start"), terms}
		},
		"cancelJob": func() keyedRequest {
			return keyedRequest{"/node/v1/jobs/" + started() + "/cancel", s.agent, key("cancel"), body{}}
		},
		"cancelRender": func() keyedRequest {
			return keyedRequest{"/v1/renders/" + started() + "/cancel", s.account, key("cancel"), body{}}
		},
		"rerenderJob": func() keyedRequest {
			return keyedRequest{"/node/v1/jobs/" + ended() + "/rerender", s.agent, key("again"), again("1")}
		},
		"rerenderRender": func() keyedRequest {
			return keyedRequest{"/v1/renders/" + ended() + "/rerender", s.account, key("again"), again("1")}
		},
		"shareJob": func() keyedRequest {
			return keyedRequest{"/node/v1/jobs/" + ended() + "/share", s.agent, key("share"), jsonBody(`{"download":true}`)}
		},
		"shareRender": func() keyedRequest {
			return keyedRequest{"/v1/renders/" + ended() + "/share", s.account, key("share"), jsonBody(`{}`)}
		},
		"submitRender": func() keyedRequest {
			return keyedRequest{"/v1/renders/" + uploaded() + "/submit", s.account, key("submit"), body{}}
		},
		"preflightRender": func() keyedRequest {
			return keyedRequest{"/v1/renders/preflight", s.account, key("plan"), jsonBody(`{"filename":"a.blend"}`)}
		},
		"createRender as a form": func() keyedRequest {
			return keyedRequest{"/v1/renders", s.account, group("create", 1, 1, 1), s.form(map[string]string{"webhook_url": deadReceiver}, "scene.blend", demo.Scene())}
		},
		"createRender as JSON": func() keyedRequest {
			return keyedRequest{"/v1/renders", s.account, key("create as JSON"), jsonBody(`{"upload_id":"` + inspected().text("upload_id") + `",` + told + `}`)}
		},
		"createUpload": func() keyedRequest {
			return keyedRequest{"/v1/uploads", s.account, key("upload-" + group("", 1, 1, 1)["X-Svc-Content-SHA256"]), s.form(nil, "scene.blend", demo.Scene())}
		},
	}
}

// TestNoEffectIsKeptWithoutItsAnswer sends a request with an Idempotency-Key to every
// route that takes one: at no commit is there the effect without the answer, and the
// answer that a repeated request gets is the first one's, byte for byte.
func TestNoEffectIsKeptWithoutItsAnswer(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		config := db.Config{URL: url}
		driver := map[string]string{"postgres": "pgx", "sqlite": "sqlite"}[config.Name()]
		raw, err := sql.Open(driver, url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = raw.Close() })
		at := &commits{raw: raw}
		s := start(t, url, func(c *app.Config) {
			c.AfterCommit = at.note
			c.Webhooks.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		})
		requests, tried := keyedRequests(s), map[string]bool{}
		for name, request := range requests {
			tried[strings.Fields(name)[0]] = true
			r := request()
			var first, again []byte
			seen := at.during(t, func() {
				_, first = s.send("POST", r.path, r.secret, r.header, bytes.NewReader(r.body.data), r.body.kind)
			})
			before, last := seen[0], seen[len(seen)-1]
			for _, k := range seen {
				if (k.effects != before.effects) != (k.answers != before.answers) && name != "preflightRender" {
					t.Errorf("%s: a kill would leave %+v, before it %+v", name, k, before)
				}
			}
			if last.answers != before.answers+1 || (last.effects == before.effects) != (name == "preflightRender") {
				t.Errorf("%s: %+v became %+v: %s", name, before, last, first)
			}
			replayed, again := s.send("POST", r.path, r.secret, r.header, bytes.NewReader(r.body.data), r.body.kind)
			if replayed.Header.Get("Idempotency-Replayed") != "true" || !bytes.Equal(first, again) {
				t.Errorf("%s: answered %s\nthen %s", name, first, again)
			}
		}
		for path, methods := range describedBy(t, api.Document("")).Paths {
			for _, op := range methods {
				takes := slices.Contains(op.Parameters, struct{ Name, In string }{"Idempotency-Key", "header"})
				if takes && !tried[op.OperationID] {
					t.Errorf("%s (%s) takes an Idempotency-Key, and no request here tries it", op.OperationID, path)
				}
			}
		}
	})
}
