package statement

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"image"
	"io/fs"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/synthetic"
)

//go:embed rows
var rows embed.FS

// least is how many statements the interface has; fewer means that rows were lost.
const least = 1500

// TestEveryStatementOfTheInterfaceHolds runs all rows against a service whose workspace has
// a job in each state.
func TestEveryStatementOfTheInterfaceHolds(t *testing.T) {
	t.Parallel()
	all := readRows(t)
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url)
		held, count := 0, 0
		for _, e := range all {
			got, err := s.send(t.Context(), e)
			if err != nil {
				t.Errorf("%s: %s: %v", e.section, e.request, err)
			}
			for _, check := range e.checks {
				count++
				if err := got.check(s.fill(check)); err != nil {
					t.Errorf("%s: %s: %s: %v", e.section, e.request, check, err)
					continue
				}
				held++
			}
		}
		t.Logf("%d of %d statements hold", held, count)
		if count < least {
			t.Errorf("there are %d statements, and the interface has %d", count, least)
		}
	})
}

func readRows(t *testing.T) (all []exchange) {
	t.Helper()
	files, err := fs.Glob(rows, "rows/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no rows: %v", err)
	}
	var text strings.Builder
	for _, name := range files {
		content, err := rows.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(content)
		text.WriteString("\n\n")
	}
	if all, err = parse(text.String()); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAWrongAnswerBreaksItsStatement plants a wrong answer for each kind of check.
func TestAWrongAnswerBreaksItsStatement(t *testing.T) {
	t.Parallel()
	wrong := answer{status: 200, header: http.Header{"Allow": {"GET"}}, body: decoded("application/json", []byte(
		`{"ok": false, "n": 1.5, "list": [{"id": "a"}, {"id": 7}], "none": [], "at": "2026-01-01 10:00", "extra": null}`))}
	for _, check := range []string{
		"is 201", "header Allow = POST", "header Allow none", "header Link ~ .", ".ok = true", ".ok none", ".n integer", ".n from 2 to 3", ".missing string",
		".list[*].id string", ".list[2].id string", ".list length 3", ".none[*].id string", ".at date-time", ".at sha256", ".at url", "only . ok n", ".ok ~ true",
		".n object", ".n array", ".n boolean", ".n null", ".list number", ".extra unheard", "unheard of",
	} {
		if err := wrong.check(check); err == nil {
			t.Errorf("%s held", check)
		}
	}
	for _, check := range []string{
		"is 200", "header Allow = GET", "header Link none", ".ok = false", ".none length 0", ".list[0].id = \"a\"", ".n number", ".extra null", ".gone none",
		"only . ok n list none at extra", ".list[*].id string|integer", ".n from 1 to 2",
	} {
		if err := wrong.check(check); err != nil {
			t.Errorf("%s: %v", check, err)
		}
	}
}

// service is a running service and its caller.
type service struct {
	*caller
	t   *testing.T
	app *app.App
}

// start runs a service and brings it into every state that the rows ask for.
func start(t *testing.T, url string) *service {
	t.Helper()
	config := app.Config{Database: url, AllowSynthetic: true, LeaseLife: time.Hour}
	config.Webhooks.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")} // without a listener
	running, base := apptest.Start(t, config)
	s := &service{t: t, app: running, caller: &caller{base: base, variables: map[string]string{"base": base}, files: files()}}
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	world := &apptest.World{App: running, URL: base}
	owner, stranger, poor := world.Workspace(t, 10_000), world.Workspace(t, 100), world.Workspace(t, 0)
	s.keys("", owner)
	s.keys("stranger-", stranger)
	s.keys("poor-", poor)
	s.ended(owner.ID)
	sum := sha256.Sum256(s.files["scene"])
	s.variables["scene_sha256"], s.variables["scene_size"] = hex.EncodeToString(sum[:]), fmt.Sprint(len(s.files["scene"]))
	s.variables["workspace"], s.variables["email"] = owner.ID, owner.Email
	s.variables["fingerprint"] = fingerprint("scene.blend", s.variables["scene_size"], s.variables["scene_sha256"])
	s.variables["wrong_fingerprint"] = fingerprint("other.blend", s.variables["scene_size"], s.variables["scene_sha256"])
	s.variables["long_name"], s.variables["longest_name"] = strings.Repeat("é", 81), strings.Repeat("é", 80)
	s.variables["long_url"] = "https://example.com/" + strings.Repeat("a", 2029)
	s.jobs()
	s.board()
	s.limited(owner.Email)
	return s
}

// limited is a second service, with the published rate limit, which the first has not: all
// rows together are more requests than it lets through.
func (s *service) limited(email string) {
	s.t.Helper()
	config := app.Config{}
	config.Limit(ratelimit.Policy{PerMinute: contract.RatePerMinute, Burst: contract.RateBurst})
	running, base := apptest.Start(s.t, config)
	world := &apptest.World{App: running, URL: base}
	w := world.WorkspaceOf(s.t, email, 0)
	s.variables["limited"], s.variables["key:limited-account"] = base, w.Account.Secret
}

// files are what rows upload, by the name after @.
func files() map[string][]byte {
	scene := demo.Scene()
	return map[string][]byte{
		"scene": scene, "text": []byte("This is no scene."), "empty": {}, "cut": scene[:len(scene)/2],
		"eevee": bytes.Replace(scene, []byte("CYCLES\x00"), []byte("EEVEES\x00"), 1),
	}
}

func fingerprint(filename, size, sum string) string {
	text := fmt.Sprintf("filename=%s\nrenderer=blender\nframe_start=1\nframe_end=2\nframe_count=2\nsize_bytes=%s\nsha256=%s", filename, size, sum)
	hashed := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hashed[:])
}

// keys prepares the credentials of a workspace.
func (s *service) keys(prefix string, w apptest.Workspace) {
	s.t.Helper()
	s.variables["key:"+prefix+"account"], s.variables["key:"+prefix+"agent"] = w.Account.Secret, w.Agent.Secret
	s.variables["key:"+prefix+"session"] = s.session(w.Email)
}

func (s *service) session(email string) (secret string) {
	s.t.Helper()
	var token string
	s.write(func(ctx context.Context, tx *db.Tx) (err error) {
		token, err = identity.CreateSignInLink(ctx, tx, email)
		return err
	})
	s.write(func(ctx context.Context, tx *db.Tx) error {
		opened, err := identity.SignIn(ctx, tx, token, "")
		secret = opened.Token
		return err
	})
	return secret
}

// ended prepares what opens nothing: revoked keys, and keys that never were.
func (s *service) ended(workspaceID string) {
	s.t.Helper()
	s.write(func(ctx context.Context, tx *db.Tx) error {
		account, err := identity.CreateAccountKey(ctx, tx, workspaceID, "revoked")
		if err != nil {
			return err
		}
		agent, err := identity.CreateAgentKey(ctx, tx, workspaceID, identity.AgentTerms{Name: "revoked"})
		if err != nil {
			return err
		}
		node, err := identity.CreateNodeKey(ctx, tx, "statements")
		if err != nil {
			return err
		}
		s.variables["key:revoked-account"], s.variables["key:revoked-agent"], s.variables["key:node"] = account.Secret, agent.Secret, node.Secret
		if err := identity.Revoke(ctx, tx, account.KeyID); err != nil {
			return err
		}
		return identity.Revoke(ctx, tx, agent.KeyID)
	})
	s.variables["key:unknown-account"] = "svc_" + strings.Repeat("a", 43)
	s.variables["key:unknown-agent"] = "svc_agent_" + strings.Repeat("a", 43)
	s.variables["key:nonsense"], s.variables["key:unknown-session"] = "nonsense", strings.Repeat("a", 43)
}

func (s *service) write(change func(ctx context.Context, tx *db.Tx) error) {
	s.t.Helper()
	ctx := s.t.Context()
	if err := s.app.DB.Write(ctx, func(tx *db.Tx) error { return change(ctx, tx) }); err != nil {
		s.t.Fatal(err)
	}
}

// jobs makes a job in each state, in both flows where a flow matters.
func (s *service) jobs() {
	s.t.Helper()
	door := farmapi.NewClient(s.base, s.variables["key:node"])
	me, err := door.Register(s.t.Context(), farmapi.RegisterRequest{
		Name: "statements", BlenderVersion: "4.1.1", BlenderBuildHash: "test", Device: "GPU", DeviceName: "Test GPU", Denoise: "keep",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"completed", "completed_v1"} {
		s.variables[name] = s.started(name)
		s.render(door, me.WorkerID)
		s.waitFor(s.variables[name], "completed")
	}
	s.variables["failed"] = s.started("failed")
	s.lease(door, me.WorkerID)
	s.write(func(ctx context.Context, tx *db.Tx) error {
		_, err := s.app.Jobs(s.app.Links(s.base)).FailByOperator(ctx, tx, s.variables["failed"], "It was ended for a test.")
		return err
	})
	s.variables["claimed"] = s.started("claimed")
	s.lease(door, me.WorkerID)
	s.variables["cancelled"] = s.started("cancelled")
	s.ask(`POST /node/v1/jobs/{cancelled}/cancel as agent`, "")
	s.variables["queued"] = s.started("queued")
	s.variables["queued_v1"] = s.started("queued_v1")
	s.ask(`POST /v1/renders as account`, "upload file=@scene; frame_start=1; frame_end=2", [2]string{"awaiting", ".job_id"})
}

// started starts a job of two frames: by the job API, or by the older flow where its name
// says so.
func (s *service) started(name string) (jobID string) {
	s.t.Helper()
	if strings.HasSuffix(name, "_v1") {
		s.ask(`POST /v1/renders as account`, "upload file=@scene; frame_start=1; frame_end=2", [2]string{"made", ".job_id"})
		s.ask(`POST /v1/renders/{made}/submit as account`, "")
		return s.variables["made"]
	}
	s.ask(`POST /node/v1/uploads/inspect as agent`, "upload file=@scene; frame_start=1; frame_end=2", [2]string{"made", ".upload_id"}, [2]string{"made_quote", ".quote_id"})
	s.ask(`POST /node/v1/uploads/{made}/start as agent`, `json {"quote_id":"{made_quote}","legal_acceptance":"SVC_LEGAL_V1","webhook_url":"https://127.0.0.2:1024/"}`, [2]string{"made", ".job_id"})
	return s.variables["made"]
}

// ask sends a request that must succeed.
func (s *service) ask(request, body string, keeps ...[2]string) answer {
	s.t.Helper()
	got, err := s.send(s.t.Context(), exchange{request: request, body: body, keeps: keeps})
	if err != nil || got.status != http.StatusOK {
		s.t.Fatalf("%s: %d %s, %v", request, got.status, got.text, err)
	}
	return got
}

func (s *service) lease(door *farmapi.Client, workerID string) farmapi.LeaseReply {
	s.t.Helper()
	work, err := door.Lease(s.t.Context(), farmapi.LeaseRequest{WorkerID: workerID, Max: 8})
	if err != nil || len(work.Leases) == 0 {
		s.t.Fatalf("no frame is leased: %v", err)
	}
	return work
}

// render delivers the frames of the only job that waits.
func (s *service) render(door *farmapi.Client, workerID string) {
	s.t.Helper()
	for range 2 {
		work := s.lease(door, workerID)
		for _, l := range work.Leases {
			picture, err := synthetic.Paint(l.Frame, image.Pt(480, 270))
			if err != nil {
				s.t.Fatal(err)
			}
			decoded, _, err := image.Decode(bytes.NewReader(picture))
			if err != nil {
				s.t.Fatal(err)
			}
			sum := sha256.Sum256(picture)
			result := farmapi.FrameResult{
				WorkerID: workerID, JobID: work.Job.JobID, LeaseID: l.LeaseID, Attempt: l.Attempt, Frame: l.Frame, File: fmt.Sprintf("frame_%04d.png", l.Frame),
				SHA256: hex.EncodeToString(sum[:]), PixelSHA256: pixels.Of(decoded).SHA256, SizeBytes: int64(len(picture)), Width: 480, Height: 270,
				RenderSeconds: 0.5, Device: "GPU", DeviceName: "Test GPU", BlenderVersion: "4.1.1", BlenderBuildHash: "test", Log: "Saved",
			}
			if err := door.Deliver(s.t.Context(), result, bytes.NewReader(picture)); err != nil {
				s.t.Fatal(err)
			}
		}
		if len(work.Leases) == 2 {
			return
		}
	}
}

func (s *service) waitFor(jobID, status string) {
	s.t.Helper()
	await.Until(s.t, "the job is "+status, func() bool {
		return s.ask("GET /v1/renders/"+jobID+" as account", "").check(`.status = "`+status+`"`) == nil
	})
}

// board puts two GPUs on the leaderboard.
func (s *service) board() {
	s.t.Helper()
	fleet, err := leaderboardtest.NewFleet(s.t.Context(), s.app.Board(s.app.Links(s.base)))
	if err != nil {
		s.t.Fatal(err)
	}
	for i, gpu := range []string{"NVIDIA GeForce RTX 4090", "NVIDIA L4"} {
		done, err := fleet.Submit(s.t.Context(), leaderboardtest.Run(gpu, 24, 9000-float64(i)*3000, time.Now().Add(-time.Hour)))
		if err != nil || done.Reason != "" {
			s.t.Fatalf("%+v, %v", done, err)
		}
		s.variables[fmt.Sprintf("result_%d", i+1)] = done.ResultID
	}
}
