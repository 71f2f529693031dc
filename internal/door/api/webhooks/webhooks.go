// Package webhooks is the part of the HTTP API that manages the endpoints of a
// workspace, which the service calls when a job ends: their secrets, and the
// log of their deliveries.
//
// What always holds: a secret is shown once, in an answer that no cache keeps.
// A caller sees the endpoints and deliveries of its own workspace only. These
// routes keep no answers for idempotency keys, because some answers contain a
// secret.
//
// Package webhook stores endpoints and makes deliveries. Start reading at
// Server.Routes.
package webhooks

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/job"
	"svc.example/internal/work/webhook"
)

// Server serves the routes of webhooks. It is safe for concurrent use.
type Server struct {
	Webhooks *webhook.Hooks
	Jobs     *job.Jobs
	Links    links.Links
	Guard    *operation.Guard
}

// endpointInput names an endpoint.
type endpointInput struct {
	EndpointID string `path:"endpoint_id" doc:"Begins with WHE-."`
}

// endpointCreateInput is a new endpoint.
type endpointCreateInput struct {
	Body struct {
		URL         string `json:"url" format:"uri" maxLength:"2048" example:"https://example.com/svc" doc:"HTTPS address that is told when a job of the workspace ends."`
		Description string `json:"description,omitempty" maxLength:"200"`
		Secret      string `json:"secret,omitempty" minLength:"16" writeOnly:"true" doc:"Without it one is made and shown in the answer, once."`
	}
}

// endpointChangeInput changes an endpoint; an absent member stays as it is.
type endpointChangeInput struct {
	EndpointID string `path:"endpoint_id" doc:"Begins with WHE-."`
	Body       struct {
		URL         *string `json:"url,omitempty" format:"uri" maxLength:"2048"`
		Description *string `json:"description,omitempty" maxLength:"200"`
		Enabled     *bool   `json:"enabled,omitempty" doc:"False ends what waits for it; true begins with the next job."`
	}
}

// webhookEndpointBody is an endpoint, with its secret in the one answer that
// creates it.
type webhookEndpointBody struct {
	OK bool `json:"ok" const:"true"`
	webhook.Endpoint
	Secret string `json:"secret,omitempty" doc:"Only in the answer that makes it, and only when the service made it."`
}

// webhookEndpointsBody lists all endpoints; a workspace has few, so there is no
// paging.
type webhookEndpointsBody struct {
	OK        bool               `json:"ok" const:"true"`
	Endpoints []webhook.Endpoint `json:"endpoints" doc:"Newest first."`
}

// webhookEndpointDeletedBody confirms a deletion.
type webhookEndpointDeletedBody struct {
	OK         bool   `json:"ok" const:"true"`
	EndpointID string `json:"endpoint_id"`
	Deleted    bool   `json:"deleted" const:"true"`
}

// rotateInput asks for a new secret, or brings one.
type rotateInput struct {
	EndpointID string `path:"endpoint_id" doc:"Begins with WHE-."`
	Body       struct {
		Secret string `json:"secret,omitempty" minLength:"16" writeOnly:"true" doc:"Without it one is made and shown in the answer, once."`
	}
}

// webhookSecretRotatedBody is a new secret, and until when the previous one
// signs as well.
type webhookSecretRotatedBody struct {
	OK                bool      `json:"ok" const:"true"`
	EndpointID        string    `json:"endpoint_id"`
	Secret            string    `json:"secret,omitempty" doc:"Shown this once; absent when you gave it."`
	PreviousExpiresAt time.Time `json:"previous_expires_at" doc:"Until then the secret before signs too."`
}

// redeliverSinceInput asks for everything since a time that an endpoint missed.
type redeliverSinceInput struct {
	EndpointID string `path:"endpoint_id" doc:"Begins with WHE-."`
	Body       struct {
		Since time.Time `json:"since" doc:"Ends of jobs from then on that the endpoint has not taken are sent again."`
	}
}

// webhooksRedeliveredBody says how many deliveries are due again.
type webhooksRedeliveredBody struct {
	OK          bool   `json:"ok" const:"true"`
	EndpointID  string `json:"endpoint_id"`
	Redelivered int64  `json:"redelivered" minimum:"0" doc:"How many deliveries now wait to be made."`
}

// webhookDeliveryBody is one delivery with its attempts.
type webhookDeliveryBody struct {
	OK       bool             `json:"ok" const:"true"`
	Delivery webhook.Delivery `json:"delivery"`
}

// webhookDeliveriesBody is a list of deliveries.
type webhookDeliveriesBody struct {
	OK         bool               `json:"ok" const:"true"`
	Deliveries []webhook.Delivery `json:"deliveries" doc:"Newest first."`
}

// endpointDeliveriesInput selects a page of an endpoint's deliveries.
type endpointDeliveriesInput struct {
	EndpointID string         `path:"endpoint_id" doc:"Begins with WHE-."`
	Limit      int            `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Status     webhook.Status `query:"status" enum:"pending,delivered,failed" doc:"Only deliveries in this state."`
	Before     string         `query:"before" pattern:"^WHD-[0-9a-f]{64}$" doc:"Delivery id; the page starts after it. The Link header contains it."`
}

// endpointDeliveriesOutput is a page, with the next one in the Link header.
type endpointDeliveriesOutput struct {
	Link         string `header:"Link" doc:"The next page, rel=next; absent on the last one."`
	CacheControl string `header:"Cache-Control"`
	Body         webhookDeliveriesBody
}

// jobDeliveriesInput names the job whose deliveries are listed.
type jobDeliveriesInput struct {
	JobID string `path:"job_id" doc:"Begins with JOB-."`
}

// redeliverInput names a delivery of a job.
type redeliverInput struct {
	JobID      string `path:"job_id" doc:"Begins with JOB-."`
	DeliveryID string `path:"delivery_id" doc:"Begins with WHD-."`
}

// Paths of the routes.
const (
	endpointsPath     = "/v1/webhook-endpoints"
	endpointPath      = endpointsPath + "/{endpoint_id}"
	jobDeliveriesPath = links.RendersPath + "/{job_id}/webhook-deliveries"
)

// Routes registers the routes on api. Account keys and browser sessions may use
// them: programs manage endpoints, and so do people.
func (s *Server) Routes(api huma.API) {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{"Webhooks"}, Summary: summary, MaxBodyBytes: contract.MaxJSONBodyBytes,
			Security:    []map[string][]string{{operation.AccountScheme: {}}, {operation.SessionScheme: {}}},
			Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AccountKeyOrSession()},
		}
	}
	create := op("createWebhookEndpoint", http.MethodPost, endpointsPath, "Have every job's end told to an address")
	create.DefaultStatus = http.StatusCreated
	huma.Register(api, create, s.createEndpoint)
	huma.Register(api, op("listWebhookEndpoints", http.MethodGet, endpointsPath, "List the endpoints"), s.listEndpoints)
	huma.Register(api, op("getWebhookEndpoint", http.MethodGet, endpointPath, "Read an endpoint"), s.getEndpoint)
	huma.Register(api, op("changeWebhookEndpoint", http.MethodPatch, endpointPath, "Change, disable or enable an endpoint"), s.changeEndpoint)
	huma.Register(api, op("deleteWebhookEndpoint", http.MethodDelete, endpointPath, "Delete an endpoint and its secrets"), s.deleteEndpoint)
	huma.Register(api, op("rotateWebhookSecret", http.MethodPost, endpointPath+"/rotate-secret", "Sign with a new secret; for 24 hours with both"), s.rotateSecret)
	huma.Register(api, op("testWebhookEndpoint", http.MethodPost, endpointPath+"/test", "Send a test event"), s.testEndpoint)
	huma.Register(api, op("redeliverSince", http.MethodPost, endpointPath+"/redeliver", "Send what an endpoint has not taken since a time"), s.redeliverSince)
	huma.Register(api, op("listEndpointDeliveries", http.MethodGet, endpointPath+"/deliveries", "The deliveries to an endpoint, with every try"), s.endpointDeliveries)
	huma.Register(api, op("listWebhookDeliveries", http.MethodGet, jobDeliveriesPath, "The deliveries of a job's end, with every try"), s.jobDeliveries)
	huma.Register(api, op("redeliverWebhook", http.MethodPost, jobDeliveriesPath+"/{delivery_id}/redeliver", "Make a delivery again"), s.redeliver)
}

// createEndpoint adds an endpoint. Errors: those of webhook.Hooks.Create.
func (s *Server) createEndpoint(ctx context.Context, in *endpointCreateInput) (*operation.Private[webhookEndpointBody], error) {
	e, secret, err := s.Webhooks.Create(ctx, operation.Caller(ctx).WorkspaceID, webhook.NewEndpoint{URL: in.Body.URL, Description: in.Body.Description, Secret: in.Body.Secret})
	return operation.NoStore(webhookEndpointBody{true, e, secret}, err)
}

// listEndpoints lists the workspace's endpoints, newest first.
func (s *Server) listEndpoints(ctx context.Context, _ *struct{}) (*operation.Private[webhookEndpointsBody], error) {
	all, err := s.Webhooks.List(ctx, operation.Caller(ctx).WorkspaceID)
	return operation.NoStore(webhookEndpointsBody{true, all}, err)
}

// getEndpoint reads an endpoint. Errors: webhook_endpoint_not_found, also for
// another workspace's.
func (s *Server) getEndpoint(ctx context.Context, in *endpointInput) (*operation.Private[webhookEndpointBody], error) {
	e, err := s.Webhooks.Get(ctx, operation.Caller(ctx).WorkspaceID, in.EndpointID)
	return operation.NoStore(webhookEndpointBody{OK: true, Endpoint: e}, err)
}

// changeEndpoint changes an endpoint. Errors: webhook_endpoint_not_found,
// invalid_webhook_url.
func (s *Server) changeEndpoint(ctx context.Context, in *endpointChangeInput) (*operation.Private[webhookEndpointBody], error) {
	e, err := s.Webhooks.Change(ctx, operation.Caller(ctx).WorkspaceID, in.EndpointID, webhook.Change{URL: in.Body.URL, Description: in.Body.Description, Enabled: in.Body.Enabled})
	return operation.NoStore(webhookEndpointBody{OK: true, Endpoint: e}, err)
}

// deleteEndpoint deletes an endpoint. Errors: webhook_endpoint_not_found.
func (s *Server) deleteEndpoint(ctx context.Context, in *endpointInput) (*operation.Private[webhookEndpointDeletedBody], error) {
	err := s.Webhooks.Delete(ctx, operation.Caller(ctx).WorkspaceID, in.EndpointID)
	return operation.NoStore(webhookEndpointDeletedBody{true, in.EndpointID, true}, err)
}

// rotateSecret gives an endpoint a new secret. Errors:
// webhook_endpoint_not_found, webhook_secret_too_short.
func (s *Server) rotateSecret(ctx context.Context, in *rotateInput) (*operation.Private[webhookSecretRotatedBody], error) {
	secret, ends, err := s.Webhooks.Rotate(ctx, operation.Caller(ctx).WorkspaceID, in.EndpointID, in.Body.Secret)
	return operation.NoStore(webhookSecretRotatedBody{true, in.EndpointID, secret, ends}, err)
}

// testEndpoint sends a test event. Errors: webhook_endpoint_not_found,
// webhook_endpoint_disabled.
func (s *Server) testEndpoint(ctx context.Context, in *endpointInput) (*operation.Private[webhookDeliveryBody], error) {
	d, err := s.Webhooks.Test(ctx, operation.Caller(ctx).WorkspaceID, in.EndpointID)
	return operation.NoStore(webhookDeliveryBody{true, d}, err)
}

// redeliverSince sends again what an endpoint missed since a time. Errors:
// webhook_endpoint_not_found, webhook_endpoint_disabled.
func (s *Server) redeliverSince(ctx context.Context, in *redeliverSinceInput) (*operation.Private[webhooksRedeliveredBody], error) {
	n, err := s.Webhooks.RedeliverSince(ctx, operation.Caller(ctx).WorkspaceID, in.EndpointID, in.Body.Since)
	return operation.NoStore(webhooksRedeliveredBody{true, in.EndpointID, n}, err)
}

// endpointDeliveries lists a page of an endpoint's deliveries. Errors:
// webhook_endpoint_not_found.
func (s *Server) endpointDeliveries(ctx context.Context, in *endpointDeliveriesInput) (*endpointDeliveriesOutput, error) {
	page, more, err := s.Webhooks.OfEndpoint(ctx, operation.Caller(ctx).WorkspaceID, in.EndpointID, webhook.Page{Status: in.Status, Before: in.Before, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := &endpointDeliveriesOutput{CacheControl: "no-store", Body: webhookDeliveriesBody{true, page}}
	if more {
		out.Link = operation.NextPage(s.Links, endpointsPath+"/"+in.EndpointID+"/deliveries", page[len(page)-1].DeliveryID, in.Limit, map[string]string{"status": string(in.Status)})
	}
	return out, nil
}

// jobDeliveries lists the deliveries of a job's event. Reading the job first
// keeps other workspaces out: deliveries are found by the job alone. Errors:
// render_not_found.
func (s *Server) jobDeliveries(ctx context.Context, in *jobDeliveriesInput) (*operation.Private[webhookDeliveriesBody], error) {
	if _, err := s.Jobs.Get(ctx, operation.Caller(ctx).WorkspaceID, in.JobID); err != nil {
		return nil, err
	}
	all, err := s.Webhooks.OfJob(ctx, in.JobID)
	return operation.NoStore(webhookDeliveriesBody{true, all}, err)
}

// redeliver sends one delivery again. Errors: render_not_found,
// webhook_delivery_not_found, webhook_endpoint_disabled.
func (s *Server) redeliver(ctx context.Context, in *redeliverInput) (*operation.Private[webhookDeliveryBody], error) {
	workspaceID := operation.Caller(ctx).WorkspaceID
	if _, err := s.Jobs.Get(ctx, workspaceID, in.JobID); err != nil {
		return nil, err
	}
	d, err := s.Webhooks.Redeliver(ctx, workspaceID, in.JobID, in.DeliveryID)
	return operation.NoStore(webhookDeliveryBody{true, d}, err)
}
