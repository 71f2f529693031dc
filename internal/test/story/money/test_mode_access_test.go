package money_test

import (
	"context"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
)

// TestATestKeyOpensItsOwnTestWorldAndNothingElse tries it where it has no business, and others
// where it has.
func TestATestKeyOpensItsOwnTestWorldAndNothingElse(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c, other, paying := svc.TestCaller(), svc.TestCaller(), svc.Caller(story.Credit)
		job := c.Await(c.StartFrames(1).JobID, client.StatusCompleted)
		other.StartFrames(1)
		at := func(path, key string) int { return story.Send(t, story.Request(t, "GET", svc.URL+path, key, ""), nil) }
		world := "/test/" + c.Workspace
		plain := strings.Replace(c.Agent.Secret, "test_", "", 1)
		jobPath := "/node/v1/jobs/" + job.JobID
		for what, try := range map[string]struct {
			path, key string
			want      int
		}{
			"its job":                             {jobPath, c.Agent.Secret, 200},
			"its job by its address":              {world + jobPath, c.Agent.Secret, 200},
			"its list by the account key":         {"/v1/workspace/renders", c.Account.Secret, 200},
			"the keys of its world":               {world + "/v1/signing-keys", "", 200},
			"another's job":                       {jobPath, other.Agent.Secret, 404},
			"another's world":                     {world + jobPath, other.Agent.Secret, 401},
			"its job with a real key":             {jobPath, paying.Agent.Secret, 404},
			"a world with a real key":             {world + jobPath, paying.Agent.Secret, 401},
			"the secret that the world knows":     {jobPath, plain, 401},
			"that secret at the world":            {world + jobPath, plain, 401},
			"its world without a key":             {world + jobPath, "", 401},
			"a key that was never made":           {jobPath, contract.TestAgentKeyPrefix + strings.Repeat("a", contract.KeySecretLength), 401},
			"the account key at an agent's route": {jobPath, c.Account.Secret, 401},
			"a world that does not exist":         {"/test/WSP-" + strings.Repeat("0", 32) + "/v1/health", "", 404},
			"the list of keys":                    {"/v1/agent-keys", c.Account.Secret, 409},
			"the workers' API":                    {world + "/farm/v1/demand", "", 404},
			"the pages of operators":              {world + "/admin", "", 404},
			"a program's way in":                  {world + "/oauth/authorize", "", 404},
		} {
			if got := at(try.path, try.key); got != try.want {
				t.Errorf("%s: %d, want %d", what, got, try.want)
			}
		}
		if status, refused := svc.Connect(c.Agent.Secret).Call("svc_status", map[string]any{"job_id": job.JobID}); refused || status["status"] != client.StatusCompleted {
			t.Errorf("the tools for agents say %v of it", status)
		}
		link := strings.Replace(job.DownloadURL, world, "", 1)
		if got := story.Send(t, story.Request(t, "GET", link, "", ""), nil); got != 401 {
			t.Errorf("a link of the world at the service itself: %d", got)
		}
		svc.Write(func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, c.Agent.KeyID) })
		for _, path := range []string{jobPath, world + jobPath} {
			if got := at(path, c.Agent.Secret); got != 401 {
				t.Errorf("a revoked key at %s: %d", path, got)
			}
		}
	})
}
