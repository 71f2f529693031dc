package caller

import (
	"errors"
	"testing"

	"svc.example/client"
	"svc.example/internal/ground/fault"
)

// TestOnlyAnAnswerThatSettlesTheStartIsARefusal: a job's file may be forgotten only if the
// service cannot have started the job.
func TestOnlyAnAnswerThatSettlesTheStartIsARefusal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err     error
		refused bool
	}{
		{&client.Error{Status: 402, Code: string(fault.InsufficientFunds)}, true},
		{&client.Error{Status: 409, Code: string(fault.QuoteExpired)}, true},
		{&client.Error{Status: 503, Code: string(fault.NotAcceptingJobs)}, true},
		{&client.Error{Status: 503, Code: string(fault.Unavailable)}, false}, // the commit may have gone through
		{&client.Error{Status: 500, Code: string(fault.Internal)}, false},
		{&client.Error{Status: 403}, false}, // a proxy's
		{errors.New("connection lost"), false},
	} {
		if got := refusedForGood(c.err); got != c.refused {
			t.Errorf("%v: refused for good: %t", c.err, got)
		}
	}
}
