package mcpbridge

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/apptest"
)

// strict is a service that lets each client make two requests at once.
var strict = apptest.Share(func(c *app.Config) { c.Rate = ratelimit.Policy{PerMinute: 120, Burst: 2} })

func TestMain(m *testing.M) { os.Exit(apptest.Run(m, strict)) }

// connectAgent connects a local agent through the bridge to the strict service, in a workspace
// with 10 cents. told, which may be nil, gets notifications of progress.
func connectAgent(t *testing.T, told func(*mcp.ProgressNotificationParams)) *mcp.ClientSession {
	t.Helper()
	service := strict.On(t, "sqlite")
	key := service.Workspace(t, 10).Agent.Secret
	b := newBridge(service.URL, always(key))
	var err error
	if b.api, err = client.New(service.URL, key); err != nil {
		t.Fatal(err)
	}
	server, err := b.local(t.Context())
	if err != nil {
		t.Fatalf("the bridge does not wait while it connects: %v", err)
	}
	t.Cleanup(func() { _ = b.session.Close() })
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	options := &mcp.ClientOptions{}
	if told != nil {
		options.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told(r.Params) }
	}
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close() })
	return agent
}

// answered is the part of a tool's result that these tests read.
type answered struct {
	Status   string `json:"status"`
	UploadID string `json:"upload_id"`
	JobID    string `json:"job_id"`
	Quote    struct {
		QuoteID string `json:"quote_id"`
	} `json:"quote"`
	Warnings []struct {
		Code string `json:"code"`
	} `json:"warnings"`
	Error struct {
		Code string `json:"code"`
	} `json:"error"`
}

func call(t *testing.T, agent *mcp.ClientSession, tool string, arguments map[string]any) (answer answered) {
	t.Helper()
	r, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestBridgeHidesTheRateLimitFromTheAgent calls faster than the service allows, and
// sends a file in between.
func TestBridgeHidesTheRateLimitFromTheAgent(t *testing.T) {
	t.Parallel()
	agent := connectAgent(t, nil)
	for range 5 {
		if a := call(t, agent, "svc_status", map[string]any{"job_id": "JOB-00000000000000000000000000000000"}); a.Error.Code != "render_not_found" {
			t.Fatalf("a call is answered with %+v", a)
		}
	}
	path := filepath.Join(t.TempDir(), demo.Filename)
	if err := os.WriteFile(path, demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	a := call(t, agent, "svc_inspect", map[string]any{"file_path": path})
	for a.Status == "fetching" {
		a = call(t, agent, "svc_inspect", map[string]any{"upload_id": a.UploadID})
	}
	if a.Status != "inspected" {
		t.Errorf("the file is %+v", a)
	}
}

// TestAnAgentIsToldTheProgressByItsOwnToken, although the bridge asks the service by another.
func TestAnAgentIsToldTheProgressByItsOwnToken(t *testing.T) {
	t.Parallel()
	told := make(chan *mcp.ProgressNotificationParams, 100)
	agent := connectAgent(t, func(p *mcp.ProgressNotificationParams) { told <- p })
	path := filepath.Join(t.TempDir(), demo.Filename)
	if err := os.WriteFile(path, demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	a := call(t, agent, "svc_inspect", map[string]any{"file_path": path})
	for a.Status == "fetching" {
		a = call(t, agent, "svc_inspect", map[string]any{"upload_id": a.UploadID})
	}
	a = call(t, agent, "svc_quote", map[string]any{"upload_id": a.UploadID, "frames": "1-2"})
	a = call(t, agent, "svc_start", map[string]any{"upload_id": a.UploadID, "quote_id": a.Quote.QuoteID, "legal_acceptance": "SVC_LEGAL_V1"})
	params := &mcp.CallToolParams{Name: "svc_status", Arguments: map[string]any{"job_id": a.JobID, "wait_seconds": 1}}
	params.SetProgressToken("the agent's")
	if r, err := agent.CallTool(t.Context(), params); err != nil || r.IsError {
		t.Fatalf("%v %v", r, err)
	}
	if p := <-told; p.ProgressToken != "the agent's" || p.Total != 100 || p.Progress != 0 || !strings.Contains(p.Message, "queued: 0 of 2 frames done") {
		t.Errorf("it is told %+v", p)
	}
}

func TestNoRefusalTellsASignedLink(t *testing.T) {
	t.Parallel()
	const signature = "5ebe2294ecd0e0f08eab7690d2a6ee69"
	b := newBridge("http://127.0.0.1:1", always(""))
	for _, link := range []string{"http://127.0.0.1:1/x", "http://127.0.0.1/%zz", "ftp://127.0.0.1/x"} {
		link += "?expires=1768485600&signature=" + signature
		file, err := os.Open("mcp_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{b.send(t.Context(), link, "scene.blend", file, 1), b.fetch(t.Context(), link, io.Discard, "")} {
			if err == nil {
				t.Error("it does not fail")
			} else if said := localRefusal(err).Error(); strings.Contains(said, signature) {
				t.Error(said)
			}
		}
	}
}

// TestAgentSendsASceneWithItsFiles sends files of a scene, and no others.
func TestAgentSendsASceneWithItsFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../../internal/render/scenefiles/testdata/kinds")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("private"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "main.blend")
	agent := connectAgent(t, nil)
	a := call(t, agent, "svc_inspect", map[string]any{"file_path": path})
	for a.Status == "fetching" {
		a = call(t, agent, "svc_inspect", map[string]any{"file_path": path})
	}
	if a.Status != "inspected" || a.UploadID == "" {
		t.Fatalf("the scene is %+v", a)
	}
	for _, w := range a.Warnings {
		if w.Code == "missing_cache" {
			t.Errorf("%+v", w) // its folder lies next to it
		}
	}
	if err := os.Rename(filepath.Join(folder, "tex"), filepath.Join(folder, ".tex")); err != nil {
		t.Fatal(err)
	}
	disk, paths, err := (&bridge{}).files(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = disk.Close() }()
	if !slices.Contains(paths, "lamp.ies") || slices.Contains(paths, "notes.txt") || strings.Contains(strings.Join(paths, "\n"), ".tex/") {
		t.Errorf("these files are sent: %q", paths)
	}
}

// always is the source of one key.
func always(key string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return key, nil }
}
