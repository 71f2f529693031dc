package clients_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
)

// TestNpmClientsAreLetInByDiscoveryAloneAndRender has clients of others sign in from an empty
// state: the address of the tools leads them to the question, a person answers in a real
// browser, and a token that is over is renewed without them.
func TestNpmClientsAreLetInByDiscoveryAloneAndRender(t *testing.T) {
	t.Parallel()
	for script, what := range map[string]string{"signin.mjs": "the official TypeScript SDK", "signin_ai.mjs": "the AI SDK"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			npmClientSignsIn(t, script)
		})
	}
}

func npmClientSignsIn(t *testing.T, script string) {
	t.Helper()
	program := newHosted(t)
	svc := story.Start(t, app.Config{Listen: story.FreeAddress(t), Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t), Programs: program.guard})
	svc.Worker(&story.Painter{})
	p := svc.Console(svc.Caller(story.Credit))
	folder := scriptFolder(t)

	command := exec.CommandContext(story.Patient(t), pinnedNode(t), script)
	command.Dir, command.Stderr = folder, t.Output()
	command.Env = append(os.Environ(), "SVC_URL="+svc.URL, "SVC_CLIENT="+program.id, "SVC_BACK="+program.back, "SVC_SCENE="+filepath.Join(folder, demo.Filename))
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	said := struct {
		Open     string  `json:"open"`
		Status   string  `json:"status"`
		Charged  float64 `json:"charged_cents"`
		ClientID string  `json:"client_id"`
		Tokens   int     `json:"tokens"` // different ones that it was given
	}{}
	lines, asked := bufio.NewScanner(out), 0
	for lines.Scan() {
		if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if said.Status != "" {
			break
		}
		asked++
		allows(p, said.Open, "“Assistant”, which nobody verifies")
		var q url.Values
		select {
		case q = <-program.answers:
		case <-story.Patient(t).Done():
			t.Fatal("no answer came back")
		}
		if q.Get("state") != "kept" || q.Get("iss") != svc.URL || q.Get("code") == "" {
			t.Fatalf("the answer is %v", q)
		}
		if _, err := fmt.Fprintln(in, q.Encode()); err != nil {
			t.Fatal(err)
		}
	}
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	if asked != 1 || said.Status != "completed" || said.Charged != 1 || said.ClientID != program.id || said.Tokens != 2 {
		t.Errorf("a person was asked %d times; it says %+v", asked, said)
	}
	svc.SettledOnce(p.Caller, 1)
}

// allows answers the question at an address; the page says what of the program.
func allows(p *story.Console, address, what string) {
	p.T.Helper()
	p.Open(strings.TrimPrefix(address, p.Base))
	p.Says("Allow this program to use your workspace?", what)
	p.Run(`document.querySelector("button[value=allow]").click()`)
}

// TestMCPRemoteIsLetInAndBringsTheToolsToALocalAgent: mcp-remote has an agent that only knows
// programs on its own computer use tools elsewhere, and signs in for it: as the program of a
// description, or as one that registers automatically.
func TestMCPRemoteIsLetInAndBringsTheToolsToALocalAgent(t *testing.T) {
	t.Parallel()
	program := newHosted(t)
	t.Run("by a description", func(t *testing.T) {
		t.Parallel()
		mcpRemoteSignsIn(t, app.Config{Programs: program.guard}, "“Assistant”, which nobody verifies", "--client-metadata-url", program.id)
	})
	t.Run("registered", func(t *testing.T) {
		t.Parallel()
		mcpRemoteSignsIn(t, app.Config{Registration: true}, "it registered itself")
	})
}

func mcpRemoteSignsIn(t *testing.T, config app.Config, what string, flags ...string) {
	t.Helper()
	config.Listen, config.Data, config.Database, config.Log = story.FreeAddress(t), t.TempDir(), dbtest.URL(t, "sqlite"), story.LogOf(t)
	svc := story.Start(t, config)
	svc.Worker(&story.Painter{})
	p := svc.Console(svc.Caller(story.Credit))
	folder := scriptFolder(t)
	said, says := io.Pipe()
	command := exec.Command(pinnedNode(t), append([]string{"node_modules/mcp-remote/dist/proxy.js", svc.URL + "/mcp"}, flags...)...)
	command.Dir, command.Stderr, command.SysProcAttr = folder, says, story.DiesWithTheTest()
	command.Env = append(os.Environ(), "HOME="+t.TempDir(), "BROWSER=true")
	asked := make(chan string, 10)
	go func() {
		// It prints the address before it listens for the answer. A person is slower than
		// that; a scripted browser would find no listener there.
		address, listens := "", false
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), svc.URL+"/oauth/authorize?") {
				address = lines.Text()
			}
			listens = listens || strings.Contains(lines.Text(), "OAuth callback server running at")
			if listens && address != "" {
				asked <- address
				address = ""
			}
		}
	}()
	type connected struct {
		*mcp.ClientSession
		err error
	}
	tools := make(chan connected, 1)
	go func() { // it waits for the person
		s, err := mcp.NewClient(&mcp.Implementation{Name: "story", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
		tools <- connected{s, err}
	}()
	allows(p, await.Next(t, asked, "the question"), what)
	s := await.Next(t, tools, "the tools")
	if s.err != nil {
		t.Fatal(s.err)
	}
	t.Cleanup(func() { _ = s.Close() })
	m := model{story.Session{ClientSession: s.ClientSession, T: t}, p.Caller, svc}
	m.renders(m.sends(demo.Scene(), rangeOf(1, 2)), 2)
	if len(asked) > 0 {
		t.Error("it asked again")
	}
	svc.SettledOnce(p.Caller, 2)
}
