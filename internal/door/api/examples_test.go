package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"svc.example/internal/door/api"
)

// exampled is the document, as far as its examples go.
type exampled struct {
	Paths map[string]map[string]struct {
		OperationID string                              `json:"operationId"`
		RequestBody struct{ Content bodies }            `json:"requestBody"`
		Responses   map[string]struct{ Content bodies } `json:"responses"`
	} `json:"paths"`
	Components struct {
		Examples map[string]struct{ Value json.RawMessage } `json:"examples"`
	} `json:"components"`
}

// bodies are the forms of a body, by content type.
type bodies map[string]struct {
	Example  json.RawMessage
	Examples map[string]struct {
		Ref string `json:"$ref"`
	}
}

// TestEveryBodyHasAnExampleThatFitsItsSchema sends the examples through what
// real answers are checked by.
func TestEveryBodyHasAnExampleThatFitsItsSchema(t *testing.T) {
	t.Parallel()
	var d exampled
	if err := json.Unmarshal(api.Document(""), &d); err != nil {
		t.Fatal(err)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			ask := func(content []byte) *http.Request {
				filled := strings.NewReplacer("{n}", "1", "{key_id}", "key_"+strings.Repeat("0", 32)).Replace(path)
				r, err := http.NewRequestWithContext(t.Context(), strings.ToUpper(method), "https://svc.example"+filled, bytes.NewReader(content))
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			if body, there := op.RequestBody.Content["application/json"]; there {
				fits(t, op.OperationID, ask(body.Example), body.Example)
			}
			for status, r := range op.Responses {
				body, there := r.Content["application/json"]
				if !there {
					continue
				}
				examples := []json.RawMessage{body.Example}
				if status >= "4" {
					examples = nil
					for _, e := range body.Examples {
						examples = append(examples, d.Components.Examples[strings.TrimPrefix(e.Ref, "#/components/examples/")].Value)
					}
				}
				for _, e := range examples {
					if len(e) == 0 {
						t.Errorf("%s: %s has no example", op.OperationID, status)
						continue
					}
					number, err := strconv.Atoi(status)
					if err != nil {
						t.Fatal(err)
					}
					conforms(t, ask(nil), &http.Response{
						StatusCode: number, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(e)),
					}, e)
				}
				if len(examples) == 0 {
					t.Errorf("%s: %s has no example", op.OperationID, status)
				}
			}
		}
	}
}

// fits fails the test when an example is no body of the request.
func fits(t *testing.T, operation string, r *http.Request, example json.RawMessage) {
	t.Helper()
	if len(example) == 0 {
		t.Errorf("%s: the request has no example", operation)
		return
	}
	check, err := servedDocument()
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if err := check.requestBody(r, example); err != nil {
		t.Errorf("%s: the example of the request does not fit: %v", operation, err)
	}
}
