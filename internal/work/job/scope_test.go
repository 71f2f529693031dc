package job_test

import (
	"testing"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
)

// TestStartNeedsTheSpendScope: it is refused before
// anything is read.
func TestStartNeedsTheSpendScope(t *testing.T) {
	t.Parallel()
	jobs := &job.Jobs{} // has no database that it could ask
	r := job.StartRequest{Principal: identity.Principal{WorkspaceID: "WSP-1", Scopes: identity.Scopes{identity.ScopeRead}}}
	if _, err := jobs.Start(t.Context(), nil, r); !fault.Is(err, fault.InsufficientScope) {
		t.Errorf("start: %v", err)
	}
	if _, err := jobs.Hold(t.Context(), nil, r, quote.Quote{}); !fault.Is(err, fault.InsufficientScope) {
		t.Errorf("hold: %v", err)
	}
}
