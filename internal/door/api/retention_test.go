package api_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// TestAWorkspaceKeepsItsArtifactsForItsDays: an operator's setting counts for jobs that complete
// after it, and callers see the time at which the ZIP is really removed.
func TestAWorkspaceKeepsItsArtifactsForItsDays(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, s *service) {
		kept := func(jobID string) time.Duration {
			t.Helper()
			a := s.call("GET", "/v1/renders/"+jobID, s.account, body{})
			completed, err := time.Parse(time.RFC3339Nano, a.text("completed_at"))
			if err != nil {
				t.Fatalf("%v in %v", err, a.body)
			}
			expires, err := time.Parse(time.RFC3339Nano, a.text("artifact_expires_at"))
			if err != nil {
				t.Fatalf("%v in %v", err, a.body)
			}
			return expires.Sub(completed)
		}
		before := s.completed()
		s.act(func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
			return operator.KeepArtifacts(ctx, tx, s.workspaceOf(before), 90)
		})
		after := s.completed()
		if got := kept(before); got != contract.ArtifactRetention {
			t.Errorf("a job that had completed is kept for %s, want %s", got, contract.ArtifactRetention)
		}
		if got, want := kept(after), 90*24*time.Hour; got != want {
			t.Errorf("a later one is kept for %s, want %s", got, want)
		}
	})
}

// completed is a job that has just completed.
func (s *service) completed() (jobID string) {
	s.t.Helper()
	jobID = s.put(nil, nil).text("job_id")
	s.call("POST", "/v1/renders/"+jobID+"/submit", s.account, body{})
	s.render()
	if a := s.ended(jobID); a.text("status") != "completed" {
		s.t.Fatalf("ended: %v", a.body)
	}
	return jobID
}

// workspaceOf is the workspace of a job.
func (s *service) workspaceOf(jobID string) string {
	s.t.Helper()
	return s.call("GET", "/v1/renders/"+jobID, s.account, body{}).text("workspace_id")
}
