package agent_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/app"
	"svc.example/internal/door/agent"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/wallet"
)

var writeGolden = flag.Bool("write-golden", false, "write testdata/*.golden")

// credit is what a caller's wallet begins with, in cents.
const credit = 100

// service is one workspace in a running service.
type service struct {
	t         *testing.T
	app       *app.App
	stop      func() // ends serving and waits for it; once; nil where the service is shared
	base      string
	workspace string
	agent     string // secret of a key without spend limit
	account   string
}

// rendering gives a service a worker that paints.
func rendering(c *app.Config) {
	c.AllowSynthetic = true
	c.Embedded = &app.EmbeddedWorker{Renderer: synthetic.Renderer{}}
}

// The services that tests share: in some a worker renders, in the others there is
// none.
var (
	idleWorlds      = apptest.Share(nil)
	renderingWorlds = apptest.Share(rendering)
)

func TestMain(m *testing.M) { os.Exit(apptest.Run(m, idleWorlds, renderingWorlds)) }

// each runs test in a new workspace on each engine, where no job is rendered.
func each(t *testing.T, test func(t *testing.T, svc *service)) {
	t.Parallel()
	idleWorlds.Each(t, func(t *testing.T, w *apptest.World) { test(t, join(t, w)) })
}

// eachRendering is each where jobs are rendered.
func eachRendering(t *testing.T, test func(t *testing.T, svc *service)) {
	t.Parallel()
	renderingWorlds.Each(t, func(t *testing.T, w *apptest.World) { test(t, join(t, w)) })
}

// one is a new workspace where no job is rendered and the engine makes no difference.
func one(t *testing.T) *service {
	t.Helper()
	return join(t, idleWorlds.On(t, "sqlite"))
}

// join makes a workspace in a running service.
func join(t *testing.T, w *apptest.World) *service {
	t.Helper()
	made := w.Workspace(t, credit)
	return &service{t: t, app: w.App, base: w.URL, workspace: made.ID, agent: made.Agent.Secret, account: made.Account.Secret}
}

// start runs a service of the test's own, until the test ends, and then audits the
// store.
func start(t *testing.T, url string, with ...func(*app.Config)) *service {
	t.Helper()
	svc := &service{t: t}
	cfg := app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: url, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, set := range with {
		set(&cfg)
	}
	var err error
	if svc.app, err = app.Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		svc.stop()
		apptest.Audit(t, svc.app)
		if err := svc.app.Close(); err != nil {
			t.Error(err)
		}
	})
	svc.serve()
	made := join(t, &apptest.World{App: svc.app, URL: svc.base})
	svc.workspace, svc.agent, svc.account = made.workspace, made.agent, made.account
	return svc
}

// serve serves until stop.
func (svc *service) serve() {
	svc.t.Helper()
	svc.base, svc.stop = apptest.Serve(svc.t, svc.app)
}

func (svc *service) write(do func(ctx context.Context, tx *db.Tx) error) {
	svc.t.Helper()
	ctx := context.Background()
	if err := svc.app.DB.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		svc.t.Fatal(err)
	}
}

// key makes an agent key of the workspace; nil is no spend limit.
func (svc *service) key(limit *int64) string {
	svc.t.Helper()
	var key identity.NewKey
	svc.write(func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = identity.CreateAgentKey(ctx, tx, svc.workspace, identity.AgentTerms{Name: "agent", SpendLimitCents: limit})
		return err
	})
	return key.Secret
}

// balance is what the workspace's wallet has.
func (svc *service) balance() (b wallet.Balance) {
	svc.t.Helper()
	svc.write(func(ctx context.Context, tx *db.Tx) (err error) {
		b, err = wallet.Get(ctx, tx, svc.workspace)
		return err
	})
	return b
}

// upload puts a .blend into the workspace.
func (svc *service) upload(filename string, file []byte) intake.Inspection {
	svc.t.Helper()
	in := &intake.Intake{DB: svc.app.DB, Blobs: svc.app.Blobs, Envelope: svc.app.Config.Envelope}
	r, err := in.Receive(svc.t.Context(), svc.workspace, intake.File{Name: filename, Body: bytes.NewReader(file)})
	if err != nil {
		svc.t.Fatal(err)
	}
	i, err := r.Quote(svc.t.Context(), quote.RequestedFrames{}, nil)
	if err != nil {
		svc.t.Fatal(err)
	}
	return i
}

// scene is an upload of the demo scene.
func (svc *service) scene() intake.Inspection { return svc.upload(demo.Filename, demo.Scene()) }

// get fetches an address.
func (svc *service) get(address string) []byte {
	svc.t.Helper()
	res, err := http.Get(address)
	if err != nil {
		svc.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		svc.t.Fatalf("%s: %d, %v", address, res.StatusCode, err)
	}
	return body
}

// client is a session of the SDK's own client.
type client struct {
	*mcp.ClientSession
	t       *testing.T
	outputs map[string]*jsonschema.Resolved
}

// bearer adds a key to every request.
type bearer struct{ key string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return http.DefaultTransport.RoundTrip(r)
}

func (svc *service) client(key string) *client {
	svc.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(svc.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: svc.base + "/mcp", HTTPClient: &http.Client{Transport: bearer{key}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		svc.t.Fatal(err)
	}
	svc.t.Cleanup(func() { _ = session.Close() })
	return newClient(svc.t, session)
}

func newClient(t *testing.T, session *mcp.ClientSession) *client {
	t.Helper()
	c := &client{session, t, map[string]*jsonschema.Resolved{}}
	for name, schema := range agent.AnswerSchemas() {
		var err error
		if c.outputs[name], err = schema.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// answer is what a tool said.
type answer struct {
	t       *testing.T
	refused bool
	object  map[string]any
	text    string
	picture []byte // an image of its content
}

// call calls a tool and holds its answer to all that holds of it (AnswerSchemas).
func (c *client) call(tool string, arguments any) answer {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	a := answer{t: c.t, refused: r.IsError}
	a.object, _ = r.StructuredContent.(map[string]any)
	for _, content := range r.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			a.text += text.Text
		}
		if image, ok := content.(*mcp.ImageContent); ok && image.MIMEType == "image/jpeg" {
			a.picture = image.Data
		}
	}
	if schema := c.outputs[tool]; schema != nil {
		if err := schema.Validate(a.object); err != nil {
			c.t.Errorf("%s answers what its schema does not allow: %v\n%v", tool, err, a.object)
		}
	}
	if a.object["ok"] == a.refused {
		c.t.Errorf("%s: ok is %v, an error %v", tool, a.object["ok"], a.refused)
	}
	if len(a.text) > 4000 {
		c.t.Errorf("%s answers with %d characters of text", tool, len(a.text))
	}
	return a
}

// at reads a member by its path, such as "quote.quote_id".
func (a answer) at(path string) any {
	a.t.Helper()
	var v any = a.object
	for _, name := range strings.Split(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			a.t.Fatalf("no %s in %v", path, a.object)
		}
		v = object[name]
	}
	return v
}

func (a answer) want(path string, want any) {
	a.t.Helper()
	if got := a.at(path); fmt.Sprint(got) != fmt.Sprint(want) {
		a.t.Errorf("%s is %v, want %v, in %v", path, got, want, a.object)
	}
}

// wantRefusal checks that a tool refused with a code.
func (a answer) wantRefusal(code string) {
	a.t.Helper()
	if !a.refused {
		a.t.Fatalf("answered %v, want %s", a.object, code)
	}
	a.want("error.code", code)
	if a.at("error.suggested_action") == "" || a.at("error.request_id") == "" {
		a.t.Errorf("it does not say what to do, or of which request: %v", a.object)
	}
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *writeGolden {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s is not what it was; if that is meant: go test -run '^%s$' -write-golden\n%s", path, t.Name(), text)
	}
}

var changing = regexp.MustCompile(`\b(UPL|QTE|JOB|RCT|req|WSP)[-_][0-9a-f]{32}|\b[0-9a-f]{64}\b|\d{4}-\d\d-\d\dT[0-9:.]+Z|http://127\.0\.0\.1:\d+|expires=\d+|\b\d+\.\d s\b|\d+ bytes`)

// steady replaces what is another one in each run.
func steady(text string) string {
	return changing.ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case strings.HasPrefix(found, "http"):
			return "https://svc.example.com"
		case strings.HasPrefix(found, "expires="):
			return "expires=TIME"
		case strings.HasSuffix(found, " s"):
			return "N s"
		case strings.HasSuffix(found, " bytes"):
			return "N bytes"
		case strings.Contains(found, "T") && strings.HasSuffix(found, "Z"):
			return "TIME"
		case len(found) == 64:
			return "SHA256"
		}
		return found[:4] + "…"
	})
}
