package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// newest is how many deliveries of an endpoint the page shows.
const newest = 10

// webhooksView is the content of the webhooks page: all endpoints of a
// workspace, and what came of the last form.
type webhooksView struct {
	Endpoints []endpoint
	Secret    *newSecret
	// Notice confirms the last action; "" shows none.
	Notice string
	// Problem is why the last action was refused; nil when none was.
	Problem *fault.Wire
	// URL and Description fill the form again after an endpoint was refused.
	URL, Description string
	// Full says that the workspace has reached Most, the limit of endpoints.
	Full bool
	Most int
}

// newSecret is a secret on the one page that shows it.
type newSecret struct {
	EndpointID, Text string
	// Before is until when the previous secret signs as well; nil without one.
	Before *time.Time
}

// endpoint is an endpoint with its newest deliveries.
type endpoint struct{ webhook.EndpointDeliveries }

// State returns the endpoint's state in one word, which is its CSS class too.
func (e endpoint) State() string {
	switch {
	case !e.Enabled:
		return "disabled"
	case e.FailingSince != nil:
		return "failing"
	}
	return "active"
}

// Advice says why an endpoint does not work, and what to do; "" when it works.
func (e endpoint) Advice() string {
	const days = int(contract.WebhookBreaker / (24 * time.Hour))
	switch {
	case e.Enabled && e.FailingSince == nil:
		return ""
	case e.Enabled:
		return fmt.Sprintf("Every attempt since %s has failed. Check the responses below and fix the receiver. After %d days of failures the endpoint is disabled.", page.MomentText(*e.FailingSince), days)
	case *e.DisabledReason == webhook.Failing:
		return fmt.Sprintf("Disabled on %s: no delivery succeeded for %d days. Fix the receiver, enable the endpoint, then resend what it missed.", page.MomentText(*e.DisabledAt), days)
	case *e.DisabledReason == webhook.Gone:
		return fmt.Sprintf("Disabled on %s: the receiver answered 410 Gone, which ends all deliveries. If that was a mistake, enable the endpoint, then resend what it missed.", page.MomentText(*e.DisabledAt))
	}
	return fmt.Sprintf("Disabled by you on %s. It receives no calls. Enable it, then resend what it missed.", page.MomentText(*e.DisabledAt))
}

// lastTry returns the newest attempt of a delivery; nil without one.
func lastTry(tries []webhook.Attempt) *webhook.Attempt {
	if len(tries) == 0 {
		return nil
	}
	return &tries[len(tries)-1]
}

// reasonText says why a delivery is not tried any more.
func reasonText(r *webhook.Reason) string {
	return map[webhook.Reason]string{
		webhook.Exhausted: "all attempts failed", webhook.Gone: "the receiver answered 410",
		webhook.WasDisabled: "the endpoint was disabled", webhook.WasDeleted: "the endpoint was deleted",
	}[*r]
}

// noticeOf confirms an action after the redirect that follows it. The action is
// in the query, as a word of a fixed list: free text in an address would let
// anyone put words on this page.
func noticeOf(q url.Values) string {
	switch q.Get("did") {
	case "test":
		return "A test event is on its way. Reload this page to see the result."
	case "redeliver":
		if n, err := strconv.ParseUint(q.Get("count"), 10, 63); err == nil {
			return fmt.Sprintf("Deliveries to resend: %d.", n)
		}
	case "again":
		return "The delivery is being sent again. Reload this page to see the result."
	case "enable":
		return "The endpoint is enabled. It receives a call for each job that ends from now on."
	case "disable":
		return "The endpoint is disabled. It receives no calls."
	case "change":
		return "The endpoint is changed. Its secret stays."
	case "delete":
		return "The endpoint is deleted. It receives no calls."
	}
	return ""
}

// webhooks builds the page of a workspace's endpoints.
func (s *Site) webhooks(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.withEndpoints(r, who, webhooksView{Notice: noticeOf(r.URL.Query())})
}

// withEndpoints adds the workspace's endpoints to the view.
func (s *Site) withEndpoints(r *http.Request, who identity.Principal, v webhooksView) (page.Page, error) {
	all, err := s.Webhooks.Overview(r.Context(), who.WorkspaceID, newest)
	if err != nil {
		return page.Page{}, err
	}
	for _, e := range all {
		v.Endpoints = append(v.Endpoints, endpoint{e})
	}
	v.Most, v.Full = contract.MaxWebhookEndpoints, len(all) >= contract.MaxWebhookEndpoints
	return page.Page{Template: "webhooks", Title: "Webhooks", Section: page.WebhooksSection, Content: v}, nil
}

// done ends an action: it redirects to the page, so that a reload does not
// repeat the action, or shows the page with the problem.
func (s *Site) done(r *http.Request, who identity.Principal, did url.Values, err error) (page.Page, error) {
	if err != nil {
		return s.refused(r, who, webhooksView{}, err)
	}
	return page.Page{Location: webhook.ConsolePage + "?" + did.Encode()}, nil
}

// refused builds the page with the problem and its status. An error of the
// service itself is returned: it belongs on the error page.
func (s *Site) refused(r *http.Request, who identity.Principal, v webhooksView, err error) (page.Page, error) {
	status, problem := page.Refused(err)
	if status >= http.StatusInternalServerError {
		return page.Page{}, err
	}
	v.Problem = problem
	p, err := s.withEndpoints(r, who, v)
	p.Status = status
	return p, err
}

// addEndpoint adds an endpoint. On success it does not redirect: the response
// shows the secret, which must not be in an address or be shown twice.
func (s *Site) addEndpoint(r *http.Request, who identity.Principal) (page.Page, error) {
	n := webhook.NewEndpoint{URL: r.PostForm.Get("url"), Description: r.PostForm.Get("description")}
	e, secret, err := s.Webhooks.Create(r.Context(), who.WorkspaceID, n)
	if err != nil {
		return s.refused(r, who, webhooksView{URL: n.URL, Description: n.Description}, err)
	}
	return s.withEndpoints(r, who, webhooksView{Secret: &newSecret{EndpointID: e.EndpointID, Text: secret}})
}

// changeEndpoint runs an action on an endpoint: test, enable, disable, change, delete,
// rotate or redeliver. Another workspace's endpoint is not found. Errors:
// route_not_found for another action.
func (s *Site) changeEndpoint(r *http.Request, who identity.Principal) (page.Page, error) {
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
	case "change":
		address, description := r.PostForm.Get("url"), r.PostForm.Get("description")
		_, err := s.Webhooks.Change(ctx, who.WorkspaceID, endpointID, webhook.Change{URL: &address, Description: &description})
		return s.done(r, who, did, err)
	case "delete":
		err := s.Webhooks.Delete(ctx, who.WorkspaceID, endpointID)
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
			return s.done(r, who, nil, fault.Field("hours", "must be a whole number of hours"))
		}
		var since time.Time
		// The start is reckoned from the database's time, which also stamped
		// the events.
		if err := s.DB.ReadStatement(ctx, func(_ context.Context, tx *db.Tx) error {
			since = tx.Time().Add(-time.Duration(hours) * time.Hour)
			return nil
		}); err != nil {
			return page.Page{}, err
		}
		n, err := s.Webhooks.RedeliverSince(ctx, who.WorkspaceID, endpointID, since)
		did.Set("count", strconv.FormatInt(n, 10))
		return s.done(r, who, did, err)
	}
	return page.Page{}, fault.New(fault.RouteNotFound, "There is no route %s.", r.URL.Path)
}

// redeliver sends one delivery again.
func (s *Site) redeliver(r *http.Request, who identity.Principal) (page.Page, error) {
	_, err := s.Webhooks.Redeliver(r.Context(), who.WorkspaceID, r.PostForm.Get("job_id"), r.PathValue("delivery_id"))
	return s.done(r, who, url.Values{"did": {"again"}}, err)
}
