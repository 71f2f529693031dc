package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
)

// shared are the services that tests share. They have no worker, and every test has
// workspaces of its own there.
var shared = apptest.Share(nil)

func TestMain(m *testing.M) { os.Exit(apptest.Run(m, shared)) }

// service is a running service without a worker, and one workspace's keys.
type service struct {
	t        *testing.T
	base     string
	owner    string // the address of the workspace's person
	other    string // that of another workspace's
	agent    string
	stranger string // another workspace's agent key
	account  string
	upload   string // an inspected upload
	quote    string
	app      *app.App
}

// each runs test in a new workspace of the shared services, with an upload inspected.
func each(t *testing.T, test func(t *testing.T, s *service)) {
	shared.Each(t, func(t *testing.T, w *apptest.World) {
		s := join(t, w)
		s.inspect()
		test(t, s)
	})
}

// eachAlone is each for tests that look at the queue, or work it off: no other test
// has jobs in their service.
func eachAlone(t *testing.T, test func(t *testing.T, s *service)) {
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url)
		s.inspect()
		test(t, s)
	})
}

func (s *service) inspect() {
	s.t.Helper()
	inspected := s.post("/node/v1/uploads/inspect", s.form(nil, "scene.blend", demo.Scene()))
	s.upload, s.quote = inspected.text("upload_id"), inspected.text("quote_id")
}

// start runs a service of the test's own.
func start(t *testing.T, url string, with ...func(*app.Config)) *service {
	t.Helper()
	cfg := app.Config{Data: t.TempDir(), Database: url}
	for _, set := range with {
		set(&cfg)
	}
	running, base := apptest.Start(t, cfg)
	return join(t, &apptest.World{App: running, URL: base})
}

// join makes two workspaces in a running service.
func join(t *testing.T, w *apptest.World) *service {
	t.Helper()
	owner, other := w.Workspace(t, 100), w.Workspace(t, 0)
	return &service{
		t: t, app: w.App, base: w.URL, owner: owner.Email, other: other.Email,
		agent: owner.Agent.Secret, account: owner.Account.Secret, stranger: other.Agent.Secret,
	}
}

// somebody is the address of a person that the service does not know yet.
func somebody() string { return id.New("person-") + "@example.com" }

// serve runs a process of cfg's service until the test ends.
func serve(t *testing.T, cfg app.Config) *service {
	t.Helper()
	started, url := apptest.Start(t, cfg)
	return &service{t: t, app: started, base: url}
}

// answer is a response with its body decoded.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   map[string]any
}

func (a answer) text(name string) string {
	a.t.Helper()
	s, ok := a.body[name].(string)
	if !ok {
		a.t.Fatalf("%d: no text %q in %v", a.status, name, a.body)
	}
	return s
}

func (a answer) code() fault.Code {
	e, _ := a.body["error"].(map[string]any)
	code, _ := e["code"].(string)
	return fault.Code(code)
}

type body struct {
	kind string
	data []byte
}

func jsonBody(text string) body { return body{"application/json", []byte(text)} }

func (s *service) form(fields map[string]string, filename string, file []byte) body {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range fields {
		_ = w.WriteField(name, value)
	}
	if file != nil {
		part, err := w.CreateFormFile("file", filename)
		if err != nil {
			s.t.Fatal(err)
		}
		_, _ = part.Write(file)
	}
	_ = w.Close()
	return body{w.FormDataContentType(), b.Bytes()}
}

func (s *service) post(path string, b body) answer { return s.call("POST", path, s.agent, b) }

func (s *service) call(method, path, key string, b body) answer {
	s.t.Helper()
	return s.callWith(method, path, key, nil, b)
}

// callWith is call with more headers.
func (s *service) callWith(method, path, key string, header map[string]string, b body) answer {
	s.t.Helper()
	res, text := s.send(method, path, key, header, bytes.NewReader(b.data), b.kind)
	a := answer{t: s.t, status: res.StatusCode, header: res.Header}
	if err := json.Unmarshal(text, &a.body); err != nil {
		s.t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	if ok := a.status < 300; a.body["ok"] != ok {
		s.t.Errorf("%s %s: %d with ok %v", method, path, a.status, a.body["ok"])
	}
	return a
}

// send makes a request and reads its whole answer.
func (s *service) send(method, path, key string, header map[string]string, content io.Reader, kind string) (*http.Response, []byte) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base+strings.TrimPrefix(path, s.base), content)
	if err != nil {
		s.t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	conforms(s.t, r, res, text)
	return res, text
}

func TestBadRequestsMeetTheirCode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		upload := "/node/v1/uploads/" + s.upload
		blend := demo.Scene()
		for name, c := range map[string]struct {
			path   string
			body   body
			status int
			code   fault.Code
		}{
			"start without terms":      {upload + "/start", jsonBody(`{"quote_id":"` + s.quote + `"}`), 400, fault.LegalRequired},
			"start with other terms":   {upload + "/start", jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"YES"}`), 400, fault.LegalRequired},
			"start with a price":       {upload + "/start", jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1","price_cents":1}`), 400, fault.PriceNotAccepted},
			"start in capitals":        {upload + "/start", jsonBody(`{"QUOTE_ID":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1"}`), 400, fault.InvalidRequest},
			"start priced in capitals": {upload + "/start", s.startWith(`"Price_Cents":1`), 400, fault.InvalidRequest},
			"quote with an exponent":   {upload + "/quote", jsonBody(`{"frame_start":1,"frame_end":1e3}`), 400, fault.InvalidRequest},
			"start with more":          {upload + "/start", jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1","more":1}`), 400, fault.InvalidRequest},
			"start without a quote":    {upload + "/start", jsonBody(`{"legal_acceptance":"SVC_LEGAL_V1"}`), 400, fault.InvalidRequest},
			"start told in the open":   {upload + "/start", s.startWith(`"webhook_url":"http://8.8.8.8/"`), 400, fault.InvalidWebhookURL},
			"start told at home":       {upload + "/start", s.startWith(`"webhook_url":"https://127.0.0.1/"`), 400, fault.InvalidWebhookURL},
			"start told nowhere":       {upload + "/start", s.startWith(`"webhook_url":"nowhere"`), 400, fault.InvalidWebhookURL},
			"start told far away":      {upload + "/start", s.startWith(`"webhook_url":"https://8.8.8.8/` + strings.Repeat("x", 2048) + `"`), 400, fault.InvalidWebhookURL},
			"start with 15 letters":    {upload + "/start", s.startWith(`"webhook_url":"https://8.8.8.8/","webhook_secret":"123456789012345"`), 400, fault.WebhookSecretShort},
			"start with no base64":     {upload + "/start", s.startWith(`"webhook_url":"https://8.8.8.8/","webhook_secret":"whsec_123456789!"`), 400, fault.InvalidRequest},
			"start with a lone secret": {upload + "/start", s.startWith(`"webhook_secret":"1234567890123456"`), 400, fault.InvalidRequest},
			"start with broken JSON":   {upload + "/start", jsonBody(`{"quote_id":`), 400, fault.InvalidRequest},
			"start with a form":        {upload + "/start", s.form(map[string]string{"quote_id": s.quote}, "", nil), 415, fault.UnsupportedMedia},
			"start another quote":      {upload + "/start", jsonBody(`{"quote_id":"QTE-0","legal_acceptance":"SVC_LEGAL_V1"}`), 404, fault.QuoteNotFound},
			"start another upload":     {"/node/v1/uploads/UPL-0/start", jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1"}`), 404, fault.UploadNotFound},
			"a body beyond 1 MiB":      {upload + "/start", jsonBody(`{"quote_id":"` + strings.Repeat("x", 1<<20) + `"}`), 413, fault.BodyTooLarge},
			"quote frame 0":            {upload + "/quote", jsonBody(`{"frame_start":0,"frame_end":2}`), 400, fault.InvalidFrameRange},
			"quote backwards":          {upload + "/quote", jsonBody(`{"frame_start":3,"frame_end":2}`), 400, fault.InvalidFrameRange},
			"quote too much":           {upload + "/quote", jsonBody(`{"frame_start":1,"frame_end":10001}`), 400, fault.FrameRangeTooLarge},
			"quote frames twice":       {upload + "/quote", jsonBody(`{"frame_start":1,"frames":"2-9"}`), 400, fault.InvalidRequest},
			"quote no frames":          {upload + "/quote", jsonBody(`{"frames":""}`), 400, fault.InvalidFrameRange},
			"quote frames below 1":     {upload + "/quote", jsonBody(`{"frames":[0,1]}`), 400, fault.InvalidFrameRange},
			"quote too many frames":    {upload + "/quote", jsonBody(`{"frames":"1-20000"}`), 400, fault.FrameRangeTooLarge},
			"inspect frames twice":     {"/node/v1/uploads/inspect", s.form(map[string]string{"frame_end": "2", "frames": "1"}, "a.blend", blend), 400, fault.InvalidRequest},
			"inspect bad frames":       {"/node/v1/uploads/inspect", s.form(map[string]string{"frames": "80x5"}, "a.blend", blend), 400, fault.InvalidFrameRange},
			"quote without an end":     {upload + "/quote", jsonBody(`{"frame_start":1}`), 400, fault.InvalidRequest},
			"inspect JSON":             {"/node/v1/uploads/inspect", jsonBody(`{}`), 415, fault.UnsupportedMedia},
			"inspect nothing":          {"/node/v1/uploads/inspect", s.form(nil, "", nil), 400, fault.InvalidRequest},
			"inspect text":             {"/node/v1/uploads/inspect", s.form(nil, "a.blend", []byte("hello")), 400, fault.UnsupportedFile},
			"inspect another name":     {"/node/v1/uploads/inspect", s.form(nil, "a.png", blend), 400, fault.UnsupportedFile},
			"inspect a cut file":       {"/node/v1/uploads/inspect", s.form(nil, "a.blend", blend[:len(blend)/2]), 400, fault.FileDamaged},
			"inspect with words":       {"/node/v1/uploads/inspect", s.form(map[string]string{"frame_start": "one"}, "a.blend", blend), 400, fault.InvalidRequest},
			"inspect from frame 0":     {"/node/v1/uploads/inspect", s.form(map[string]string{"frame_start": "0"}, "a.blend", blend), 400, fault.InvalidFrameRange},
			"inspect beyond 10000":     {"/node/v1/uploads/inspect", s.form(map[string]string{"frame_end": "20000"}, "a.blend", blend), 400, fault.FrameRangeTooLarge},
			"cancel what is not there": {"/node/v1/jobs/JOB-0/cancel", body{}, 404, fault.RenderNotFound},
		} {
			a := s.post(c.path, c.body)
			if a.status != c.status || a.code() != c.code {
				t.Errorf("%s: %d %s, want %d %s (%v)", name, a.status, a.code(), c.status, c.code, a.body)
			}
			if text := fmt.Sprint(a.body); strings.Contains(text, "json:") || strings.Contains(text, "Go ") {
				t.Errorf("%s: it reveals how it is made: %s", name, text)
			}
			if id, _ := a.body["error"].(map[string]any)["request_id"].(string); id == "" || id != a.header.Get("X-Request-Id") {
				t.Errorf("%s: request id %q", name, id)
			}
		}
	})
}

// startWith is the body of a start with more members.
func (s *service) startWith(more string) body {
	return jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1",` + more + `}`)
}

func TestCredentialsAndWorkspacesAreKeptApart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		terms := jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1"}`)
		job := s.post("/node/v1/uploads/"+s.upload+"/start", terms).text("job_id")
		for _, route := range []struct {
			method, path string
			body         body
			missing      fault.Code
		}{
			{"POST", "/node/v1/uploads/" + s.upload + "/start", terms, fault.UploadNotFound},
			{"POST", "/node/v1/uploads/" + s.upload + "/quote", jsonBody(`{"frame_start":1,"frame_end":1}`), fault.UploadNotFound},
			{"GET", "/node/v1/jobs/" + job, body{}, fault.RenderNotFound},
			{"POST", "/node/v1/jobs/" + job + "/cancel", body{}, fault.RenderNotFound},
			{"GET", "/node/v1/jobs/" + job + "/events", body{}, fault.RenderNotFound},
			{"GET", "/node/v1/jobs/" + job + "/download", body{}, fault.RenderNotFound},
			{"GET", "/node/v1/jobs/" + job + "/receipt", body{}, fault.RenderNotFound},
			{"GET", "/node/v1/jobs/" + job + "/proof", body{}, fault.RenderNotFound},
		} {
			for who, key := range map[string]string{"nobody": "", "an account key": s.account, "a wrong key": s.agent + "x", "an unknown key": strings.Repeat("x", len(s.agent))} {
				a := s.call(route.method, route.path, key, route.body)
				// Programs renew a token that is said to be invalid, and ask a person otherwise.
				challenge := a.header.Get("WWW-Authenticate")
				if a.status != 401 || a.code() != fault.Unauthenticated || (challenge == "Bearer") != (key == "") || strings.HasPrefix(challenge, `Bearer error="invalid_token"`) != (key != "") {
					t.Errorf("%s %s by %s: %d %s, %s", route.method, route.path, who, a.status, a.code(), challenge)
				}
			}
			if a := s.call(route.method, route.path, s.stranger, route.body); a.status != 404 || a.code() != route.missing {
				t.Errorf("%s %s by another workspace: %d %s", route.method, route.path, a.status, a.code())
			}
		}
	})
}

func TestACredentialIsCheckedBeforeTheBody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		a := s.call("POST", "/node/v1/uploads/"+s.upload+"/start", "", jsonBody(`not json at all`))
		if a.status != 401 {
			t.Fatalf("got %d %s", a.status, a.code())
		}
	})
}

// TestPreviewsAreCounted: a preview costs more than most requests.
func TestPreviewsAreCounted(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.Rate = ratelimit.Policy{PerMinute: 1, Burst: 3} })
		for i := range 4 {
			a := s.call("GET", "/v1/renders/JOB-0/frames/1/preview", s.account, body{})
			if want := map[bool]int{true: 404, false: 429}[i < 3]; a.status != want {
				t.Errorf("preview %d: %d, want %d", i, a.status, want)
			}
		}
	})
}

func TestQuoteStandsAtBothPlaces(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		a := s.post("/node/v1/uploads/"+s.upload+"/quote", jsonBody(`{"frame_start":2,"frame_end":9,"frame_step":3}`))
		inner, _ := a.body["quote"].(map[string]any)
		for _, name := range []string{"quote_id", "upload_id", "status", "frame_start", "frame_end", "frame_step", "frame_count", "price_cents",
			"currency", "pricing_version", "qualified_1c", "created_at", "expires_at", "input_sha256", "input_size_bytes", "filename"} {
			if a.body[name] == nil || a.body[name] != inner[name] {
				t.Errorf("%s: %v and %v", name, a.body[name], inner[name])
			}
		}
		if a.body["frame_count"] != 3.0 || a.body["price_cents"] != 3.0 || a.body["frame_end"] != 8.0 || a.body["maximum_frame_seconds"] != 7200.0 || !strings.HasPrefix(a.text("quote_id"), "QTE-") {
			t.Errorf("got %v", a.body)
		}
	})
}

func TestFramesAreChosenByOneGrammarEverywhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		quoteOf := "/node/v1/uploads/" + s.upload + "/quote"
		for _, c := range []struct {
			name string
			got  answer
			list string
			many float64
		}{
			{"a list with a gap", s.post(quoteOf, jsonBody(`{"frames":"1-3,10-20x5"}`)), "1-3,10-20:5", 6},
			{"numbers in any order, one twice", s.post(quoteOf, jsonBody(`{"frames":[5,3,1,3]}`)), "1-5:2", 3},
			{"as people paste it", s.post(quoteOf, jsonBody(`{"frames":" 1 – 3, 9..11, "}`)), "1-3,9-11", 6},
			{"at inspect", s.post("/node/v1/uploads/inspect", s.form(map[string]string{"frames": "2,4-6"}, "b.blend", demo.Scene())), "2,4-6", 4},
		} {
			if c.got.status != 200 || c.got.text("frame_list") != c.list || c.got.body["frame_count"] != c.many || c.got.body["price_cents"] != c.many {
				t.Errorf("%s: %d %v", c.name, c.got.status, c.got.body)
			}
		}
	})
}

func TestAClientBeyondItsRateIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		slow := func(c *app.Config) { c.Rate = ratelimit.Policy{PerMinute: 1, Burst: 6} }
		s := start(t, url, slow)
		for i := range 8 {
			a := s.call("GET", "/v1/workspace/renders", s.account, body{})
			if want := i < 6; want != (a.status == 200) {
				t.Errorf("request %d: %d", i, a.status)
			}
			if a.status == 429 && (a.code() != fault.RateLimited || a.header.Get("Retry-After") == "" || !strings.HasPrefix(a.header.Get("RateLimit"), `"api";r=0;t=3`)) {
				t.Errorf("request %d: %v %v", i, a.body, a.header)
			}
		}
		if a := s.call("GET", "/v1/limits", "", body{}); a.status != 200 ||
			a.body["rate_limit"].(map[string]any)["burst"] != 6.0 || a.body["rate_limit"].(map[string]any)["requests_per_minute_per_client"] != 1.0 {
			t.Errorf("another client: %d %v", a.status, a.body)
		}
	})
}
