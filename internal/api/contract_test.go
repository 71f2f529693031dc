package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"

	"svc.example/internal/api"
	"svc.example/internal/fault"
)

// servedDocument checks answers against the document that the service serves, made
// once: it is the same for every service but for the address.
var servedDocument = sync.OnceValues(func() (validator.Validator, error) {
	doc, err := libopenapi.NewDocument(api.Document(""))
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(doc, config.WithFormatAssertions())
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return v, nil
})

// conforms fails the test when an answer is not what the document says: an
// undocumented status, content type or member.
func conforms(t *testing.T, r *http.Request, res *http.Response, text []byte) {
	t.Helper()
	check, err := servedDocument()
	if err != nil {
		t.Fatal(err)
	}
	var refused fault.Body
	if res.StatusCode >= 400 && json.Unmarshal(text, &refused) == nil {
		if code := refused.Error.Code; code == fault.RouteNotFound || code == fault.MethodNotAllowed {
			return // no route, so none that is described
		}
	}
	seen := *res
	seen.Body = io.NopCloser(bytes.NewReader(text))
	if ok, errs := check.ValidateHttpResponse(r, &seen); !ok {
		for _, e := range errs {
			t.Errorf("%s %s: %d is not what the document says: %s: %s", r.Method, r.URL.Path, res.StatusCode, e.Message, e.Reason)
			for _, s := range e.SchemaValidationErrors {
				t.Errorf("  %s at %s", s.Reason, s.InstancePath)
			}
		}
	}
}
