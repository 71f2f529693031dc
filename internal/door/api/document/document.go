// Package document completes the OpenAPI document that is made from the
// operations' types: tags, error codes of each operation, nullable members,
// names of schemas, and examples.
//
// What always holds: each operation lists every error code that it can answer
// with, and each JSON body has an example.
//
// The operations are in package api and the packages next to this one; they
// bring their own examples. Start reading at Finish, then operation_errors.go.
package document

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/front"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/idempotency"
)

// Document is the OpenAPI document as it is served and printed.
type Document struct {
	// Text returns the document, which it encodes at the first call: encoding
	// takes longer than everything else at a start. Callers share the bytes.
	Text func() []byte

	zipped func() []byte // the same, compressed once
}

// ServeHTTP implements http.Handler.
func (d Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, max-age=60")
	h.Add("Vary", "Accept-Encoding")
	text := d.Text
	if front.AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		text = d.zipped
	}
	_, _ = w.Write(text()) // a failed write means the caller is gone
}

// Finish adds to doc what no single operation describes: the document's own
// routes, the tags, the errors and the examples. doc must not change
// afterwards.
func Finish(doc *huma.OpenAPI, examples Examples) Document {
	describeDocument(doc)
	doc.Info.Description = "Blender Cycles renders at a locked price, with a signed receipt. " +
		"Prefer the Job API: inspect prices a file, start reserves the money. Every error has the same body; its code tells what to do."
	doc.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	doc.Tags = tags()
	return FinishOwn(doc, examples)
}

// FinishOwn is Finish for a document that describes itself and has tags of its own.
func FinishOwn(doc *huma.OpenAPI, examples Examples) Document {
	for _, path := range doc.Paths {
		for _, op := range operations(path) {
			complete(op)
		}
	}
	for _, schema := range doc.Components.Schemas.Map() {
		allowNull(schema)
	}
	openAnswers(doc)
	addExamples(doc, examples)
	text := sync.OnceValue(func() []byte {
		text, err := json.MarshalIndent(doc, "", "  ")
		if err != nil {
			panic(fmt.Errorf("write the OpenAPI document: %w", err)) // a programming error
		}
		return append(text, '\n')
	})
	return Document{text, sync.OnceValue(func() []byte { return front.Zip(text()) })}
}

// describeDocument adds the document's own routes, which huma does not serve.
func describeDocument(doc *huma.OpenAPI) {
	for id, path := range map[string]string{"getOpenAPI": "/v1/openapi.json", "getRootOpenAPI": "/openapi.json"} {
		doc.AddOperation(&huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{"Discovery"}, Summary: "This document",
			Responses: map[string]*huma.Response{"200": {
				Description: "The OpenAPI document", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}},
			}},
		})
	}
}

// tags returns the groups of operations in the order in which the reference
// shows them.
func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "Discovery", Description: "What the service renders, at what price, within which limits. Public."},
		{Name: "Job API", Description: "Inspect, quote, start and follow; with an agent key."},
		{Name: "Renders", Description: "The older flow: upload, then submit; with an account key."},
		{Name: "Webhooks", Description: "Who is told when a job ends, and what became of it."},
		{Name: "Workspace", Description: "The workspace's renders and its wallet."},
		{Name: "Results", Description: "Downloads by signed links."},
		{Name: "Proof", Description: "Keys and records that receipts are checked with."},
		{Name: "Leaderboard", Description: "Which GPU renders how fast, from signed benchmark receipts. Public."},
		{Name: "Keys", Description: "A person's keys for programs; with a browser session."},
		{Name: "Session", Description: "Signing in and out of a browser session."},
		{Name: "Test mode", Description: "The clock of a workspace's test world; with a key of test mode."},
	}
}

// operations returns the operations of a path that exist.
func operations(p *huma.PathItem) []*huma.Operation {
	return slices.DeleteFunc([]*huma.Operation{p.Get, p.Post, p.Put, p.Patch, p.Delete}, func(op *huma.Operation) bool { return op == nil })
}

// complete replaces the error responses of an operation, which huma guesses, by
// the error codes that the operation really has. Pages that an error can also
// be are kept.
func complete(op *huma.Operation) {
	if op.Security == nil {
		op.Security = []map[string][]string{} // public
	}
	describeKey(op)
	pages := map[string]*huma.MediaType{} // by status
	for status, r := range op.Responses {
		if status >= "4" {
			pages[status] = r.Content["text/html"]
			delete(op.Responses, status)
		}
	}
	for _, code := range codesOf(op) {
		number := fault.Lookup(code).Status
		status := strconv.Itoa(number)
		r := op.Responses[status]
		if r == nil {
			r = refusal(number)
			if pages[status] != nil {
				r.Content["text/html"] = pages[status]
			}
			op.Responses[status] = r
			r.Description += ": " + string(code)
			continue
		}
		r.Description += ", " + string(code)
	}
}

// describeKey describes the Idempotency-Key of an operation that accepts one
// and does not describe it itself.
func describeKey(op *huma.Operation) {
	described := slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == operation.IdempotencyKey })
	if described || !slices.Contains(codesOf(op), fault.IdempotencyKeyReused) {
		return
	}
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: operation.IdempotencyKey, In: "header", Description: "Repeating the request with it is safe: the answer is the first one's.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(idempotency.MaxKey)},
	})
}

// refusal describes an error status, whose body is the envelope of spec 7.
func refusal(status int) *huma.Response {
	r := &huma.Response{
		Description: http.StatusText(status),
		Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Error"}}},
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		r.Headers = map[string]*huma.Param{"WWW-Authenticate": {Description: "Bearer, with error=invalid_token for a key that is not good, and error=insufficient_scope and the scope for one that lacks it.", Schema: &huma.Schema{Type: huma.TypeString}}}
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		r.Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds to wait, where waiting helps.", Schema: &huma.Schema{Type: huma.TypeInteger}}}
	}
	return r
}

// closedAnswer is the one answer whose schema admits no other members (spec 2.3).
const closedAnswer = "Webhooks"

// openAnswers lets answers gain members: a client that is made from the document must not
// fail at them. Requests stay closed, as they are read.
func openAnswers(doc *huma.OpenAPI) {
	schemas, sent := doc.Components.Schemas, map[string]bool{}
	var mark func(s *huma.Schema)
	mark = func(s *huma.Schema) {
		if s == nil {
			return
		}
		if name := strings.TrimPrefix(s.Ref, "#/components/schemas/"); s.Ref != "" && !sent[name] {
			sent[name] = true
			mark(schemas.Map()[name])
		}
		mark(s.Items)
		for _, member := range s.Properties {
			mark(member)
		}
	}
	for _, path := range doc.Paths {
		for _, op := range operations(path) {
			if op.RequestBody != nil {
				for _, content := range op.RequestBody.Content {
					mark(content.Schema)
				}
			}
		}
	}
	for name, schema := range schemas.Map() {
		if more, told := schema.AdditionalProperties.(bool); told && !more && !sent[name] && name != closedAnswer {
			schema.AdditionalProperties = nil
		}
	}
	// A method of what the generator ogen makes has the same name as this member.
	if times := schemas.Map()["FrameTimes"]; times != nil {
		times.Extensions = map[string]any{"x-ogen-properties": map[string]any{"encode": map[string]string{"name": "EncodeSeconds"}}}
	}
}

// allowNull corrects what huma cannot express: an enumeration that may be null
// must list null, and a reference to a schema needs oneOf to be nullable.
func allowNull(schema *huma.Schema) {
	for name, member := range schema.Properties {
		switch {
		case member.Nullable && len(member.Enum) > 0:
			member.Enum = append(member.Enum, nil)
		case (name == "failure" || name == "estimate" || name == "eta_range" || name == "frozen" || name == "percentile_distribution" || name == "low_balance" && slices.Contains(schema.Required, name)) && member.Ref != "":
			schema.Properties[name] = &huma.Schema{Description: member.Description, OneOf: []*huma.Schema{{Ref: member.Ref}, {Type: "null"}}}
		}
	}
}

// SchemaName returns the published name of a type's schema. hint names types
// that have no name. Client generators make type names of these, so they must
// not change with the Go names.
func SchemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if published, known := publishedNames()[name]; known {
		return published
	}
	return strings.TrimSuffix(name, "Body")
}

// publishedNames lists the names that differ from the type's.
func publishedNames() map[string]string {
	return map[string]string{
		// File and Session would hide a type of every browser's, and a credential of ogen's.
		"File": "StoredFile", "SessionBody": "BrowserSession", "Times": "FrameTimes",
		"Body": "Error", "Wire": "ErrorDetail", "Object": "RenderObject", "QuoteBody": "LockedQuote", "ReceiptEnvelope": "Envelope",
		"RendererBody": "OfferedRenderer", "FrameBody": "RenderFrame", "FrameOutputBody": "RenderFrameOutput", "DownloadOutputBody": "RenderDownload", "ReceiptOutputBody": "RenderReceipt",
		"ProofOutputBody": "Proof", "RendersOutputBody": "WorkspaceRenders", "WalletOutputBody": "Wallet", "TransactionsOutputBody": "WalletTransactions",
		"TransactionBody": "WalletTransaction", "SpendOutputBody": "Spend", "FramesOutputBody": "RenderFrames", "PreflightInputBody": "PreflightRequest",
		"PreflightOutputBody": "Preflight", "StartInputBody": "StartRequest", "RequoteInputBody": "QuoteRequest", "ProjectInputBody": "ProjectRequest", "Listed": "ProjectFile", "RerenderInputBody": "RerenderRequest", "PriorityInputBody": "PriorityRequest", "TagsInputBody": "TagsRequest", "SigningKeysOutputBody": "SigningKeys",
		"SignOutOutputBody": "SignedOut", "OkOutputBody": "Done", "DeletedOutputBody": "UploadDeleted", "AskLinkInputBody": "LinkRequest",
		"TopBody": "LeaderboardTop", "StatsBody": "LeaderboardStats", "ResultBody": "LeaderboardResult", "GpuBody": "LeaderboardGPU", "GpusBody": "LeaderboardGPUs",
		"ComparisonBody": "LeaderboardComparison", "FoundBody": "LeaderboardSearch", "LatestBody": "LeaderboardLatest", "RankBody": "LeaderboardRank",
		"TopRow": "LeaderboardTopRow", "Row": "LeaderboardRow", "Figures": "GPUFigures", "Hit": "SearchHit", "Place": "Placement",
		"Versions": "BenchmarkVersions", "Distribution": "PercentileDistribution",
		"ShareBody": "JobShare", "Share": "SharedJob", "SharesOutputBody": "SharedJobs", "ShareEndedOutputBody": "ShareEnded", "ShareInputBody": "ShareRequest", "AllowInputBody": "CommentsRequest", "CommentsOutputBody": "JobComments", "Comment": "FrameComment",
		"OrderPreviewInputBody": "PreviewRequest", "Estimate": "PreviewEstimate", "Cause": "PreviewFailure",
		"LimitsBodyAvailabilityStruct": "LimitsAvailability", "LimitsBodyRateLimitStruct": "RateLimit",
	}
}
