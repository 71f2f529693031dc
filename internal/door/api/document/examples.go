package document

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/fault"
)

// Examples are the examples of JSON bodies. Handlers' own types make them, so
// the compiler and a test find one that is wrong.
type Examples struct {
	// Bodies are by schema name.
	Bodies map[string]any
	// Operations are by operation id, where one differs from its schema's
	// example.
	Operations map[string]Example
}

// Example is what one operation sends and gets; nil means the schema's example.
type Example struct{ Request, Answer any }

// addExamples adds an example to every JSON body of the document, and to every
// error code that an operation can answer with.
func addExamples(doc *huma.OpenAPI, examples Examples) {
	bodies, own, refusals := examples.Bodies, examples.Operations, refusalExamples()
	doc.Components.Examples = map[string]*huma.Example{}
	for _, path := range doc.Paths {
		for _, op := range operations(path) {
			if op.RequestBody != nil {
				show(op.RequestBody.Content, own[op.OperationID].Request, bodies)
			}
			for status, r := range op.Responses {
				if status < "4" {
					show(r.Content, own[op.OperationID].Answer, bodies)
				}
			}
			for _, code := range codesOf(op) {
				doc.Components.Examples[string(code)] = refusals[code]
				showRefusal(op, code)
			}
		}
	}
}

// show sets the example of a body: the operation's own, otherwise its schema's.
func show(content map[string]*huma.MediaType, own any, bodies map[string]any) {
	for kind, media := range content {
		switch {
		case kind == "application/json" && media.Schema.Ref != "":
			media.Example = cmp.Or(own, bodies[strings.TrimPrefix(media.Schema.Ref, "#/components/schemas/")])
		case kind == "application/json":
			media.Example = own
		case kind == "text/event-stream":
			media.Example = own
		}
	}
}

// showRefusal lists the example of a code under its status. Examples of errors
// are shared components, because each code appears in many operations.
func showRefusal(op *huma.Operation, code fault.Code) {
	media := op.Responses[fmt.Sprint(fault.Lookup(code).Status)].Content["application/json"]
	if media.Examples == nil {
		media.Examples = map[string]*huma.Example{}
	}
	media.Examples[string(code)] = &huma.Example{Ref: "#/components/examples/" + string(code)}
}

// refusalExamples returns the error bodies, one for each code of the HTTP API and of operators.
func refusalExamples() map[fault.Code]*huma.Example {
	details := map[fault.Code]any{
		fault.InvalidRequest:               []fault.FieldDetail{{Location: "body.quote_id", Message: "is required"}},
		fault.InsufficientFunds:            map[string]int{"required_cents": 250, "available_cents": 100},
		fault.StorageLimitReached:          map[string]int64{"used_bytes": 5368700000, "limit_bytes": 5 << 30},
		fault.UploadInUse:                  map[string]int64{"jobs": 1},
		fault.EngineNotSupported:           map[string]string{"engine": "BLENDER_EEVEE", "required": "CYCLES"},
		fault.IdempotencyHeadersIncomplete: map[string][]string{"missing": {"X-Svc-Renderer", "X-Svc-Size-Bytes"}},
	}
	examples := map[fault.Code]*huma.Example{}
	for _, row := range fault.Table() {
		if row.Door != fault.DoorAPI && row.Door != fault.DoorOperator {
			continue
		}
		e := fault.New(row.Code, "%s.", sentence(row.Code)).With(details[row.Code])
		if row.Code == fault.RateLimited {
			e.RetryAfter = sample.RetryAfter
		}
		_, body := fault.Envelope(e, sample.RequestID)
		examples[row.Code] = &huma.Example{Summary: row.Action, Value: body}
	}
	return examples
}

// sentence writes a code as words, as the example's message.
func sentence(code fault.Code) string {
	text := strings.ReplaceAll(string(code), "_", " ")
	return strings.ToUpper(text[:1]) + text[1:]
}
