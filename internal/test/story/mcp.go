package story

import (
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Session calls tools as the protocol's Go client.
type Session struct {
	*mcp.ClientSession
	T *testing.T
}

// Connect begins a session with an agent key over HTTP.
func (svc *Service) Connect(key string) Session {
	svc.T.Helper()
	return Connect(svc.T, &mcp.StreamableClientTransport{Endpoint: svc.URL + "/mcp", HTTPClient: &http.Client{Transport: Bearer(key)}, DisableStandaloneSSE: true})
}

// Bearer sends a key with every request.
type Bearer string

// RoundTrip adds the key.
func (b Bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Connect begins a session over a transport.
func Connect(t *testing.T, transport mcp.Transport) Session {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "story", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return Session{s, t}
}

// Call calls a tool; refused says that it could not.
func (s Session) Call(tool string, with any) (answer map[string]any, refused bool) {
	s.T.Helper()
	answer, _, refused = s.CallSeeing(tool, with)
	return answer, refused
}

// CallSeeing is call, and returns the picture of the answer too; nil for none.
func (s Session) CallSeeing(tool string, with any) (answer map[string]any, picture []byte, refused bool) {
	s.T.Helper()
	r, err := s.CallTool(Patient(s.T), &mcp.CallToolParams{Name: tool, Arguments: with})
	if err != nil {
		s.T.Fatalf("%s: %v", tool, err)
	}
	answer, ok := r.StructuredContent.(map[string]any)
	if !ok {
		s.T.Fatalf("%s: %v", tool, r.Content)
	}
	for _, content := range r.Content {
		if image, ok := content.(*mcp.ImageContent); ok {
			picture = image.Data
		}
	}
	return answer, picture, r.IsError
}
