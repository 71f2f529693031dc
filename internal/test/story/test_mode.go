package story

import (
	"bytes"
	"context"

	"svc.example/client"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/work/identity"
)

// TestCaller is a caller with an agent key of test mode, and an account key of it.
func (svc *Service) TestCaller() Caller {
	svc.T.Helper()
	c := svc.Caller(0)
	svc.Write(func(ctx context.Context, tx *db.Tx) (err error) {
		if c.Agent, err = identity.CreateAgentKey(ctx, tx, c.Workspace, identity.AgentTerms{Name: "test", Test: true}); err != nil {
			return err
		}
		c.Account, err = identity.CreateTestAccountKey(ctx, tx, c.Workspace, "test")
		return err
	})
	c.Client = NewClient(svc.T, svc.URL, c.Agent.Secret)
	return c
}

// Named uploads the scene under a name and has frames 1 to n priced.
func (c Caller) Named(filename string, n int) *client.Quote {
	c.T.Helper()
	first := 1
	q, err := c.Inspect(Patient(c.T), client.InspectRequest{Filename: filename, Body: bytes.NewReader(demo.Scene()), FrameStart: &first, FrameEnd: &n})
	if err != nil {
		c.T.Fatal(err)
	}
	return q
}

// MustTake is Take where nothing may go wrong.
func (c Caller) MustTake(q *client.Quote) (jobID string) {
	c.T.Helper()
	job, err := c.Take(q)
	if err != nil {
		c.T.Fatal(err)
	}
	return job.JobID
}
