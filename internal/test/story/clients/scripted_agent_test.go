package clients_test

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/worker"
)

// scripted is an agent that knows nothing of svc: it reads the names and schemas
// of the tools, calls what each answer says to call next, and passes texts on to
// the person it works for.
type scripted struct {
	story.Session
	person
	inputs map[string]map[string]any // schema of each tool's arguments
	first  string                    // the tool that says what it does without arguments
	free   string                    // the tool that shows something for free
	calls  []string                  // the tools it has called
	zip    []byte
	end    map[string]any // the last answer
}

// person is the person that the agent works for.
type person interface {
	// file is the file to render, as it is now.
	file() []byte
	// repair changes the file as an answer asks; false = cannot.
	repair(action string) bool
	// sees a picture of a frame, and what may be wrong with it, before the price is asked
	// for.
	sees(picture []byte, warnings []any)
	// agrees to a price, in cents.
	agrees(cents float64) bool
}

func newScripted(s story.Session, p person) *scripted {
	s.T.Helper()
	a := &scripted{Session: s, person: p, inputs: map[string]map[string]any{}}
	var bare []string
	for tool, err := range s.Tools(s.T.Context(), nil) {
		if err != nil {
			s.T.Fatal(err)
		}
		a.inputs[tool.Name], _ = tool.InputSchema.(map[string]any)
		if strings.Contains(tool.Title, "for free") {
			a.free = tool.Name
		}
		if required, _ := a.inputs[tool.Name]["required"].([]any); len(required) == 0 && strings.Contains(tool.Description, "Without arguments") {
			bare = append(bare, tool.Name)
		}
	}
	if a.free == "" {
		s.T.Fatal("no tool shows anything for free")
	}
	if len(bare) != 1 {
		s.T.Fatalf("the tools that say what they do without arguments: %v", bare)
	}
	a.first = bare[0]
	return a
}

// run goes from step to step until there is none, or the person says no.
func (a *scripted) run() {
	a.T.Helper()
	tool, with := a.first, map[string]any{}
	for range 1000 {
		if !a.complete(tool, with) {
			return
		}
		answer, refused := a.Call(tool, with)
		a.calls, a.end = append(a.calls, tool), answer
		if refused {
			e, _ := answer["error"].(map[string]any)
			if fmt.Sprint(e["retryable"]) != "true" && !a.repair(fmt.Sprint(e["suggested_action"])) {
				return
			}
		}
		if link, ok := answer["upload"].(map[string]any); ok {
			put(a.T, fmt.Sprint(link["url"]), a.file()) // what is wrong with it is reported next
		}
		if address, ok := answer["url"].(string); ok {
			a.zip = story.Get(a.T, http.MethodGet, address, nil).Body
		}
		if answer["next_tool"] == nil {
			return
		}
		tool = fmt.Sprint(answer["next_tool"])
		with, _ = answer["next_arguments"].(map[string]any)
		if answer["poll_after_seconds"] != nil {
			a.pause()
		}
	}
	a.T.Fatalf("it goes in a circle: %v", a.calls[len(a.calls)-20:])
}

// pause is far shorter than the agent is told: this is a test.
func (a *scripted) pause() {
	select {
	case <-time.After(20 * time.Millisecond):
	case <-a.T.Context().Done():
		a.T.Fatal("the story is over")
	}
}

// complete fills required arguments that an answer left open, where the schema
// says what they must be: consent is asked for then. false = no consent.
func (a *scripted) complete(tool string, with map[string]any) bool {
	a.T.Helper()
	schema := a.inputs[tool]
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range required {
		if _, given := with[fmt.Sprint(name)]; given {
			continue
		}
		property, _ := properties[fmt.Sprint(name)].(map[string]any)
		only, _ := property["enum"].([]any)
		if len(only) != 1 {
			a.T.Fatalf("%s needs %v and nothing says what it is", tool, name)
		}
		quote, _ := a.end["quote"].(map[string]any)
		cents, _ := quote["price_cents"].(float64)
		a.look(with["upload_id"])
		if !a.agrees(cents) {
			return false
		}
		with[fmt.Sprint(name)] = only[0]
	}
	return true
}

// look shows the person a frame before the price. Where no worker is there, it decides
// without.
func (a *scripted) look(upload any) {
	a.T.Helper()
	with := map[string]any{"upload_id": upload}
	for {
		answer, picture, refused := a.CallSeeing(a.free, with)
		a.calls = append(a.calls, a.free)
		if refused || answer["waiting_reason"] != nil {
			return
		}
		if answer["next_tool"] != a.free {
			warnings, _ := answer["warnings"].([]any)
			a.sees(picture, warnings)
			return
		}
		with, _ = answer["next_arguments"].(map[string]any)
		a.pause()
	}
}

// artist has a .blend and a Blender to repair it with.
type artist struct {
	t       *testing.T
	blender string
	path    string
	budget  float64 // cents
	asked   []string
	seen    [][]byte // pictures
}

func (p *artist) sees(picture []byte, _ []any) { p.seen = append(p.seen, picture) }

func (p *artist) file() []byte {
	p.t.Helper()
	file, err := os.ReadFile(p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	return file
}

func (p *artist) repair(action string) bool {
	p.asked = append(p.asked, action)
	if !strings.Contains(action, "render engine") || !strings.Contains(action, "Cycles") {
		return false
	}
	p.edit("s.render.engine = 'CYCLES'")
	return true
}

func (p *artist) agrees(cents float64) bool { return cents > 0 && cents <= p.budget }

// edit changes the file in Blender.
func (p *artist) edit(code string) {
	p.t.Helper()
	if err := story.Edit(p.blender, p.path, code); err != nil {
		p.t.Fatal(err)
	}
}

// TestAnAgentThatKnowsNothingGoesFromABrokenFileToAVerifiedZIP has a real
// Blender on both sides: one makes the file, for Eevee, and repairs it as the
// service says; the other renders it.
func TestAnAgentThatKnowsNothingGoesFromABrokenFileToAVerifiedZIP(t *testing.T) {
	t.Parallel()
	path := story.RealBlender(t)
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	svc.Worker(worker.Blender{Path: path}, story.OnCPU)
	p := &artist{t: t, blender: path, path: filepath.Join(t.TempDir(), demo.Filename), budget: 2}
	scene, err := story.QuickScene()
	if err == nil {
		err = os.WriteFile(p.path, scene, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.edit("s.render.engine = 'BLENDER_EEVEE'")

	a := newScripted(svc.Connect(c.Agent.Secret), p)
	a.run()
	if len(p.asked) != 1 {
		t.Errorf("the person was asked for %q", p.asked)
	}
	if len(p.seen) != 1 {
		t.Fatalf("the person saw %d pictures", len(p.seen))
	}
	if size, err := jpeg.DecodeConfig(bytes.NewReader(p.seen[0])); err != nil || size.Width != 96 || size.Height != 54 {
		t.Errorf("the person saw %+v, %v", size, err)
	}
	want := []string{"svc_inspect", "svc_inspect", "svc_inspect", "svc_inspect", "svc_preview", "svc_start", "svc_status", "svc_download", "svc_receipt"}
	if got := slices.Compact(slices.Clone(a.calls)); !slices.Equal(got, slices.Compact(want)) {
		t.Errorf("it called %v", a.calls)
	}
	if a.end["charged_cents"] != 2.0 || a.end["render_device"] != "CPU" {
		t.Fatalf("it ended with %v", a.end)
	}
	story.WantPictures(t, a.zip, 2, 96, 54)
	verifyOffline(a.Session, a.end, a.zip)
	svc.SettledOnce(c, 2)
}

// TestAnAgentStopsWhereItMayNotSpend has the same agent meet each bound: its
// person's no, a price above the maximum, the key's limit, an empty wallet.
func TestAnAgentStopsWhereItMayNotSpend(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		rich, poor := svc.Caller(story.Credit), svc.Caller(3)
		var limited identity.NewKey
		svc.Write(func(ctx context.Context, tx *db.Tx) (err error) {
			limit := int64(5)
			limited, err = identity.CreateAgentKey(ctx, tx, rich.Workspace, identity.AgentTerms{Name: "limited", SpendLimitCents: &limit})
			return err
		})
		folder := t.TempDir()
		scene := filepath.Join(folder, demo.Filename) // 24 frames
		if err := os.WriteFile(scene, demo.Scene(), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, scenario := range map[string]struct {
			key    string
			budget float64
			code   string // it is refused with at the end; "" where it never asks
		}{
			"the person says no": {rich.Agent.Secret, 23, ""},
			"above its limit":    {limited.Secret, 100, "spend_limit_reached"},
			"too little money":   {poor.Agent.Secret, 100, "insufficient_funds"},
		} {
			a := newScripted(svc.Connect(scenario.key), &artist{t: t, path: scene, budget: scenario.budget})
			a.run()
			if started := slices.Contains(a.calls, "svc_start"); started != (scenario.code != "") {
				t.Errorf("%s: it called %v", name, a.calls)
			}
			if scenario.code != "" && codeOf(a.end) != scenario.code {
				t.Errorf("%s: it ended with %v", name, a.end)
			}
		}
		// Also not by calls of its own making.
		s := svc.Connect(rich.Agent.Secret)
		q := rich.QuoteFrames(4)
		for name, with := range map[string]map[string]any{
			"without a quote": {"upload_id": q.UploadID}, "above the maximum": {"upload_id": q.UploadID, "quote_id": q.QuoteID, "max_price_cents": 3},
		} {
			with["legal_acceptance"] = "SVC_LEGAL_V1"
			if answer, refused := s.Call("svc_start", with); !refused {
				t.Errorf("%s: it started %v", name, answer)
			}
		}
		svc.WantMoney(rich.Workspace, story.Credit, "credit")
		svc.WantMoney(poor.Workspace, 3, "credit")
	})
}
