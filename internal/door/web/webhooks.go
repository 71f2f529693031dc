package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// newest is how many deliveries of an endpoint are shown.
const newest = 10

// webhooksView is the endpoints of a workspace.
type webhooksView struct {
	Endpoints        []endpoint
	Secret           *newSecret
	Notice           string      // what was done
	Problem          *fault.Wire // why it was not
	URL, Description string      // of an endpoint that was refused
	Full             bool        // there may be no more
	Most             int
}

// newSecret is a secret on the one page that shows it.
type newSecret struct {
	EndpointID, Text string
	Before           *time.Time // until when the one before signs too; nil = there is none
}

// endpoint is an endpoint with its newest deliveries, in words.
type endpoint struct{ webhook.EndpointDeliveries }

// State is one word.
func (e endpoint) State() string {
	switch {
	case !e.Enabled:
		return "disabled"
	case e.FailingSince != nil:
		return "failing"
	}
	return "active"
}

// Advice says why an endpoint does not work, and what to do; "" when it does.
func (e endpoint) Advice() string {
	const days = int(contract.WebhookBreaker / (24 * time.Hour))
	switch {
	case e.Enabled && e.FailingSince == nil:
		return ""
	case e.Enabled:
		return fmt.Sprintf("Every try since %s has failed. Look at the answers below and mend the receiver: after %d days of this the endpoint is disabled.", momentText(*e.FailingSince), days)
	case *e.DisabledReason == webhook.Failing:
		return fmt.Sprintf("Disabled on %s: nothing was taken for %d days. Mend the receiver, enable it here, then send again what was not taken.", momentText(*e.DisabledAt), days)
	case *e.DisabledReason == webhook.Gone:
		return fmt.Sprintf("Disabled on %s: it answered 410 Gone, which asks for no more. If that was a mistake, enable it here, then send again what was not taken.", momentText(*e.DisabledAt))
	}
	return fmt.Sprintf("Disabled by you on %s. It is told nothing; enable it, then send again what was not taken.", momentText(*e.DisabledAt))
}

// lastTry is the newest try of a delivery; nil when there is none.
func lastTry(tries []webhook.Attempt) *webhook.Attempt {
	if len(tries) == 0 {
		return nil
	}
	return &tries[len(tries)-1]
}

// reasonText says why nothing more is tried of a delivery.
func reasonText(r *webhook.Reason) string {
	return map[webhook.Reason]string{
		webhook.Exhausted: "all tries failed", webhook.Gone: "the receiver answered 410",
		webhook.WasDisabled: "the endpoint was disabled", webhook.WasDeleted: "the endpoint was deleted",
	}[*r]
}

// said is what is told of an action once it is done, by the address's query.
func noticeOf(q url.Values) string {
	switch q.Get("did") {
	case "test":
		return "A test event is on its way. Load this page again to see what became of it."
	case "redeliver":
		if n, err := strconv.ParseUint(q.Get("count"), 10, 63); err == nil {
			return fmt.Sprintf("Deliveries that now wait to be made: %d.", n)
		}
	case "again":
		return "The delivery is made again. Load this page again to see what became of it."
	case "enable":
		return "The endpoint is enabled: it is told of jobs that end from now on."
	case "disable":
		return "The endpoint is disabled: it is told nothing."
	}
	return ""
}

// webhooks shows a workspace's endpoints.
func (s *Site) webhooks(r *http.Request, who identity.Principal) (page, error) {
	return s.withEndpoints(r, who, webhooksView{Notice: noticeOf(r.URL.Query())})
}

// withEndpoints adds what there is to what has just happened.
func (s *Site) withEndpoints(r *http.Request, who identity.Principal, v webhooksView) (page, error) {
	all, err := s.Webhooks.Overview(r.Context(), who.WorkspaceID, newest)
	if err != nil {
		return page{}, err
	}
	for _, e := range all {
		v.Endpoints = append(v.Endpoints, endpoint{e})
	}
	v.Most, v.Full = contract.MaxWebhookEndpoints, len(all) >= contract.MaxWebhookEndpoints
	return page{Template: "webhooks", Title: "Webhooks", Content: v}, nil
}

// done goes back to the page, which tells of it; or says there why it was not
// done.
func (s *Site) done(r *http.Request, who identity.Principal, did url.Values, err error) (page, error) {
	if err != nil {
		return s.refused(r, who, webhooksView{}, err)
	}
	return page{Location: webhook.ConsolePage + "?" + did.Encode()}, nil
}

// refused shows the page with what stands against it.
func (s *Site) refused(r *http.Request, who identity.Principal, v webhooksView, err error) (page, error) {
	status, envelope := fault.Envelope(err, "")
	if status >= http.StatusInternalServerError {
		return page{}, err
	}
	v.Problem = &envelope.Error
	p, err := s.withEndpoints(r, who, v)
	p.Status = status
	return p, err
}

func (s *Site) addEndpoint(r *http.Request, who identity.Principal) (page, error) {
	n := webhook.NewEndpoint{URL: r.PostForm.Get("url"), Description: r.PostForm.Get("description")}
	e, secret, err := s.Webhooks.Create(r.Context(), who.WorkspaceID, n)
	if err != nil {
		return s.refused(r, who, webhooksView{URL: n.URL, Description: n.Description}, err)
	}
	return s.withEndpoints(r, who, webhooksView{Secret: &newSecret{EndpointID: e.EndpointID, Text: secret}})
}

// changeEndpoint does one of the actions on an endpoint.
func (s *Site) changeEndpoint(r *http.Request, who identity.Principal) (page, error) {
	ctx, endpointID, action := r.Context(), r.PathValue("endpoint_id"), r.PathValue("action")
	did := url.Values{"did": {action}}
	switch action {
	case "test":
		_, err := s.Webhooks.Test(ctx, who.WorkspaceID, endpointID)
		return s.done(r, who, did, err)
	case "enable", "disable":
		enabled := action == "enable"
		_, err := s.Webhooks.Change(ctx, who.WorkspaceID, endpointID, webhook.Change{Enabled: &enabled})
		return s.done(r, who, did, err)
	case "rotate":
		secret, before, err := s.Webhooks.Rotate(ctx, who.WorkspaceID, endpointID, "")
		if err != nil {
			return s.refused(r, who, webhooksView{}, err)
		}
		return s.withEndpoints(r, who, webhooksView{Secret: &newSecret{endpointID, secret, &before}})
	case "redeliver":
		hours, err := strconv.ParseUint(r.PostForm.Get("hours"), 10, 16)
		if err != nil {
			return s.done(r, who, nil, fault.Field("hours", "is no number of hours"))
		}
		var since time.Time
		if err := s.DB.ReadStatement(ctx, func(_ context.Context, tx *db.Tx) error {
			since = tx.Time().Add(-time.Duration(hours) * time.Hour)
			return nil
		}); err != nil {
			return page{}, err
		}
		n, err := s.Webhooks.RedeliverSince(ctx, who.WorkspaceID, endpointID, since)
		did.Set("count", strconv.FormatInt(n, 10))
		return s.done(r, who, did, err)
	}
	return page{}, fault.New(fault.RouteNotFound, "There is no route %s.", r.URL.Path)
}

// redeliver makes one delivery again.
func (s *Site) redeliver(r *http.Request, who identity.Principal) (page, error) {
	_, err := s.Webhooks.Redeliver(r.Context(), who.WorkspaceID, r.PostForm.Get("job_id"), r.PathValue("delivery_id"))
	return s.done(r, who, url.Values{"did": {"again"}}, err)
}
