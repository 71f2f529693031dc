package clients_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// model acts as a language model does: it knows what tools and answers say, follows
// next_tool and next_arguments, and says legal_acceptance when its person has agreed.
type model struct {
	story.Session
	who story.Caller
	svc *story.Service
}

func newModel(svc *story.Service, c story.Caller) model {
	svc.T.Helper()
	return model{svc.Connect(c.Agent.Secret), c, svc}
}

// sends has a file uploaded by the link that svc_inspect gives without arguments, and
// returns what svc_inspect says of it, with the frames that are asked for.
func (m model) sends(file []byte, frames map[string]any) map[string]any {
	m.T.Helper()
	awaited, refused := m.Call("svc_inspect", frames)
	link, _ := awaited["upload"].(map[string]any)
	if refused {
		m.T.Fatalf("svc_inspect: %v", awaited)
	}
	put(m.T, fmt.Sprint(link["url"]), file)
	return follow(m.Session, awaited, "svc_inspect")
}

// starts does what an answer says is next, which is to start, with the person's yes.
func (m model) starts(answer map[string]any, more ...any) (job map[string]any, refused bool) {
	m.T.Helper()
	if answer["next_tool"] != "svc_start" {
		m.T.Fatalf("next is %v: %v", answer["next_tool"], answer)
	}
	with := maps.Clone(answer["next_arguments"].(map[string]any))
	with["legal_acceptance"] = "SVC_LEGAL_V1"
	for i := 0; i < len(more); i += 2 {
		with[fmt.Sprint(more[i])] = more[i+1]
	}
	return m.Call("svc_start", with)
}

// ends follows a job until it has ended, and wants that status.
func (m model) ends(job map[string]any, status string) map[string]any {
	m.T.Helper()
	end := follow(m.Session, job, "svc_status")
	if end["status"] != status {
		m.T.Fatalf("the job is %v, want %s", end, status)
	}
	return end
}

// renders starts, follows and fetches a job of so many frames.
func (m model) renders(answer map[string]any, frames float64) {
	m.T.Helper()
	job, refused := m.starts(answer)
	if refused {
		m.T.Fatalf("svc_start: %v", job)
	}
	download := follow(m.Session, m.ends(job, "completed"), "svc_download")
	if receipt := follow(m.Session, download, "svc_receipt"); receipt["charged_cents"] != frames || receipt["artifact_sha256"] != download["sha256"] {
		m.T.Errorf("the receipt is %v, the download %v", receipt, download)
	}
}

// refusal wants a code, and words to act on.
func (m model) refusal(answer map[string]any, refused bool, code string) {
	m.T.Helper()
	e, _ := answer["error"].(map[string]any)
	if !refused || e["code"] != code || len(fmt.Sprint(e["suggested_action"])) < 20 {
		m.T.Fatalf("answered %v, want %s", answer, code)
	}
}

// quotes prices frames of an upload.
func (m model) quotes(upload any, first, last int) map[string]any {
	m.T.Helper()
	answer, refused := m.Call("svc_quote", map[string]any{"upload_id": upload, "frame_start": first, "frame_end": last})
	if refused {
		m.T.Fatalf("svc_quote: %v", answer)
	}
	return answer
}

func cents(answer map[string]any) any { return answer["quote"].(map[string]any)["price_cents"] }

func rangeOf(first, last int) map[string]any {
	return map[string]any{"frame_start": first, "frame_end": last}
}

// limitedCaller is a caller whose agent key may spend so much.
func limitedCaller(svc *story.Service, c story.Caller, cents int64) story.Caller {
	svc.T.Helper()
	svc.Write(func(ctx context.Context, tx *db.Tx) (err error) {
		c.Agent, err = identity.CreateAgentKey(ctx, tx, c.Workspace, identity.AgentTerms{Name: "limited", SpendLimitCents: &cents})
		return err
	})
	return c
}

// TestTenStoriesOfAgents are played one after the other on a service, which is audited at
// the end. Each says what is in the ledger then: you do not pay twice.
func TestTenStoriesOfAgents(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		key := svc.NodeKey() // one for all, so that no job waits for the key of an earlier worker
		for _, scenario := range []struct {
			name   string
			credit int64
			tell   func(t *testing.T, m model, work func(*story.Painter))
			left   int64
			ledger []wallet.Kind
		}{
			{"a cheap look first", story.Credit, lookFirst, story.Credit - 2, paidOnce(1)},
			{"a range first", story.Credit, rangeFirst, story.Credit - 3, paidOnce(2)},
			{"out of money", 1, outOfMoney, 9, []wallet.Kind{wallet.Credited, wallet.Credited, wallet.Reserved, wallet.Captured}},
			{"the limit is reached", story.Credit, limitReached, story.Credit - 1, paidOnce(1)},
			{"a texture is missing", story.Credit, textureMissing, story.Credit - 1, paidOnce(1)},
			{"a frame fails", story.Credit, frameFails, story.Credit - 2, []wallet.Kind{wallet.Credited, wallet.Reserved, wallet.Released, wallet.Reserved, wallet.Captured}},
			{"cancelled", story.Credit, cancelled, story.Credit - 2, []wallet.Kind{wallet.Credited, wallet.Reserved, wallet.Released, wallet.Reserved, wallet.Captured}},
			{"an answer is lost", story.Credit, answerLost, story.Credit - 2, paidOnce(1)},
			{"two agents with one key", story.Credit, twoAgents, story.Credit - 2, paidOnce(1)},
			{"the range changes the price", story.Credit, priceByRange, story.Credit - 3, paidOnce(1)},
		} {
			t.Run(scenario.name, func(t *testing.T) {
				svc := svc.With(t)
				m := newModel(svc, svc.Caller(scenario.credit))
				scenario.tell(t, m, func(p *story.Painter) { svc.Worker(p, svc.WithKey(key, scenario.name)) })
				svc.WantMoney(m.who.Workspace, scenario.left, scenario.ledger...)
			})
		}
	})
}

// paidOnce is the ledger of so many jobs, each of which was paid once.
func paidOnce(jobs int) []wallet.Kind {
	return append([]wallet.Kind{wallet.Credited}, slices.Repeat([]wallet.Kind{wallet.Reserved, wallet.Captured}, jobs)...)
}

func lookFirst(t *testing.T, m model, work func(*story.Painter)) {
	work(&story.Painter{})
	inspected := m.sends(demo.Scene(), rangeOf(1, 2))
	looked, picture, refused := m.CallSeeing("svc_preview", map[string]any{"upload_id": inspected["upload_id"]})
	for looked["next_tool"] == "svc_preview" && !refused {
		looked, picture, refused = m.CallSeeing("svc_preview", looked["next_arguments"])
	}
	if refused || picture == nil {
		t.Fatalf("there is no picture: %v", looked)
	}
	m.svc.WantMoney(m.who.Workspace, story.Credit, wallet.Credited)
	m.renders(looked, 2)
}

func rangeFirst(t *testing.T, m model, work func(*story.Painter)) {
	work(&story.Painter{})
	one := m.sends(demo.Scene(), rangeOf(1, 1))
	if cents(one) != 1.0 {
		t.Errorf("one frame costs %v", cents(one))
	}
	m.renders(one, 1)
	m.renders(m.quotes(one["upload_id"], 2, 3), 2)
}

func outOfMoney(t *testing.T, m model, work func(*story.Painter)) {
	work(&story.Painter{})
	inspected := m.sends(demo.Scene(), rangeOf(1, 2))
	answer, refused := m.starts(inspected)
	m.refusal(answer, refused, "insufficient_funds")
	if answer["next_tool"] != "svc_wallet" { // which leads the person to the credit
		t.Errorf("it is told to continue with %v", answer["next_tool"])
	}
	m.svc.Write(func(ctx context.Context, tx *db.Tx) error {
		return wallet.Credit(ctx, tx, m.who.Workspace, wallet.NewReference(), 10)
	})
	m.renders(inspected, 2) // the price is still locked
}

func limitReached(_ *testing.T, m model, work func(*story.Painter)) {
	work(&story.Painter{})
	m = newModel(m.svc, limitedCaller(m.svc, m.who, 1))
	inspected := m.sends(demo.Scene(), rangeOf(1, 2))
	answer, refused := m.starts(inspected)
	m.refusal(answer, refused, "spend_limit_reached")
	m.renders(m.quotes(inspected["upload_id"], 1, 1), 1)
	answer, refused = m.starts(m.quotes(inspected["upload_id"], 2, 2))
	m.refusal(answer, refused, "spend_limit_reached")
}

func textureMissing(t *testing.T, m model, work func(*story.Painter)) {
	work(&story.Painter{})
	bare, err := os.ReadFile("../../../render/scenefiles/testdata/kinds/main.blend")
	if err != nil {
		t.Fatal(err)
	}
	inspected := m.sends(bare, rangeOf(1, 1))
	text := fmt.Sprint(inspected["warnings"])
	missing, _ := inspected["from_file"].(map[string]any)["missing_files"].([]any)
	if !strings.Contains(text, "missing_files") || len(missing) == 0 || !strings.Contains(text, fmt.Sprint(missing[0])) {
		t.Fatalf("it is not told which texture is missing: %v", inspected)
	}
	// The person packs it, and sends the scene again.
	m.renders(m.sends(demo.Scene(), rangeOf(1, 1)), 1)
}

func frameFails(t *testing.T, m model, work func(*story.Painter)) {
	fails := make(chan struct{}, 1)
	fails <- struct{}{}
	work(&story.Painter{Before: func(_ context.Context, frame int) (err error) {
		if frame == 2 {
			select {
			case <-fails:
				err = &blender.Error{Code: blender.Crashed, Message: "The file cannot be opened.", Final: true}
			default:
			}
		}
		return err
	}})
	inspected := m.sends(demo.Scene(), rangeOf(1, 2))
	job, refused := m.starts(inspected)
	if refused {
		t.Fatalf("svc_start: %v", job)
	}
	failed := m.ends(job, "failed")
	if failed["charged_cents"] != 0.0 || failed["failure"] == nil || failed["suggested_action"] == "" {
		t.Errorf("it failed with %v", failed)
	}
	m.renders(m.sends(demo.Scene(), rangeOf(1, 2)), 2)
}

func cancelled(t *testing.T, m model, work func(*story.Painter)) {
	job, refused := m.starts(m.sends(demo.Scene(), rangeOf(1, 2)))
	if refused || fmt.Sprint(job["cancellable"]) != "true" {
		t.Fatalf("svc_start: %v", job)
	}
	if _, err := m.who.Cancel(story.Patient(t), fmt.Sprint(job["job_id"])); err != nil {
		t.Fatal(err)
	}
	end := m.ends(job, "cancelled")
	if end["next_tool"] != "svc_quote" {
		t.Fatalf("after the end next is %v", end["next_tool"])
	}
	work(&story.Painter{})
	again, refused := m.Call("svc_quote", end["next_arguments"])
	if refused {
		t.Fatalf("svc_quote: %v", again)
	}
	m.renders(again, 2)
}

// loses is a line that loses the answer to the first start.
type loses struct {
	story.Bearer
	once sync.Once
}

func (l *loses) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_ = r.Body.Close()
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	res, err := l.Bearer.RoundTrip(r)
	if err == nil && strings.Contains(string(body), `"svc_start"`) {
		l.once.Do(func() {
			_ = res.Body.Close()
			res, err = nil, errors.New("the connection is cut")
		})
	}
	return res, err
}

func answerLost(t *testing.T, m model, work func(*story.Painter)) {
	work(&story.Painter{})
	line := &loses{Bearer: story.Bearer(m.who.Agent.Secret)}
	dial := func() story.Session {
		return story.Connect(t, &mcp.StreamableClientTransport{Endpoint: m.svc.URL + "/mcp", HTTPClient: &http.Client{Transport: line}, DisableStandaloneSSE: true, MaxRetries: -1})
	}
	inspected := m.sends(demo.Scene(), rangeOf(1, 2))
	with := maps.Clone(inspected["next_arguments"].(map[string]any))
	with["legal_acceptance"] = "SVC_LEGAL_V1"
	if _, err := dial().CallTool(story.Patient(t), &mcp.CallToolParams{Name: "svc_start", Arguments: with}); err == nil {
		t.Fatal("the answer came")
	}
	// What the agent still knows is the upload: it leads to the job that was started.
	m.Session = dial()
	known, refused := m.Call("svc_inspect", map[string]any{"upload_id": inspected["upload_id"]})
	if refused || known["next_tool"] != "svc_status" {
		t.Fatalf("the upload leads to %v", known)
	}
	again, refused := m.Call("svc_start", with)
	if refused {
		t.Fatalf("svc_start: %v", again)
	}
	if end := m.ends(follow(m.Session, known, "svc_inspect"), "completed"); end["job_id"] != again["job_id"] {
		t.Errorf("%v and %v were started", end["job_id"], again["job_id"])
	}
}

func twoAgents(t *testing.T, m model, work func(*story.Painter)) {
	work(&story.Painter{})
	m = newModel(m.svc, limitedCaller(m.svc, m.who, 3))
	inspected := m.sends(demo.Scene(), rangeOf(1, 2))
	second := m.quotes(inspected["upload_id"], 3, 4)
	two := []model{m, newModel(m.svc, m.who)}
	answers, refusals := make([]map[string]any, 6), make([]bool, 6)
	var all sync.WaitGroup
	for i := range answers {
		what := inspected // both start the one, and the other one
		if i%3 == 2 {
			what = second
		}
		all.Go(func() { answers[i], refusals[i] = two[i%2].starts(what) })
	}
	all.Wait()
	jobs := map[any]map[string]any{}
	for i, answer := range answers {
		if refusals[i] {
			m.refusal(answer, true, "spend_limit_reached")
			continue
		}
		jobs[answer["job_id"]] = answer
	}
	if len(jobs) != 1 {
		t.Fatalf("%d jobs were started within a limit for one", len(jobs))
	}
	for _, job := range jobs {
		two[1].ends(job, "completed")
	}
}

func priceByRange(t *testing.T, m model, work func(*story.Painter)) {
	work(&story.Painter{})
	whole := m.sends(demo.Scene(), map[string]any{})
	part := m.quotes(whole["upload_id"], 1, 3)
	if cents(whole) != 24.0 || cents(part) != 3.0 {
		t.Fatalf("the whole costs %v, a part %v", cents(whole), cents(part))
	}
	answer, refused := m.starts(whole, "max_price_cents", 3)
	m.refusal(answer, refused, "price_above_max")
	m.renders(part, 3)
}
