package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/testmode"
)

// testClockRequest moves the clock: by a time, or to one.
type testClockRequest struct {
	AdvanceSeconds *float64   `json:"advance_seconds,omitempty" nullable:"true" minimum:"0" maximum:"316224000" example:"86400" doc:"By how much the clock goes forward, in seconds."`
	Now            *time.Time `json:"now,omitempty" nullable:"true" doc:"What the clock says from now on; not in its past. Instead of advance_seconds."`
}

// testClockBody is what the clock of test mode says.
type testClockBody struct {
	OK           bool      `json:"ok" enum:"true"`
	Now          time.Time `json:"now" doc:"The time of the test world."`
	MovedSeconds float64   `json:"moved_seconds" minimum:"0" doc:"By how much it is ahead of the real time."`
}

type moveTestClockInput struct{ Body testClockRequest }

// testMode registers the routes that only test mode has. They are in the document of every
// service, and answer wrong_mode outside of test mode.
func (s *Server) testMode(api huma.API) {
	op := func(id, method, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/v1/test/clock", Tags: []string{"Test mode"}, Summary: summary, MaxBodyBytes: contract.MaxJSONBodyBytes,
			Security:    []map[string][]string{{operation.AgentScheme: {}}, {operation.AccountScheme: {}}, {operation.SessionScheme: {}}},
			Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AnyCredential()},
		}
	}
	huma.Register(api, op("getTestClock", http.MethodGet, "Read the clock of test mode"), s.getTestClock)
	huma.Register(api, op("moveTestClock", http.MethodPost, "Move the clock of test mode forward"), s.moveTestClock)
}

// inTestMode refuses outside of a test world. Error: wrong_mode.
func (s *Server) inTestMode() error {
	if s.Clock == nil {
		return fault.New(fault.WrongMode, "Only test mode has a clock that you can move. Use a key that begins with %s or %s.", contract.TestAgentKeyPrefix, contract.TestAccountKeyPrefix)
	}
	return nil
}

// getTestClock reads the clock. Error: wrong_mode.
func (s *Server) getTestClock(ctx context.Context, _ *struct{}) (*operation.Private[testClockBody], error) {
	if err := s.inTestMode(); err != nil {
		return operation.NoStore(testClockBody{}, err)
	}
	t, err := s.Clock.Read(ctx)
	return operation.NoStore(clockBody(t), err)
}

// moveTestClock moves the clock forward. Errors: wrong_mode, invalid_request.
func (s *Server) moveTestClock(ctx context.Context, in *moveTestClockInput) (*operation.Private[testClockBody], error) {
	if err := s.inTestMode(); err != nil {
		return operation.NoStore(testClockBody{}, err)
	}
	var by time.Duration
	var to time.Time
	switch r := in.Body; {
	case (r.AdvanceSeconds == nil) == (r.Now == nil):
		return operation.NoStore(testClockBody{}, fault.Field("body", "must have either advance_seconds or now"))
	case r.Now != nil:
		to = *r.Now
	default:
		by = time.Duration(*r.AdvanceSeconds * float64(time.Second))
	}
	t, err := s.Clock.Advance(ctx, by, to)
	return operation.NoStore(clockBody(t), err)
}

func clockBody(t testmode.Time) testClockBody { return testClockBody{true, t.Now, t.Moved.Seconds()} }
