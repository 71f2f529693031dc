package story

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Flipped changes the first digit of a hexadecimal text.
func Flipped(text string) string {
	if text[0] == '0' {
		return "1" + text[1:]
	}
	return "0" + text[1:]
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Get sends a request without a body and reads the answer whole.
func Get(t *testing.T, method, address string, header http.Header) Answer {
	t.Helper()
	req, err := http.NewRequestWithContext(Patient(t), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	return Do(t, req)
}

// Do sends a request and reads the answer whole.
func Do(t *testing.T, req *http.Request) Answer {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{res.StatusCode, res.Header, body}
}

// Want checks an answer's status, and that its body has the code.
func (a Answer) Want(t *testing.T, status int, code string) {
	t.Helper()
	if a.Status != status || !strings.Contains(string(a.Body), code) {
		t.Errorf("answered %d %.200s, want %d %s", a.Status, a.Body, status, code)
	}
}

// Request is a request with a key and a JSON body; "" is none.
func Request(t *testing.T, method, url, key, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(Patient(t), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// Send sends a request and reads the JSON of the answer, where that is not nil.
func Send(t *testing.T, r *http.Request, answer any) (status int) {
	t.Helper()
	got := Do(t, r)
	if answer != nil {
		if err := json.Unmarshal(got.Body, answer); err != nil {
			t.Fatalf("%s %s: %s: %v", r.Method, r.URL, got.Body, err)
		}
	}
	return got.Status
}
