package main

// types name one type in each language.
type types struct{ inGo, inPython, inTypescript string }

// value is what a method sends, the one member of a JSON object.
type value struct {
	name, member string
	types
}

// method is a method of all SDKs: it asks one route and returns its answer.
//
// To add one: add its row in table and run `make generate`, scripts/build-typescript-sdk and
// `make generate` again. A type that is missing in the SDKs is added to client/types.go,
// sdk/python/svc_render/wire.py and sdk/typescript/src/wire.ts.
type method struct {
	name       string // in snake_case
	verb, path string
	of         string // "job" or "upload": path is below that of the one with this id; "" for neither
	body       *value // nil for none
	member     string // of the answer, that is returned; "" for the whole answer
	schema     string // of the answer in the OpenAPI document, where member is set
	types             // inGo is "" for a method of Go that returns an error alone
	doc        string
	docGo      string // "" for doc
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
	job := types{"Job", "Job", "Job"}
	wallet := types{"Wallet", "Wallet", "Wallet"}
	return []method{
		{name: "job", verb: "GET", of: "job", types: job, doc: "The job as it is now.",
			docGo: "Job reads a job. Error: *Error with render_not_found, also for another workspace's job."},
		{name: "cancel", verb: "POST", path: "/cancel", of: "job", types: job, doc: "Ends a job that no worker has claimed yet. It costs nothing.",
			docGo: "Cancel ends a job that no worker has claimed yet; later it is refused with render_not_cancellable. A cancelled job costs nothing: its whole reserve is released."},
		{name: "pause", verb: "POST", path: "/pause", of: "job", types: job, doc: "Keeps workers from taking more frames of the job. Frames that they have are finished.",
			docGo: "Pause keeps workers from taking more frames of a queued or rendering job; frames that they have are finished. Error: *Error with render_not_pausable."},
		{name: "resume", verb: "POST", path: "/resume", of: "job", types: job, doc: "Lets workers take frames of a paused job again.",
			docGo: "Resume lets workers take frames of a paused job again. Errors: *Error with render_not_pausable or paused_by_operator."},
		{name: "set_priority", verb: "PUT", path: "/priority", of: "job", body: &value{"priority", "priority", types{"int", "int", "number"}}, types: job,
			doc:   "Orders the job among those of its workspace: a higher priority, 1 to 100, comes first.",
			docGo: "SetPriority orders a queued or rendering job among those of its workspace: a higher priority, 1 to 100, comes first. A new job has 50. Error: *Error with render_not_pausable."},
		{name: "set_tags", verb: "PUT", path: "/tags", of: "job", body: &value{"tags", "tags", types{"[]string", "List[str]", "string[]"}}, types: job,
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
		{name: "upload", verb: "GET", of: "upload", types: types{"Quote", "Quote", "Quote"},
			doc:   "An inspected upload with its newest quote; one that has expired is replaced. It spends nothing.",
			docGo: "Upload reads an inspected upload with its newest quote; one that has expired is replaced. It spends nothing. Error: *Error with upload_not_found."},
		{name: "delete_upload", verb: "DELETE", of: "upload", types: types{"", anything, `Schemas["UploadDeleted"]`},
			doc:   "Deletes an upload that no running job needs, which frees its storage at once.",
			docGo: "DeleteUpload deletes an upload that no running job needs, which frees its storage at once. Error: *Error with upload_not_found or upload_in_use."},
		{name: "signing_keys", verb: "GET", path: "/v1/signing-keys", member: "keys", schema: "SigningKeys", types: types{"[]SigningKey", "List[SigningKey]", "SigningKey[]"},
			doc:   "The keys with which receipts are or were signed. Keep them: keys from the server that you check prove less.",
			docGo: "SigningKeys lists the public keys with which receipts are or were signed. The route is public. Keep the keys that you trust: those from the server that you check prove less."},
		{name: "wallet", verb: "GET", path: "/v1/wallet", types: wallet, doc: "The balance.", docGo: "Wallet reads the balance."},
		{name: "set_wallet_alert", verb: "PUT", path: "/v1/wallet/alert", body: &value{"cents", "below_cents", types{"int64", "int", "number"}}, types: wallet,
			doc:   "Has the workspace told when less than so many cents are available, by mail and by the event wallet.low; 0 means never. It takes an account key.",
			docGo: "SetWalletAlert has the workspace told when less than cents is available, by mail and by the event wallet.low; 0 means never. It takes an account key."},
		{name: "health", verb: "GET", path: "/v1/health", types: types{"Health", anything, `Schemas["Health"]`},
			doc: "Whether the service answers, and its clock.", docGo: "Health asks whether the service answers. It needs no key."},
		{name: "capabilities", verb: "GET", path: "/v1/capabilities", types: types{"Capabilities", anything, `Schemas["Capabilities"]`},
			doc: "What the service renders with, and whether it takes jobs.", docGo: "Capabilities reads them. It needs no key."},
		{name: "limits", verb: "GET", path: "/v1/limits", types: types{"Limits", anything, `Schemas["Limits"]`},
			doc: "The bounds that the service sets to callers.", docGo: "Limits reads them. It needs no key."},
	}
}
