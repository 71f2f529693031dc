package api_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/door/api"
	"svc.example/internal/ground/fault"
)

// TestEveryPublishedRouteIsServedAndDescribed walks spec 4.1, 4.3 and 4.4: each
// route is in the document with its statuses and credential, and is there.
func TestEveryPublishedRouteIsServedAndDescribed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		d := describedBy(t, api.Document(""))
		for _, c := range []struct {
			route, takes string
			statuses     string
		}{
			{"GET /v1/health", "", "200"},
			{"GET /v1/capabilities", "", "200"},
			{"GET /v1/pricing", "", "200"},
			{"GET /v1/limits", "", "200"},
			{"POST /v1/renders/preflight", "", "200 400"}, // the machine contract lists no requirement
			{"POST /v1/renders", "accountKey", "200 401 413 415"},
			{"POST /v1/renders/{job_id}/submit", "accountKey", "200 401"},
			{"POST /v1/renders/{job_id}/cancel", "accountKey", "200 404 409 429"},
			{"GET /v1/renders/{job_id}", "accountKey", "200 401"},
			{"GET /v1/renders/{job_id}/download", "accountKey", "200 401"},
			{"GET /v1/renders/{job_id}/receipt", "accountKey", "200 401"},
			{"GET /v1/renders/{job_id}/proof", "accountKey", "200 401"},
			{"GET /v1/workspace/renders", "accountKey", "200 401"},
			{"GET /v1/api-keys", "session", "200 401"},
			{"POST /v1/api-keys", "session", "201 400 401 409"},
			{"DELETE /v1/api-keys/{key_id}", "session", "200 401 404"},
			{"GET /v1/agent-keys", "accountKey session", "200 401"},
			{"POST /v1/agent-keys", "session", "201 400 401 409"},
			{"DELETE /v1/agent-keys/{key_id}", "accountKey session", "200 401 404"},
			{"GET /v1/events", "accountKey", "200 400 401"},
			{"GET /node/v1/events", "agentKey", "200 400 401"},
			{"GET /node/v1/jobs", "agentKey", "200 400 401"},
			{"GET /node/v1/jobs/{job_id}/frames", "agentKey", "200 401 404"},
			{"GET /node/v1/jobs/{job_id}/frames/{n}/preview", "agentKey", "200 304 401 404"},
			{"GET /node/v1/jobs/{job_id}/frames/{n}/file", "agentKey", "200 304 401 404"},
			{"GET /node/v1/jobs/{job_id}/contact-sheet", "agentKey session", "200 304 401 404"},
			{"GET /node/v1/jobs/{job_id}/loop", "agentKey session", "200 304 401 404"},
			{"GET /node/v1/jobs/{job_id}/log", "agentKey", "200 401 404"},
			{"POST /node/v1/uploads/inspect", "agentKey session", "200 400 401 413"},
			{"POST /node/v1/uploads/{upload_id}/start", "agentKey session", "200 400 401 402 409"},
			{"GET /node/v1/jobs/{job_id}", "agentKey", "200 401 404"},
			{"POST /v1/uploads", "accountKey", "200 400 401 413"},
			{"GET /node/v1/leaderboard/top", "", "200 304"},
			{"GET /node/v1/leaderboard/stats", "", "200 304"},
			{"GET /node/v1/leaderboard/result/{result_id}", "", "200 304 404"},
			{"GET /node/v1/leaderboard/gpu/{gpu_slug}", "", "200 304 404"},
			{"GET /node/v1/leaderboard/compare/{gpu_a}/{gpu_b}", "", "200 304 404"},
			{"GET /node/v1/leaderboard/search", "", "200 304"},
			{"GET /node/v1/leaderboard/latest", "", "200 304 400"},
			{"GET /node/v1/leaderboard/rank", "", "200 304 400"},
		} {
			method, path, _ := strings.Cut(c.route, " ")
			r, there := d.Paths[path][strings.ToLower(method)]
			if !there {
				t.Errorf("%s is not described", c.route)
				continue
			}
			for _, status := range strings.Fields(c.statuses) {
				if _, there := r.Responses[status]; !there {
					t.Errorf("%s: %s is not described", c.route, status)
				}
			}
			var takes []string
			for _, one := range r.Security {
				for scheme := range one {
					takes = append(takes, scheme)
				}
			}
			if !slices.Equal(takes, strings.Fields(c.takes)) {
				t.Errorf("%s takes %v, want %s", c.route, takes, c.takes)
			}
			filled := strings.NewReplacer("{job_id}", "JOB-0", "{upload_id}", s.upload, "{key_id}", "key_"+strings.Repeat("0", 32), "{result_id}", "BMR-0", "{gpu_slug}", "x", "{gpu_a}", "x", "{gpu_b}", "y", "{n}", "1").Replace(path)
			if a := s.call(method, filled, "", body{}); a.code() == fault.RouteNotFound || a.code() == fault.MethodNotAllowed {
				t.Errorf("%s is not served: %d %s", c.route, a.status, a.code())
			}
		}
	})
}

var pathPart = regexp.MustCompile(`\{(\w+)\}`)

// TestEveryPartOfAPathIsRead finds inputs that the library passes over: what it
// does not describe it does not fill either.
func TestEveryPartOfAPathIsRead(t *testing.T) {
	t.Parallel()
	for path, methods := range describedBy(t, api.Document("")).Paths {
		for _, op := range methods {
			for _, part := range pathPart.FindAllStringSubmatch(path, -1) {
				if !slices.Contains(op.Parameters, struct{ Name, In string }{part[1], "path"}) {
					t.Errorf("%s (%s): %s is never read", op.OperationID, path, part[0])
				}
			}
		}
	}
}

// TestEveryOperationSaysItsCodes finds operations that operation_errors.go does not know.
func TestEveryOperationSaysItsCodes(t *testing.T) {
	t.Parallel()
	for path, methods := range describedBy(t, api.Document("")).Paths {
		for _, op := range methods {
			if _, there := op.Responses["429"]; !there {
				t.Errorf("%s (%s) is described without its errors", op.OperationID, path)
			}
			if _, there := op.Responses["401"]; !there && len(op.Security) > 0 {
				t.Errorf("%s takes credentials and is never 401: give it its codes in operation_errors.go", op.OperationID)
			}
		}
	}
}

// TestTheServedDocumentIsThePrintedOne reads both addresses of the document.
func TestTheServedDocumentIsThePrintedOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		for _, path := range []string{"/openapi.json", "/v1/openapi.json"} {
			res, text := s.send("GET", path, "", nil, nil, "")
			if res.StatusCode != 200 || res.Header.Get("Content-Type") != "application/json" || !bytes.Equal(text, api.Document(s.base)) {
				t.Errorf("%s: %d %s, %d bytes", path, res.StatusCode, res.Header.Get("Content-Type"), len(text))
			}
			if d := describedBy(t, text); d.OpenAPI != "3.1.0" || d.Info.Version != "2.0.0" {
				t.Errorf("%s: OpenAPI %s, version %s", path, d.OpenAPI, d.Info.Version)
			}
		}
	})
}
