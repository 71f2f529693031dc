package api

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
)

// exemplify gives every JSON body of the document an example, of the types that
// the handlers use: what is wrong with one, the compiler or a test says. Links
// are made by at.
func exemplify(doc *huma.OpenAPI, at links.Links) {
	bodies, own := bodyExamples(at), operationExamples(at)
	refusals := refusalExamples()
	doc.Components.Examples = map[string]*huma.Example{} // of the codes that some route can answer with
	for _, path := range doc.Paths {
		for _, op := range operations(path) {
			if op.RequestBody != nil {
				show(op.RequestBody.Content, own[op.OperationID].request, bodies)
			}
			for status, r := range op.Responses {
				if status < "4" {
					show(r.Content, own[op.OperationID].answer, bodies)
				}
			}
			for _, code := range codesOf(op) {
				doc.Components.Examples[string(code)] = refusals[code]
				showRefusal(op, code)
			}
		}
	}
}

// show sets the example of a JSON body, or of a form: the operation's own, else
// that of its schema.
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

// showRefusal names an example at the status of a code.
func showRefusal(op *huma.Operation, code fault.Code) {
	media := op.Responses[fmt.Sprint(fault.Lookup(code).Status)].Content["application/json"]
	if media.Examples == nil {
		media.Examples = map[string]*huma.Example{}
	}
	media.Examples[string(code)] = &huma.Example{Ref: "#/components/examples/" + string(code)}
}

// refusalExamples are an error body for each code.
func refusalExamples() map[fault.Code]*huma.Example {
	details := map[fault.Code]any{
		fault.InvalidRequest:               []fault.FieldDetail{{Location: "body.quote_id", Message: "is required"}},
		fault.InsufficientFunds:            map[string]int{"required_cents": 250, "available_cents": 100},
		fault.EngineNotSupported:           map[string]string{"engine": "BLENDER_EEVEE", "required": "CYCLES"},
		fault.IdempotencyHeadersIncomplete: map[string][]string{"missing": {svcRenderer, svcSizeBytes}},
	}
	examples := map[fault.Code]*huma.Example{}
	for _, row := range fault.Table() {
		if row.Door != fault.DoorAPI {
			continue
		}
		e := fault.New(row.Code, "%s.", sentence(row.Code)).With(details[row.Code])
		if row.Code == fault.RateLimited {
			e.RetryAfter = exampleWait
		}
		_, body := fault.Envelope(e, exampleRequestID)
		examples[row.Code] = &huma.Example{Summary: row.Action, Value: body}
	}
	return examples
}

// sentence writes a code as words.
func sentence(code fault.Code) string {
	text := strings.ReplaceAll(string(code), "_", " ")
	return strings.ToUpper(text[:1]) + text[1:]
}
