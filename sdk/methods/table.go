package main

import (
	"slices"
	"strings"
)

// types name one type in each language.
type types struct{ inGo, inPython, inTypescript string }

// value is something that a method is told: a member of what it sends, or of the query.
type value struct {
	name   string // in snake_case
	member string // "" for name
	types
	optional bool
	doc      string // of a member of a request of Go, after its name
}

// sentAs is the value's name on the wire.
func (v value) sentAs() string {
	if v.member != "" {
		return v.member
	}
	return v.name
}

// method is a method of all SDKs: it asks one route and returns its answer.
//
// To add one: add its row in table and run `make generate`, scripts/build-typescript-sdk and
// `make generate` again. A type that is missing in the SDKs is added to client/types.go or
// client/account.go, sdk/python/svc_render/wire.py and sdk/typescript/src/wire.ts.
type method struct {
	name        string // in snake_case
	verb, path  string // names in braces are parameters
	accountPath string // for account keys, where that is another path
	of          string // "job" or "upload": path is below that of the one with this id; "" for neither
	body        []value
	query       []value // of a list, at most one
	key         string  // of a list, the member that names the last item of a page; "" for no list
	once        bool    // a repetition would do it again
	keyed       bool    // a repetition is known by its Idempotency-Key
	member      string  // of the answer, that is returned; "" for the whole answer
	schema      string  // of the answer in the OpenAPI document, where member is set and key is not
	types               // inGo is "" for a method of Go that returns an error alone
	doc         string
	docGo       string // "" for doc
}

// pathParts is the path without its parameters, and these.
func (m method) pathParts() (parts, ids []string) {
	rest := m.path
	for {
		before, after, found := strings.Cut(rest, "{")
		parts = append(parts, before)
		if !found {
			return parts, ids
		}
		id, next, _ := strings.Cut(after, "}")
		ids, rest = append(ids, id), next
	}
}

// setting is what a start says besides its quote and the terms: a text, or texts where list
// is set.
type setting struct {
	name, docGo string
	list        bool
}

func settings() []setting {
	return []setting{
		{"webhook_url", "WebhookURL is an https address of a public host that gets a call when the job ends; \"\" for none.", false},
		{"webhook_secret", "WebhookSecret signs those calls: 16 characters or more. When it is empty the service makes one, which Start returns once in Job.WebhookSecret.", false},
		{"tags", "Tags are what the workspace calls the job: at most 10, of at most 32 characters each. Without any, a job that renders frames again has the tags of the earlier one.", true},
	}
}

// anything is an answer whose members SDKs of dynamic languages do not name.
const anything = "Dict[str, Any]"

func table() []method {
	return slices.Concat(ofJobs(), ofWallet(), ofWebhooks(), ofService())
}

var text = types{"string", "str", "string"}

func ofJobs() []method {
	job, share := types{"Job", "Job", "Job"}, types{"Share", "Share", "Share"}
	return []method{
		{name: "job", verb: "GET", of: "job", types: job, doc: "The job as it is now.",
			docGo: "Job reads a job. Error: *Error with render_not_found, also for another workspace's job."},
		{name: "cancel", verb: "POST", path: "/cancel", of: "job", types: job, doc: "Ends a job that no worker has claimed yet. It costs nothing.",
			docGo: "Cancel ends a job that no worker has claimed yet; later it is refused with render_not_cancellable. A cancelled job costs nothing: its whole reserve is released."},
		{name: "pause", verb: "POST", path: "/pause", of: "job", types: job, doc: "Keeps workers from taking more frames of the job. Frames that they have are finished.",
			docGo: "Pause keeps workers from taking more frames of a queued or rendering job; frames that they have are finished. Error: *Error with render_not_pausable."},
		{name: "resume", verb: "POST", path: "/resume", of: "job", types: job, doc: "Lets workers take frames of a paused job again.",
			docGo: "Resume lets workers take frames of a paused job again. Errors: *Error with render_not_pausable or paused_by_operator."},
		{name: "set_priority", verb: "PUT", path: "/priority", of: "job", body: []value{{name: "priority", member: "priority", types: types{"int", "int", "number"}}}, types: job,
			doc:   "Orders the job among those of its workspace: a higher priority, 1 to 100, comes first.",
			docGo: "SetPriority orders a queued or rendering job among those of its workspace: a higher priority, 1 to 100, comes first. A new job has 50. Error: *Error with render_not_pausable."},
		{name: "set_tags", verb: "PUT", path: "/tags", of: "job", body: []value{{name: "tags", member: "tags", types: types{"[]string", "List[str]", "string[]"}}}, types: job,
			doc:   "Gives the job these tags in place of those that it has: at most 10, of at most 32 characters each.",
			docGo: "SetTags gives a job these tags in place of those that it has, in whatever state it is: at most 10, of at most 32 characters each. An empty list, not nil, removes all."},
		{name: "frames", verb: "GET", path: "/frames", of: "job", member: "frames", schema: "RenderFrames", types: types{"[]Frame", "List[Frame]", "Frame[]"},
			doc:   "The frames that are accepted so far, by number.",
			docGo: "Frames lists the frames of a job that are accepted so far, by number. Error: *Error with render_not_found."},
		{name: "artifact", verb: "GET", path: "/download", of: "job", member: "download", schema: "RenderDownload", types: types{"Artifact", "Artifact", "Artifact"},
			doc:   "Where the ZIP of a completed job is. Each call makes a new link.",
			docGo: "Artifact returns where the ZIP of a completed job can be fetched. Each call makes a new link, which works for a while only. Error: *Error with render_not_completed or artifact_expired."},
		{name: "receipt", verb: "GET", path: "/receipt", of: "job", types: types{"Receipt", anything, "ReceiptAnswer"},
			doc:   "The receipt of a completed job. Believe it once it is verified.",
			docGo: "Receipt reads the receipt of a completed job, which [Verify] checks."},
		{name: "proof", verb: "GET", path: "/proof", of: "job", types: types{"Proof", anything, "Proof"},
			doc:   "The proof that the receipt is in the service's log.",
			docGo: "Proof reads the proof that a completed job's receipt is in the log; [VerifyLog] checks it."},
		{name: "share", verb: "POST", path: "/share", of: "job", keyed: true, types: share,
			body: []value{{name: "expires_at", types: types{"*time.Time", "str", "string"}, optional: true, doc: "is when the link ends; nil for in 30 days."},
				{name: "download", types: types{"bool", "bool", "boolean"}, optional: true, doc: "lets visitors download the frames at full size, and the ZIP."},
				{name: "proof", types: types{"*bool", "bool", "boolean"}, optional: true, doc: "shows the proof of the job, which includes its price; nil for yes."},
				{name: "comments", types: types{"bool", "bool", "boolean"}, optional: true, doc: "lets visitors comment on frames, which everyone with the link sees."}},
			doc:   "Makes a public page of the job's frames, and ends an earlier link. Only this answer has the address, share_url. It ends in 30 days unless expires_at, a time in RFC 3339, says otherwise.",
			docGo: "Share makes a public page of a job's frames, and ends an earlier link. Only this answer has the address, ShareURL."},
		{name: "job_share", verb: "GET", path: "/share", of: "job", types: share, doc: "The public page of a job, without its address, and how often it was opened.",
			docGo: "JobShare reads the public page of a job, without its address, and how often it was opened."},
		{name: "allow_comments", verb: "PUT", path: "/share/comments", of: "job", body: []value{{name: "allowed", types: types{"bool", "bool", "boolean"}}}, types: share,
			doc:   "Lets visitors of the job's public page comment on frames, or closes and hides the comments.",
			docGo: "AllowComments lets visitors of a job's public page comment on frames, or closes and hides the comments. Error: *Error with share_not_found."},
		{name: "comments", verb: "GET", path: "/comments", of: "job", member: "comments", schema: "JobComments", types: types{"[]FrameComment", "List[FrameComment]", "FrameComment[]"},
			doc: "What visitors of the job's public pages wrote about frames, newest first.", docGo: "Comments lists what visitors of a job's public pages wrote about frames, newest first."},
		{name: "unshare", verb: "DELETE", path: "/share", of: "job", types: types{"", anything, `Schemas["ShareEnded"]`}, doc: "Ends the public page of a job at once.",
			docGo: "Unshare ends the public page of a job at once."},
		{name: "shares", verb: "GET", path: "/node/v1/shares", accountPath: "/v1/workspace/shares", member: "shares", schema: "SharedJobs", types: types{"[]Share", "List[Share]", "Share[]"},
			doc: "The public pages of the workspace's jobs, newest first.", docGo: "Shares lists the public pages of the workspace's jobs, newest first."},
		{name: "saved_filters", verb: "GET", path: "/v1/workspace/filters", member: "filters", schema: "FiltersOutput", types: types{"[]SavedFilter", "List[SavedFilter]", "SavedFilter[]"},
			doc:   "The searches that the maker of the key has saved in this workspace, by name. Ask for the list of jobs with their members.",
			docGo: "SavedFilters lists the searches that the maker of the key has saved in this workspace, by name. [SavedFilter.Request] selects their jobs."},
		{name: "upload", verb: "GET", of: "upload", types: types{"Quote", "Quote", "Quote"},
			doc:   "An inspected upload with its newest quote; one that has expired is replaced. It spends nothing.",
			docGo: "Upload reads an inspected upload with its newest quote; one that has expired is replaced. It spends nothing. Error: *Error with upload_not_found."},
		{name: "delete_upload", verb: "DELETE", of: "upload", types: types{"", anything, `Schemas["UploadDeleted"]`},
			doc:   "Deletes an upload that no running job needs, which frees its storage at once.",
			docGo: "DeleteUpload deletes an upload that no running job needs, which frees its storage at once. Error: *Error with upload_not_found or upload_in_use."},
		{name: "signing_keys", verb: "GET", path: "/v1/signing-keys", member: "keys", schema: "SigningKeys", types: types{"[]SigningKey", "List[SigningKey]", "SigningKey[]"},
			doc:   "The keys with which receipts are or were signed. Keep them: keys from the server that you check prove less.",
			docGo: "SigningKeys lists the public keys with which receipts are or were signed. The route is public. Keep the keys that you trust: those from the server that you check prove less."},
	}
}

func ofWallet() []method {
	wallet := types{"Wallet", "Wallet", "Wallet"}
	topUp, invoice := types{"TopUp", "TopUp", "TopUp"}, types{"Invoice", anything, `Schemas["Invoice"]`}
	return []method{
		{name: "wallet", verb: "GET", path: "/v1/wallet", types: wallet, doc: "The balance.", docGo: "Wallet reads the balance."},
		{name: "set_wallet_alert", verb: "PUT", path: "/v1/wallet/alert", body: []value{{name: "cents", member: "below_cents", types: types{"int64", "int", "number"}}}, types: wallet,
			doc:   "Has the workspace told when less than so many cents are available, by mail and by the event wallet.low; 0 means never. It takes an account key.",
			docGo: "SetWalletAlert has the workspace told when less than cents is available, by mail and by the event wallet.low; 0 means never. It takes an account key."},
		{name: "top_ups", verb: "GET", path: "/v1/wallet/top-ups", member: "top_ups", key: "top_up_id", types: topUp, doc: "The payments into the wallet, newest first. It takes an account key.",
			docGo: "TopUps yields the payments into the wallet, newest first, at most limit; 0 for all. It takes an account key."},
		{name: "create_top_up", verb: "POST", path: "/v1/wallet/top-ups", once: true, types: topUp, body: []value{{name: "amount_cents", types: types{"int64", "int", "number"}}},
			doc:   "Begins a payment into the wallet. A person pays at checkout_url. It takes an account key.",
			docGo: "CreateTopUp begins a payment into the wallet. A person pays at CheckoutURL. It takes an account key."},
		{name: "top_up", verb: "GET", path: "/v1/wallet/top-ups/{top_up_id}", types: topUp, doc: "A payment into the wallet, which has the money once its status is paid. It takes an account key.",
			docGo: "TopUp reads a payment into the wallet, which has the money once its status is paid. It takes an account key."},
		{name: "invoices", verb: "GET", path: "/v1/wallet/invoices", member: "invoices", key: "number", types: invoice, doc: "The invoices, receipts and credit notes of the workspace, newest first. It takes an account key.",
			docGo: "Invoices yields the invoices, receipts and credit notes of the workspace, newest first, at most limit; 0 for all. It takes an account key."},
		{name: "invoice", verb: "GET", path: "/v1/wallet/invoices/{number}", types: invoice, doc: "An invoice, a receipt or a credit note. It takes an account key.",
			docGo: "Invoice reads an invoice, a receipt or a credit note. It takes an account key."},
	}
}

func ofWebhooks() []method {
	endpoint, delivery := types{"WebhookEndpoint", "WebhookEndpoint", "WebhookEndpoint"}, types{"Delivery", "Delivery", "Delivery"}
	return []method{
		{name: "webhook_endpoints", verb: "GET", path: "/v1/webhook-endpoints", member: "endpoints", schema: "WebhookEndpoints", types: types{"[]WebhookEndpoint", "List[WebhookEndpoint]", "WebhookEndpoint[]"},
			doc:   "The addresses that are told when a job of the workspace ends, newest first. It takes an account key, as all methods about webhooks do.",
			docGo: "WebhookEndpoints lists the addresses that are told when a job of the workspace ends, newest first. It takes an account key, as all methods about webhooks do."},
		{name: "create_webhook_endpoint", verb: "POST", path: "/v1/webhook-endpoints", once: true, types: endpoint,
			body: []value{{name: "url", types: text, doc: "is an https address of a public host."}, {name: "description", types: text, optional: true, doc: "is for people."},
				{name: "secret", types: text, optional: true, doc: "signs the calls; \"\" for one that the service makes, and shows in this answer only."}},
			doc:   "Has an address told when a job of the workspace ends. Without a secret the service makes one, which only this answer has.",
			docGo: "CreateWebhookEndpoint has an address told when a job of the workspace ends."},
		{name: "webhook_endpoint", verb: "GET", path: "/v1/webhook-endpoints/{endpoint_id}", types: endpoint, doc: "A webhook endpoint.", docGo: "WebhookEndpoint reads a webhook endpoint."},
		{name: "update_webhook_endpoint", verb: "PATCH", path: "/v1/webhook-endpoints/{endpoint_id}", types: endpoint,
			body: []value{{name: "url", types: text, optional: true, doc: "is where calls go from now on."}, {name: "description", types: types{"*string", "str", "string"}, optional: true, doc: "is for people."},
				{name: "enabled", types: types{"*bool", "bool", "boolean"}, optional: true, doc: "is false for an endpoint that is told nothing."}},
			doc: "Changes what is given of a webhook endpoint.", docGo: "UpdateWebhookEndpoint changes what is given of a webhook endpoint."},
		{name: "delete_webhook_endpoint", verb: "DELETE", path: "/v1/webhook-endpoints/{endpoint_id}", types: types{"", anything, `Schemas["WebhookEndpointDeleted"]`},
			doc: "Ends a webhook endpoint at once.", docGo: "DeleteWebhookEndpoint ends a webhook endpoint at once."},
		{name: "test_webhook_endpoint", verb: "POST", path: "/v1/webhook-endpoints/{endpoint_id}/test", once: true, member: "delivery", schema: "WebhookDelivery", types: delivery,
			doc: "Sends the event webhook.test to an endpoint.", docGo: "TestWebhookEndpoint sends the event webhook.test to an endpoint."},
		{name: "rotate_webhook_secret", verb: "POST", path: "/v1/webhook-endpoints/{endpoint_id}/rotate-secret", once: true, types: types{"RotatedSecret", anything, `Schemas["WebhookSecretRotated"]`},
			body:  []value{{name: "secret", types: text, optional: true, doc: "is the new one; \"\" for one that the service makes, and shows in this answer only."}},
			doc:   "Gives an endpoint another secret. Calls are signed with both until previous_expires_at.",
			docGo: "RotateWebhookSecret gives an endpoint another secret. Calls are signed with both until PreviousExpiresAt."},
		{name: "endpoint_deliveries", verb: "GET", path: "/v1/webhook-endpoints/{endpoint_id}/deliveries", member: "deliveries", key: "delivery_id", types: delivery,
			query: []value{{name: "status", types: text, optional: true}},
			doc:   "The calls of an endpoint, newest first, all or those that are pending, delivered or failed.",
			docGo: "EndpointDeliveries yields the calls of an endpoint, newest first, at most limit; 0 for all. status is pending, delivered or failed; \"\" for any."},
		{name: "redeliver_since", verb: "POST", path: "/v1/webhook-endpoints/{endpoint_id}/redeliver", once: true, types: types{"Redelivered", anything, `Schemas["WebhooksRedelivered"]`},
			body:  []value{{name: "since", types: types{"time.Time", "str", "string"}}},
			doc:   "Sends an endpoint again what it has not taken since a time in RFC 3339.",
			docGo: "RedeliverSince sends an endpoint again what it has not taken since a time."},
		{name: "webhook_deliveries", verb: "GET", path: "/v1/renders/{job_id}/webhook-deliveries", member: "deliveries", schema: "WebhookDeliveries", types: types{"[]Delivery", "List[Delivery]", "Delivery[]"},
			doc: "The webhook calls about a job, newest first.", docGo: "WebhookDeliveries lists the webhook calls about a job, newest first."},
		{name: "redeliver_webhook", verb: "POST", path: "/v1/renders/{job_id}/webhook-deliveries/{delivery_id}/redeliver", once: true, member: "delivery", schema: "WebhookDelivery", types: delivery,
			doc: "Makes a webhook call about a job once more.", docGo: "RedeliverWebhook makes a webhook call about a job once more."},
	}
}

func ofService() []method {
	return []method{
		{name: "pricing", verb: "GET", path: "/v1/pricing", types: types{"Pricing", anything, `Schemas["Pricing"]`}, doc: "How renders are priced.", docGo: "Pricing reads how renders are priced. It needs no key."},
		{name: "test_clock", verb: "GET", path: "/v1/test/clock", types: types{"TestClock", anything, `Schemas["TestClock"]`}, doc: "The time of the test world. It takes a key of test mode.",
			docGo: "TestClock reads the time of the test world. It takes a key of test mode."},
		{name: "move_test_clock", verb: "POST", path: "/v1/test/clock", once: true, types: types{"TestClock", anything, `Schemas["TestClock"]`},
			body: []value{{name: "advance_seconds", types: types{"float64", "float", "number"}}}, doc: "Moves the time of the test world forward.",
			docGo: "MoveTestClock moves the time of the test world forward."},
		{name: "health", verb: "GET", path: "/v1/health", types: types{"Health", anything, `Schemas["Health"]`},
			doc: "Whether the service answers, and its clock.", docGo: "Health asks whether the service answers. It needs no key."},
		{name: "capabilities", verb: "GET", path: "/v1/capabilities", types: types{"Capabilities", anything, `Schemas["Capabilities"]`},
			doc: "What the service renders with, and whether it takes jobs.", docGo: "Capabilities reads them. It needs no key."},
		{name: "limits", verb: "GET", path: "/v1/limits", types: types{"Limits", anything, `Schemas["Limits"]`},
			doc: "The bounds that the service sets to callers.", docGo: "Limits reads them. It needs no key."},
	}
}
