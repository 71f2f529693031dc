package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

// asJSON decodes what a test expects as an answer is decoded.
func asJSON(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDiscoverySaysThePublishedConstants(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.Rate = ratelimit.Policy{PerMinute: 60, Burst: 20} }) // as svc serve does
		for path, want := range map[string]string{
			"/v1/pricing": `{"ok":true,"contract":"SVC-PUBLIC-API-V2-FIXED-QUOTE","currency":"USD","model":"fixed_quote","quote_required":true,
				"amount":1,"amount_minor":1,"expires_at":null}`,
			"/v1/limits": limitsText,
			"/v1/capabilities": `{"ok":true,"contract":"SVC-PUBLIC-API-V1",
				"renderers":[{"id":"blender","application":"Blender","version":"4.1.1","engines":["CYCLES"],"input_formats":[".blend"],
					"output_format":".zip","render_device":"GPU"}],
				"availability":{"classification":"LIVE_PUBLIC_ALPHA","accepting_jobs":true,"queue_state":"no_workers"},
				"pricing":{"contract":"SVC-PUBLIC-API-V2-FIXED-QUOTE","currency":"USD","model":"fixed_quote","amount_minor":1,"unit":"completed_frame",
					"quote_required":true,"quote_lifetime_seconds":86400},
				"limits":` + limitsText + `,
				"cancellation":{"supported":true,"until":"worker_claim","states":["awaiting_submit","queued"],"method":"POST","path":"/renders/{job_id}/cancel"},
				"workflow":["discover","upload","quote","start","observe","download","receipt","proof"],
				"proof":{"receipts":"dsse-ed25519","log":"c2sp-tiles","signing_keys_url":"` + s.base + `/v1/signing-keys",
					"verify_command":"svc verify RECEIPT.json --artifact ZIP"},
				"webhooks":{"supported":true,"signed":true,"transport":"HTTPS",
					"terminal_events":["render.completed","render.failed","render.cancelled"],
					"delivery_model":"durable_queue","redirects_allowed":false,"private_network_targets_allowed":false}}`,
		} {
			a := s.call("GET", path, "", body{})
			if a.status != 200 || !reflect.DeepEqual(a.body, asJSON(t, want)) {
				t.Errorf("%s: %d %v\nwant %s", path, a.status, a.body, want)
			}
		}
	})
}

const limitsText = `{"ok":true,"contract":"SVC-PUBLIC-API-V1","frame_count":{"minimum":1,"maximum":10000},"accepted_extensions":[".blend"],
	"required_render_engine":"CYCLES","render_backend":"GPU","maximum_upload_size_bytes":104857600,"maximum_project_size_bytes":8589934592,"maximum_project_files":10000,"maximum_part_size_bytes":33554432,"unstarted_storage_bytes":5368709120,"maximum_frame_seconds":7200,
	"free_previews_per_upload":3,"free_previews_per_day":20,"blender_versions":[],
	"availability":{"classification":"LIVE_PUBLIC_ALPHA"},"rate_limit":{"requests_per_minute_per_client":60,"burst":20},
	"workspace_rate_limit":{"requests_per_minute":300,"burst":100}}`

func TestHealthTellsTheTimeOfTheService(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		a := s.call("GET", "/v1/health", "", body{})
		at, err := time.Parse(time.RFC3339Nano, a.text("ts"))
		if a.status != 200 || len(a.body) != 3 || a.text("service") != "svc" || err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("%d %v, %v", a.status, a.body, err)
		}
	})
}

// TestCapabilitiesFollowTheQueue has a worker come, and a job wait for it: a
// moment later every answer says so.
func TestCapabilitiesFollowTheQueue(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, s *service) {
		want := func(state, blenders string) {
			t.Helper()
			again := time.NewTicker(20 * time.Millisecond)
			defer again.Stop()
			late := time.After(await.Patience)
			for {
				is := s.call("GET", "/v1/capabilities", "", body{}).body
				got := is["availability"].(map[string]any)["queue_state"]
				if versions := fmt.Sprint(is["limits"].(map[string]any)["blender_versions"]); got == state {
					if versions != blenders {
						t.Errorf("the workers have the Blenders %s, want %s", versions, blenders)
					}
					return
				}
				select {
				case <-again.C:
				case <-late:
					t.Fatalf("the queue is %v, want %s", got, state)
				}
			}
		}
		want("no_workers", "[]")
		s.render() // registers, and finds nothing
		want("idle", "[4.1.1]")
		s.renderWith("3.4.1")
		s.post("/node/v1/uploads/"+s.upload+"/start", s.terms())
		want("busy", "[3.4.1 4.1.1]")
	})
}
