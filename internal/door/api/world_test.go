package api_test

import (
	"context"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/identity"
)

// kind is one of the credential systems of spec 5, by its name in the OpenAPI
// document, or the workers' keys.
type kind string

const (
	accountKind kind = "accountKey"
	agentKind   kind = "agentKey"
	sessionKind kind = "session"
	nodeKind    kind = "nodeKey" // opens the workers' API only
)

func kinds() []kind { return []kind{accountKind, agentKind, sessionKind, nodeKind} }

// credentials holds a credential of each kind: the secret of a key, the value of a
// session's cookie.
type credentials map[kind]string

// world is a service with things in one workspace, and its possible callers.
type world struct {
	*service
	owner, stranger, ended credentials
	expired                string            // a session past its 14 days
	path                   map[string]string // values of path parameters
	keys                   map[string]string // a key's id, by where its kind is managed
	belongings             []string          // what no stranger may ever read
	samples                map[string]sample
	roles                  map[identity.Role]string // sessions of people in the owner's workspace
}

// sample is a request that an operation understands.
type sample struct {
	body  body
	query string
	names bool // the body names a thing of the owner's
}

func newWorld(t *testing.T, url string) *world {
	t.Helper()
	skew := &atomic.Int64{}
	provider := stripetest.New(t)
	s := start(t, url, func(c *app.Config) {
		c.Skew = func() time.Duration { return time.Duration(skew.Load()) }
		c.Stripe = &app.Stripe{Key: stripetest.Key, Secrets: []string{stripetest.Secret}, URL: provider.URL}
		c.Webhooks.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	w := &world{service: s, path: map[string]string{
		"sha256": hashOf([]byte("a part")), "n": "1", "result_id": "BMR-0", "gpu_slug": "nvidia-t4", "gpu_a": "nvidia-t4", "gpu_b": "nvidia-l4",
	}}
	inspected := s.post("/node/v1/uploads/inspect", s.form(nil, "scene.blend", demo.Scene()))
	w.path["upload_id"] = inspected.text("upload_id")
	terms := jsonBody(`{"quote_id":"` + inspected.text("quote_id") + `","legal_acceptance":"SVC_LEGAL_V1","webhook_url":"` + deadReceiver + `"}`)
	w.path["job_id"] = s.post("/node/v1/uploads/"+w.path["upload_id"]+"/start", terms).text("job_id")
	s.post("/node/v1/jobs/"+w.path["job_id"]+"/cancel", body{}) // ended, so that event streams end
	w.path["preview_id"] = s.post("/node/v1/uploads/"+w.path["upload_id"]+"/preview", body{}).text("preview_id")
	w.owner, w.stranger, w.ended = w.credentials(s.owner, false), w.credentials(s.other, false), w.credentials(s.owner, true)
	w.join()
	w.keys = map[string]string{}
	for _, routes := range []string{"/v1/api-keys", "/v1/agent-keys"} {
		b := s.signedIn(s.owner)
		w.keys[routes] = b.do("POST", routes, jsonBody(`{"name":"to be revoked"}`)).text("key_id")
		w.belongings = append(w.belongings, w.keys[routes])
	}
	w.path["endpoint_id"] = w.endpoint()
	deliveries := s.call("GET", "/v1/renders/"+w.path["job_id"]+"/webhook-deliveries", s.account, body{}).body["deliveries"].([]any)
	w.path["delivery_id"] = deliveries[0].(map[string]any)["delivery_id"].(string)
	s.call("POST", "/v1/renders/"+w.path["job_id"]+"/share", s.account, jsonBody(`{}`))
	w.path["top_up_id"] = s.call("POST", "/v1/wallet/top-ups", s.account, jsonBody(`{"amount_cents":2500}`)).text("top_up_id")
	if err := provider.Pay(w.path["top_up_id"]); err != nil {
		t.Fatal(err)
	}
	s.ring(provider)
	w.path["number"] = "INV-000001"
	w.path["filter_id"] = w.filter()
	w.belongings = append(w.belongings, w.path["filter_id"], w.path["top_up_id"], w.path["endpoint_id"], w.path["delivery_id"], w.path["upload_id"], w.path["job_id"], w.path["preview_id"], inspected.text("quote_id"))
	skew.Store(-int64(contract.SessionLife))
	w.expired = w.open(s.owner)
	skew.Store(0)
	scene, parts := cut("scene.blend", demo.Scene(), len(demo.Scene()))
	s.sendPart(parts[0])
	w.samples = map[string]sample{
		"inspectUpload": {body: s.form(nil, "scene.blend", demo.Scene())}, "createUpload": {body: s.form(nil, "scene.blend", demo.Scene())},
		"createProject": {body: listed("scene.blend", []sentFile{scene}, "")},
		"sendPart":      {body: body{kind: "application/octet-stream", data: []byte("a part")}},
		"quoteUpload":   {body: jsonBody(`{"frame_start":1,"frame_end":1}`)}, "startUpload": {body: terms},
		"createRender": {body: jsonBody(`{"upload_id":"` + w.path["upload_id"] + `"}`), names: true},
		"rerenderJob":  {body: jsonBody(`{"frames":"1"}`)}, "rerenderRender": {body: jsonBody(`{"frames":"1"}`)},
		"shareJob": {body: jsonBody(`{"download":true}`)}, "shareRender": {body: jsonBody(`{}`)},
		"allowJobComments": {body: jsonBody(`{"allowed":true}`)}, "allowRenderComments": {body: jsonBody(`{"allowed":true}`)},
		"createTopUp":    {body: jsonBody(`{"amount_cents":2500}`)},
		"setJobPriority": {body: jsonBody(`{"priority":80}`)}, "setRenderPriority": {body: jsonBody(`{"priority":80}`)},
		"getInvoice": {names: true}, "getInvoicePDF": {names: true},
		"setJobTags": {body: jsonBody(`{"tags":["hero"]}`)}, "setRenderTags": {body: jsonBody(`{"tags":["hero"]}`)},
		"saveFilter": {body: jsonBody(`{"name":"night","tag":"night"}`)}, "changeFilter": {body: jsonBody(`{"name":"hero","tag":"day"}`)},
		"setWalletAlert":        {body: jsonBody(`{"below_cents":500}`)},
		"receiveStripeEvent":    {body: jsonBody(`{"id":"evt_1","type":"x","data":{"object":{}}}`)},
		"setProofPages":         {body: jsonBody(`{"shown":false}`)},
		"preflightRender":       {body: jsonBody(`{"filename":"scene.blend"}`)},
		"createWebhookEndpoint": {body: jsonBody(`{"url":"` + deadReceiver + `"}`)}, "changeWebhookEndpoint": {body: jsonBody(`{"enabled":true}`)},
		"rotateWebhookSecret": {body: jsonBody(`{}`)}, "redeliverSince": {body: jsonBody(`{"since":"2026-01-01T00:00:00Z"}`)},
		"moveTestClock": {body: jsonBody(`{"advance_seconds":1}`)}, "createApiKey": {body: jsonBody(`{"name":"a"}`)}, "createAgentKey": {body: jsonBody(`{"name":"a"}`)},
		"askForLink": {body: jsonBody(`{"email":"three@example.com"}`)}, "signIn": {body: form("token", "unknown")}, "showLink": {query: "?token=unknown"},
		"watchWorkspace": {query: "?follow=false"}, "watchNodeWorkspace": {query: "?follow=false"}, // the streams end
		"previewInspectedUpload": {body: jsonBody(`{}`)}, "previewUpload": {body: jsonBody(`{"frame":2}`)},
		"getPreviewImage":  {query: "?expires=9999999999&signature=unknown"},
		"downloadArtifact": {query: "?expires=9999999999&signature=unknown"},
	}
	return w
}

// deadReceiver is an address without a listener.
const deadReceiver = "https://127.0.0.1:1024/"

// endpoint makes a webhook endpoint of the owner's.
func (w *world) endpoint() (endpointID string) {
	w.t.Helper()
	return w.call("POST", "/v1/webhook-endpoints", w.account, jsonBody(`{"url":"`+deadReceiver+`"}`)).text("endpoint_id")
}

// filter saves a filter of the owner's.
func (w *world) filter() (filterID string) {
	w.t.Helper()
	return w.signedIn(w.service.owner).do("POST", "/v1/workspace/filters", jsonBody(`{"name":"hero","tag":"hero"}`)).text("filter_id")
}

// credentials makes a credential of each kind; ended ones are revoked or signed out.
func (w *world) credentials(email string, ended bool) credentials {
	w.t.Helper()
	p := credentials{sessionKind: w.open(email)}
	ctx := context.Background()
	err := w.app.DB.Write(ctx, func(tx *db.Tx) error {
		who, err := identity.CreateWorkspace(ctx, tx, email)
		if err != nil {
			return err
		}
		owner := identity.Principal{WorkspaceID: who.WorkspaceID, Credential: identity.Credential{Kind: identity.SessionCredential, PersonID: who.PersonID}}
		account, err := identity.CreateOwnAccountKey(ctx, tx, owner, "account", false)
		if err != nil {
			return err
		}
		agent, err := identity.CreateAgentKey(ctx, tx, who.WorkspaceID, identity.AgentTerms{Name: "agent"})
		if err != nil {
			return err
		}
		node, err := identity.CreateNodeKey(ctx, tx, "node")
		if err != nil {
			return err
		}
		p[accountKind], p[agentKind], p[nodeKind] = account.Secret, agent.Secret, node.Secret
		if !ended {
			return nil
		}
		for _, key := range []identity.NewKey{account, agent, node} {
			if err := identity.Revoke(ctx, tx, key.KeyID); err != nil {
				return err
			}
		}
		return identity.SignOut(ctx, tx, p[sessionKind])
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// open opens a session.
func (w *world) open(email string) string {
	w.t.Helper()
	b := newBrowser(w.t, w.base)
	a := b.do("POST", "/v1/auth/callback", form("token", w.link(email)))
	cookie, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if err != nil {
		w.t.Fatal(err)
	}
	return cookie.Value
}
