package agent_test

import (
	"bytes"
	"encoding/json"
	"image/jpeg"
	"strings"
	"testing"
	"time"

	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

func TestWhatAgentsAreToldIsWhatItWas(t *testing.T) {
	t.Parallel()
	svc := one(t)
	c := svc.client(svc.agent)
	listed, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(map[string]any{"instructions": c.InitializeResult().Instructions, "tools": listed.Tools}); err != nil {
		t.Fatal(err)
	}
	golden(t, "tools", text.String())
	compact, err := json.Marshal(listed.Tools)
	if err != nil {
		t.Fatal(err)
	}
	// A model pays for the list in each conversation: 7,000 tokens are what it may cost. The
	// o200k encoding has 4.2 bytes of this list in a token.
	if most := 7000 * 42 / 10; len(compact) > most {
		t.Errorf("the list of tools has %d bytes, more than %d", len(compact), most)
	}
}

// TestNoToolTakesACredential reads every argument of every tool: keys come from
// the environment (spec 4.5). It also holds the schemas to being strict, and
// the annotations to being true.
func TestNoToolTakesACredential(t *testing.T) {
	t.Parallel()
	svc := one(t)
	c := svc.client(svc.agent)
	var names []string
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		input, _ := tool.InputSchema.(map[string]any)
		if extra, strict := input["additionalProperties"].(bool); !strict || extra {
			t.Errorf("%s takes arguments that it does not name", tool.Name)
		}
		for name := range input["properties"].(map[string]any) {
			for _, word := range []string{"key", "secret", "token", "password", "authorization"} {
				if strings.Contains(name, word) {
					t.Errorf("%s takes %s", tool.Name, name)
				}
			}
		}
		spends := tool.Annotations.DestructiveHint != nil && *tool.Annotations.DestructiveHint
		if spends != (tool.Name == "svc_start") {
			t.Errorf("%s says of spending: %v", tool.Name, spends)
		}
	}
	if got := strings.Join(names, " "); got != "svc_cancel svc_download svc_inspect svc_jobs svc_preview svc_quote svc_receipt svc_start svc_status svc_wallet" {
		t.Errorf("the tools are %s", got)
	}
}

// tellAll runs a whole job and returns the answers on the way.
func (c *client) tellAll(upload string) []answer {
	c.t.Helper()
	all := []answer{c.call("svc_inspect", map[string]any{"upload_id": upload})}
	all = append(all, c.call("svc_quote", map[string]any{"upload_id": upload, "frame_start": 2, "frame_end": 4, "frame_step": 2}))
	quoted := all[1]
	all = append(all, c.call("svc_start", map[string]any{
		"upload_id": upload, "quote_id": quoted.at("quote.quote_id"), "legal_acceptance": "SVC_LEGAL_V1", "max_price_cents": 2,
	}))
	job := map[string]any{"job_id": all[2].at("job_id")}
	all = append(all, c.await(job), c.call("svc_download", job), c.call("svc_receipt", job))
	return all
}

// await asks for a job until it is completed, far sooner than asked to.
func (c *client) await(job map[string]any) answer {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		a := c.call("svc_status", job)
		switch a.at("status") {
		case "completed":
			return a
		case "failed", "cancelled":
			c.t.Fatalf("the job ended with %v", a.object)
		}
		if a.at("poll_after_seconds") == nil || a.at("next_tool") != "svc_status" {
			c.t.Fatalf("a job that has not ended does not say when to ask again: %v", a.object)
		}
		select {
		case <-tick.C:
		case <-c.t.Context().Done():
			c.t.Fatal("the job never ended")
		}
	}
}

func TestAWholeJobGoesByTools(t *testing.T) {
	eachRendering(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		all := c.tellAll(svc.scene().UploadID)
		for i, want := range []string{"svc_start", "svc_start", "svc_status", "svc_download", "svc_receipt"} {
			all[i].want("next_tool", want)
		}
		// A finished job shows its frames, all of them and one by one. An answer does not wait for
		// a contact sheet that a busy machine makes slowly.
		shown := all[3]
		await.Until(svc.t, "the contact sheet", func() bool {
			if shown.at("contact_sheet") != any(true) {
				shown = c.call("svc_status", map[string]any{"job_id": shown.at("job_id")})
			}
			return shown.at("contact_sheet") == any(true)
		})
		if _, err := jpeg.Decode(bytes.NewReader(shown.picture)); err != nil {
			svc.t.Errorf("the contact sheet: %v, %v", err, shown.object)
		}
		one := c.call("svc_preview", map[string]any{"job_id": all[3].at("job_id"), "frame": 4})
		one.want("status", "ready")
		one.want("preview_id", nil)
		if _, err := jpeg.Decode(bytes.NewReader(one.picture)); err != nil {
			svc.t.Error(err)
		}
		c.call("svc_preview", map[string]any{"job_id": all[3].at("job_id"), "frame": 3}).wantRefusal("frame_not_found")
		end := all[len(all)-1]
		end.want("next_tool", nil)
		end.want("charged_cents", 2)
		end.want("artifact_sha256", all[4].at("sha256"))
		if b := svc.balance(); b.AvailableCents != credit-2 || b.ReservedCents != 0 {
			svc.t.Errorf("the wallet has %+v", b)
		}
	})
}

func TestWhatToolsSayIsWhatTheySaid(t *testing.T) {
	t.Parallel()
	svc := start(t, dbtest.URL(t, "sqlite"), rendering)
	c := svc.client(svc.agent)
	var text strings.Builder
	for _, a := range c.tellAll(svc.scene().UploadID) {
		if a.object["status"] == "queued" || a.object["status"] == "rendering" {
			continue // how far it is depends on the machine
		}
		text.WriteString(steady(a.text) + "\n\n")
	}
	for _, refused := range []answer{
		c.call("svc_inspect", map[string]any{"upload_id": "UPL-00000000000000000000000000000000"}),
		c.call("svc_quote", map[string]any{"upload_id": 1}),
		c.call("svc_start", map[string]any{"price_cents": 1}),
		c.call("svc_start", map[string]any{}),
		c.call("svc_status", map[string]any{"job_id": "JOB-00000000000000000000000000000000"}),
		c.call("svc_render", nil),
	} {
		if !refused.refused {
			t.Errorf("answered %v", refused.object)
		}
		text.WriteString(steady(refused.text) + "\n\n")
	}
	golden(t, "texts", text.String())
}

// TestFramesThatAreNotMeantAreRefused: a step of 0 is no step of 1, and a number of
// frames is not ignored.
func TestFramesThatAreNotMeantAreRefused(t *testing.T) {
	each(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		i := svc.scene()
		frames := func(more string, value any) map[string]any {
			return map[string]any{"upload_id": i.UploadID, "frame_start": 1, "frame_end": 9, more: value}
		}
		c.call("svc_quote", frames("frame_step", 0)).wantRefusal("invalid_request")
		c.call("svc_quote", frames("frame_step", -1)).wantRefusal("invalid_request")
		c.call("svc_quote", frames("frame_count", 9)).wantRefusal("invalid_request")
		c.call("svc_start", terms(i.UploadID, i.Quote.QuoteID, "frame_count", 9)).wantRefusal("invalid_request")
		c.call("svc_quote", frames("frame_step", 2)).want("quote.frame_count", 5.0)
	})
}
