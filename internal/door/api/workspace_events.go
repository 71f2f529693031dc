package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/webhook"
)

// workspaceEventsInput selects where a workspace's events begin.
type workspaceEventsInput struct {
	LastEventID string `header:"Last-Event-ID" doc:"The webhook-id of the last event that you received. The stream resumes after it. 0 starts with the oldest stored event; without it, you get only new events."`
	Follow      bool   `query:"follow" default:"true" doc:"False ends the stream after the stored events instead of waiting for more."`
}

// workspaceEvents registers the stream of a workspace's events for both kinds of keys.
func (s *server) workspaceEvents(api huma.API) {
	for _, route := range []struct {
		id, path, jobs, tag, scheme string
		who                         operation.Middleware
	}{
		{"watchWorkspace", "/v1/events", links.RendersPath, "Webhooks", operation.AccountScheme, s.Guard.AccountKey()},
		{"watchNodeWorkspace", "/node/v1/events", links.NodeJobsPath, "Job API", operation.AgentScheme, s.Guard.AgentKey()},
	} {
		huma.Register(api, huma.Operation{
			OperationID: route.id, Method: http.MethodGet, Path: route.path, Tags: []string{route.tag},
			Summary: "Follow the ends of the workspace's jobs, as webhook endpoints get them",
			Description: "Server-sent events: `event` is the type, `data` the body of the webhook with the links for this key, and `id` its webhook-id. " +
				"The stream begins with an `id` alone. Send the last `id` as Last-Event-ID to resume after it, on any connection to any server. " +
				"An event is kept for 30 days.",
			Responses: map[string]*huma.Response{"200": {
				Description: "The stream", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
			}},
			Security: []map[string][]string{{route.scheme: {}}}, Middlewares: huma.Middlewares{operation.KeepRequestID, route.who},
		}, func(ctx context.Context, in *workspaceEventsInput) (*huma.StreamResponse, error) {
			return s.watchWorkspace(ctx, in, route.jobs)
		})
	}
}

// watchWorkspace streams the workspace's events, with links below jobs. A wrong id must be a 400, before
// the status is sent.
func (s *server) watchWorkspace(ctx context.Context, in *workspaceEventsInput, jobs string) (*huma.StreamResponse, error) {
	workspace := operation.Caller(ctx).WorkspaceID
	from, err := s.Webhooks.Place(ctx, workspace, in.LastEventID)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		stream := &eventStream{links: s.Links, jobs: jobs, w: w, control: http.NewResponseController(w)}
		s.serve(ctx, stream, r, func(waiting context.Context) error {
			return s.Webhooks.Follow(waiting, workspace, webhook.Follower{From: from, Ends: !in.Follow, Begin: stream.place, Send: stream.sendWebhooks, Idle: stream.idle})
		})
	}}, nil
}

// place sends a position alone: a watcher whose connection breaks before the first
// event resumes after it.
func (e *eventStream) place(p webhook.Place) error {
	return e.write(fmt.Appendf(nil, "id: %s\n\n", p.ID))
}

// sendWebhooks writes events in one piece. A body is one line of JSON.
func (e *eventStream) sendWebhooks(events []webhook.Followed) error {
	text := &bytes.Buffer{}
	for _, event := range events {
		fmt.Fprintf(text, "id: %s\nevent: %s\ndata: %s\n\n", event.ID, event.Type, e.links.JobsIn([]byte(event.Body), e.jobs))
	}
	return e.write(text.Bytes())
}
