package sdk

import (
	"fmt"
	"slices"
	"strings"
)

// Operation is what the SDKs offer of operations of the OpenAPI document.
type Operation struct {
	IDs    []string
	Method string   // in snake_case; "" for none
	Why    string   // why the SDKs have no method, or only some of them
	Not    []string // the languages without the method
}

// Operations is the table of operations by SDK. Each operation of the OpenAPI document is in one
// row. To add one: name its method here, or say why it has none.
func Operations() []Operation {
	const (
		browser = "It belongs to a person who has signed in, in a browser."
		steps   = "`inspect` and `start` do the same in fewer steps."
		call    = "For pages and tools: ask them with `call`."
	)
	rows := offered()
	for _, r := range []struct{ why, ids string }{
		{steps, "createUpload createRender submitRender preflightRender"},
		{call, "getRootOpenAPI getOpenAPI"},
		{call, "compareLeaderboardGPUs getLeaderboardGPU listLeaderboardGPUs getLeaderboardLatest getLeaderboardRank getLeaderboardResult searchLeaderboard getLeaderboardStats getLeaderboardTop"},
		{call, "saveFilter changeFilter deleteFilter"},
		{browser, "createAgentKey listApiKeys createApiKey revokeApiKey setProofPages"},
		{browser, "showLink signIn askForLink finishOpenID startOpenID getSession signOut"},
		{"Stripe calls it.", "receiveStripeEvent"},
	} {
		rows = append(rows, Operation{IDs: strings.Fields(r.ids), Why: r.why})
	}
	return rows
}

// offered are the operations for which there is a method.
func offered() []Operation {
	both := func(name string) []string {
		return []string{"get" + name, "getRender" + strings.TrimPrefix(name, "Job")}
	}
	return slices.Concat([]Operation{
		{IDs: []string{"inspectUpload"}, Method: "inspect"},
		{IDs: []string{"createProject", "sendPart"}, Method: "inspect_project"},
		{IDs: []string{"quoteUpload"}, Method: "quote"},
		{IDs: []string{"rerenderJob", "rerenderRender"}, Method: "rerender"},
		{IDs: []string{"previewInspectedUpload", "getInspectedUploadPreview", "previewUpload", "getUploadPreview"}, Method: "preview"},
		{IDs: []string{"getPreviewImage"}, Method: "preview_image"},
		{IDs: []string{"getInspectedUpload", "getUpload"}, Method: "upload"},
		{IDs: []string{"deleteInspectedUpload", "deleteUpload"}, Method: "delete_upload"},
		{IDs: []string{"startUpload"}, Method: "start"},
		{IDs: []string{"getJob", "getRender"}, Method: "job"},
		{IDs: []string{"listJobs", "listRenders"}, Method: "jobs"},
		{IDs: []string{"cancelJob", "cancelRender"}, Method: "cancel"},
		{IDs: []string{"pauseJob", "pauseRender"}, Method: "pause"},
		{IDs: []string{"resumeJob", "resumeRender"}, Method: "resume"},
		{IDs: []string{"setJobPriority", "setRenderPriority"}, Method: "set_priority"},
		{IDs: []string{"setJobTags", "setRenderTags"}, Method: "set_tags"},
		{IDs: []string{"watchJob", "watchRender"}, Method: "follow"},
		{IDs: []string{"listJobFrames", "listRenderFrames"}, Method: "frames"},
		{IDs: both("JobFrameFile"), Method: "frame_file"},
		{IDs: both("JobFramePreview"), Method: "frame_preview"},
		{IDs: both("JobLog"), Method: "log"},
		{IDs: both("JobContactSheet"), Method: "contact_sheet"},
		{IDs: both("JobLoop"), Method: "loop"},
		{IDs: both("JobMovie"), Method: "movie"},
		{IDs: both("JobDownload"), Method: "artifact"},
		{IDs: []string{"downloadArtifact"}, Method: "download"},
		{IDs: both("JobReceipt"), Method: "receipt"},
		{IDs: both("JobProof"), Method: "proof"},
		{IDs: []string{"shareJob", "shareRender"}, Method: "share"},
		{IDs: both("JobShare"), Method: "job_share"},
		{IDs: []string{"allowJobComments", "allowRenderComments"}, Method: "allow_comments"},
		{IDs: []string{"listJobComments", "listRenderComments"}, Method: "comments"},
		{IDs: []string{"unshareJob", "unshareRender"}, Method: "unshare"},
		{IDs: []string{"listJobShares", "listRenderShares"}, Method: "shares"},
	}, offeredToWorkspaces())
}

func offeredToWorkspaces() []Operation {
	return []Operation{
		{IDs: []string{"listSigningKeys"}, Method: "signing_keys"},
		{IDs: []string{"getWallet"}, Method: "wallet"},
		{IDs: []string{"setWalletAlert"}, Method: "set_wallet_alert"},
		{IDs: []string{"listTransactions"}, Method: "transactions"},
		{IDs: []string{"getSpend"}, Method: "spend"},
		{IDs: []string{"listFilters"}, Method: "saved_filters"},
		{IDs: []string{"listAgentKeys"}, Method: "agent_keys"},
		{IDs: []string{"revokeAgentKey"}, Method: "revoke_agent_key"},
		{IDs: []string{"watchNodeWorkspace", "watchWorkspace"}, Method: "webhook_events", Not: []string{"Python", "TypeScript"},
			Why: "For development, as in `svc listen`; in production, receive the calls and check them with `verify_webhook`."},
		{IDs: []string{"listTopUps"}, Method: "top_ups"},
		{IDs: []string{"createTopUp"}, Method: "create_top_up"},
		{IDs: []string{"getTopUp"}, Method: "top_up"},
		{IDs: []string{"listInvoices"}, Method: "invoices"},
		{IDs: []string{"getInvoice"}, Method: "invoice"},
		{IDs: []string{"getInvoicePDF"}, Method: "invoice_pdf"},
		{IDs: []string{"listWebhookEndpoints"}, Method: "webhook_endpoints"},
		{IDs: []string{"createWebhookEndpoint"}, Method: "create_webhook_endpoint"},
		{IDs: []string{"getWebhookEndpoint"}, Method: "webhook_endpoint"},
		{IDs: []string{"changeWebhookEndpoint"}, Method: "update_webhook_endpoint"},
		{IDs: []string{"deleteWebhookEndpoint"}, Method: "delete_webhook_endpoint"},
		{IDs: []string{"testWebhookEndpoint"}, Method: "test_webhook_endpoint"},
		{IDs: []string{"rotateWebhookSecret"}, Method: "rotate_webhook_secret"},
		{IDs: []string{"listEndpointDeliveries"}, Method: "endpoint_deliveries"},
		{IDs: []string{"redeliverSince"}, Method: "redeliver_since"},
		{IDs: []string{"listWebhookDeliveries"}, Method: "webhook_deliveries"},
		{IDs: []string{"redeliverWebhook"}, Method: "redeliver_webhook"},
		{IDs: []string{"getPricing"}, Method: "pricing"},
		{IDs: []string{"getTestClock"}, Method: "test_clock"},
		{IDs: []string{"moveTestClock"}, Method: "move_test_clock"},
		{IDs: []string{"getHealth"}, Method: "health"},
		{IDs: []string{"getCapabilities"}, Method: "capabilities"},
		{IDs: []string{"getLimits"}, Method: "limits"},
	}
}

// Verb is what the SDKs offer beyond single operations. Functions that need no service are
// functions of the packages, the others methods of the client.
type Verb struct{ Does, Go, Python, TypeScript string }

// Verbs is the table of these.
func Verbs() []Verb {
	return []Verb{
		{"Price a scene, start it unless it is too dear, and put its frames into a folder", "Client.Render", "Client.render", "Client.render"},
		{"Put the frames of a job into a folder while it runs", "Client.Sync", "Client.sync", "Client.sync"},
		{"Get every event of a job once", "Client.Follow", "Client.follow", "Client.follow"},
		{"Get the job once it has ended", "Client.Wait", "Client.wait", "Client.wait"},
		{"Verify a folder without a network", "VerifyFolder", "verify_folder", "verifyFolder"},
		{"Verify a receipt without a network", "Verify", "verify", "verify"},
		{"Verify a webhook call", "VerifyWebhook", "verify_webhook", "verifyWebhook"},
		{"Ask any other route", "Client.Call", "Client.call", "Client.call"},
	}
}

// Name is a method's name in a language, as its callers write it.
func Name(language, method string) string {
	if language == "Python" {
		return method
	}
	words := strings.Split(method, "_")
	for i, w := range words {
		if language == "Go" && w == "pdf" {
			words[i] = "PDF"
		} else if i > 0 || language == "Go" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// OperationsMarkdown is the table as a page.
func OperationsMarkdown() string {
	var b strings.Builder
	b.WriteString("# Operations by SDK\n\nPrinted from `sdk` by `make generate`; do not edit.\n\nIf you use an [SDK](sdk.md), look up here the method of each operation of [the OpenAPI document](openapi.json). `AsyncClient` of Python has the methods of `Client`.\n\n" +
		verbsMarkdown() + "\n## Operations\n\n| operation | Go | Python | TypeScript |\n|---|---|---|---|\n")
	var without strings.Builder
	for _, o := range Operations() {
		ids := "`" + strings.Join(o.IDs, "`, `") + "`"
		if o.Method == "" {
			fmt.Fprintf(&without, "| %s | %s |\n", ids, o.Why)
			continue
		}
		fmt.Fprintf(&b, "| %s |", ids)
		for _, language := range []string{"Go", "Python", "TypeScript"} {
			if slices.Contains(o.Not, language) {
				b.WriteString(" – |")
			} else {
				fmt.Fprintf(&b, " `%s` |", Name(language, o.Method))
			}
		}
		b.WriteString("\n")
		if o.Why != "" {
			fmt.Fprintf(&without, "| %s, in %s | %s |\n", ids, strings.Join(o.Not, " and "), o.Why)
		}
	}
	return b.String() + "\n## Without a method\n\n| operation | why |\n|---|---|\n" + without.String()
}

func verbsMarkdown() string {
	var b strings.Builder
	b.WriteString("## Beyond single operations\n\n| what it does | Go | Python | TypeScript |\n|---|---|---|---|\n")
	for _, v := range Verbs() {
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | `%s` |\n", v.Does, v.Go, v.Python, v.TypeScript)
	}
	return b.String()
}
