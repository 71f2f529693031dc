package api_test

import (
	"context"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/operator"
)

// TestAWorkspacePausesResumesAndOrdersItsJobs through both APIs; another one's jobs are not there.
// What an operator has paused stays paused, and the log of the job says who did it, also after the job has ended.
func TestAWorkspacePausesResumesAndOrdersItsJobs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		q := s.post("/node/v1/uploads/inspect", s.form(nil, "scene.blend", demo.Scene()))
		id := s.post("/node/v1/uploads/"+q.text("upload_id")+"/start", jsonBody(`{"quote_id":"`+q.text("quote_id")+`","legal_acceptance":"SVC_LEGAL_V1"}`)).text("job_id")
		renders, jobs := "/v1/renders/"+id, "/node/v1/jobs/"+id
		for range 2 { // again it changes nothing
			if a := s.post(jobs+"/pause", body{}); a.status != 200 || a.text("status") != "queued" || a.text("paused_by") != "workspace" || a.text("waiting_reason") != "paused" || a.body["queue_position"] != nil {
				t.Errorf("pause: %d %v", a.status, a.body)
			}
		}
		for range 2 {
			a := s.call("POST", renders+"/resume", s.account, body{})
			if a.status != 200 || a.body["paused_by"] != nil || a.body["queue_position"] == nil || a.body["priority"] != 50.0 {
				t.Errorf("resume: %d %v", a.status, a.body)
			}
		}
		if a := s.call("PUT", renders+"/priority", s.account, jsonBody(`{"priority":80}`)); a.status != 200 || a.body["priority"] != 80.0 {
			t.Errorf("priority: %d %v", a.status, a.body)
		}
		for _, text := range []string{`{"priority":0}`, `{"priority":101}`, `{"priority":"high"}`, `{}`} {
			if a := s.call("PUT", jobs+"/priority", s.agent, jsonBody(text)); a.status != 400 || a.code() != fault.InvalidRequest {
				t.Errorf("%s: %d %s", text, a.status, a.code())
			}
		}
		for _, verb := range []string{"/pause", "/resume"} {
			if a := s.call("POST", jobs+verb, s.stranger, body{}); a.status != 404 || a.code() != fault.RenderNotFound {
				t.Errorf("%s of another workspace: %d %s", verb, a.status, a.code())
			}
		}
		s.act(func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
			return operator.PauseJob(ctx, tx, s.app.Jobs(s.app.Links(s.base)), id, "its scene is examined")
		})
		if a := s.post(jobs+"/resume", body{}); a.status != 409 || a.code() != fault.PausedByOperator {
			t.Errorf("resume what an operator has paused: %d %s", a.status, a.code())
		}
		s.wantLogged(id, "paused by an operator", "its scene is examined")
		s.act(func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
			return operator.ResumeJob(ctx, tx, s.app.Jobs(s.app.Links(s.base)), id)
		})
		s.post(jobs+"/pause", body{})
		s.post(jobs+"/cancel", body{})
		s.wantLogged(id, "cancelled", "resumed by its workspace\n")
		if n := strings.Count(s.logged(id), "paused by its workspace\n"); n != 2 {
			t.Errorf("the log of the ended job tells of %d pauses by its workspace, want 2:\n%s", n, s.logged(id))
		}
		for _, verb := range []string{"/pause", "/resume"} {
			if a := s.post(jobs+verb, body{}); a.status != 409 || a.code() != fault.RenderNotPausable {
				t.Errorf("%s of an ended job: %d %s", verb, a.status, a.code())
			}
		}
		if a := s.post(jobs+"/cancel", body{}); a.body["priority"] != nil || a.body["paused_by"] != nil {
			t.Errorf("an ended job: %v", a.body)
		}
	})
}

// act performs an operator's act.
func (s *service) act(propose func(ctx context.Context, tx *db.Tx) (operator.Act, error)) {
	s.t.Helper()
	err := s.app.DB.Write(s.t.Context(), func(tx *db.Tx) error {
		act, err := propose(s.t.Context(), tx)
		if err == nil {
			err = act.Perform(s.t.Context(), tx, operator.Account("root"))
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// wantLogged looks for words in the log of a job.
func (s *service) wantLogged(jobID string, words ...string) {
	s.t.Helper()
	text := s.logged(jobID)
	for _, want := range words {
		if !strings.Contains(text, want) {
			s.t.Errorf("the log of the job has no %q:\n%s", want, text)
		}
	}
}

// logged is the log of a job, an entry a line.
func (s *service) logged(jobID string) (text string) {
	s.t.Helper()
	err := s.app.DB.Read(s.t.Context(), func(tx *db.Tx) error {
		log, err := operator.JobLog(s.t.Context(), tx, jobID)
		for _, e := range log {
			text += e.Text + "\n"
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}
