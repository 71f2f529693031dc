package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/door/api"
	"svc.example/internal/ground/fault"
)

// servedDocument checks answers against the document that the service serves, made
// once: it is the same for every service but for the address.
var servedDocument = sync.OnceValues(func() (*documentCheck, error) {
	closed, err := closedDocument()
	if err != nil {
		return nil, err
	}
	return newDocumentCheck(closed)
})

// closedDocument is the document with answers that admit no other members than are
// described: clients must accept more, but the service's own tests must find an
// undescribed member.
func closedDocument() ([]byte, error) {
	var d map[string]any
	if err := json.Unmarshal(api.Document(""), &d); err != nil {
		return nil, err
	}
	for _, s := range d["components"].(map[string]any)["schemas"].(map[string]any) {
		schema := s.(map[string]any)
		if _, said := schema["additionalProperties"]; !said && schema["type"] == "object" {
			schema["additionalProperties"] = false
		}
	}
	return json.Marshal(d)
}

// refusals are the error codes that the document gives each status of a route,
// and a router that finds the route.
var refusals = sync.OnceValues(func() (*http.ServeMux, map[string]string) {
	var d described
	if err := json.Unmarshal(api.Document(""), &d); err != nil {
		panic(err)
	}
	mux, codes := http.NewServeMux(), map[string]string{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			pattern := strings.ToUpper(method) + " " + path
			mux.Handle(pattern, http.NotFoundHandler())
			for status, r := range op.Responses {
				_, list, _ := strings.Cut(r.Description, ": ")
				codes[pattern+" "+status] = ", " + list + ","
			}
		}
	}
	return mux, codes
})

// documented reports whether the document says that a route's status may carry a
// code.
func documented(r *http.Request, status int, code fault.Code) bool {
	mux, codes := refusals()
	_, pattern := mux.Handler(r)
	return strings.Contains(codes[fmt.Sprintf("%s %d", pattern, status)], ", "+string(code)+",")
}

// checked is a transport that compares every answer of the service with the
// document, including those after redirects.
type checked struct{ t *testing.T }

func (c checked) RoundTrip(r *http.Request) (*http.Response, error) {
	c.t.Helper()
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.HasPrefix(r.URL.Path, "/v1/") { // an issuer's
		return res, err
	}
	text, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	conforms(c.t, r, res, text)
	res.Body = io.NopCloser(bytes.NewReader(text))
	return res, nil
}

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
	if refused.Error.Code != "" && !documented(r, res.StatusCode, refused.Error.Code) {
		t.Errorf("%s %s: the document does not say that %d may be %s", r.Method, r.URL.Path, res.StatusCode, refused.Error.Code)
	}
	if err := check.answer(r, res, text); err != nil {
		t.Errorf("%s %s: %d is not what the document says: %v", r.Method, r.URL.Path, res.StatusCode, err)
	}
}
