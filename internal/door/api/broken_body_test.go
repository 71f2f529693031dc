package api_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"

	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
)

// brokenBodies are the ways in which the body of a request may break off. Each is the
// header that announces it and the bytes that come.
func brokenBodies(whole []byte) map[string][2]string {
	half := string(whole[:len(whole)/2])
	return map[string][2]string{
		"shorter than its length": {fmt.Sprint("Content-Length: ", len(whole)), half},
		"half of it":              {fmt.Sprint("Content-Length: ", len(half)), half},
		"a chunk cut off":         {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s", len(whole), half)},
		"a chunk without a size":  {"Transfer-Encoding: chunked", "zz\r\n" + half},
		"no last chunk":           {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n", len(half), half)},
	}
}

// A body that breaks off is the caller's mistake or its line's: the answer is a
// refusal of the vocabulary, and nothing on our side has failed.
func TestABodyThatBreaksOffIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.URL(t, "sqlite"))
	tried := 0
	for _, op := range w.operations() {
		s := w.samples[op.id]
		if len(s.body.data) < 2 || len(op.takes) == 0 {
			continue
		}
		k := op.takes[0]
		for name, broken := range brokenBodies(s.body.data) {
			res, text := w.sendRaw(op, k, s.body.kind, broken)
			var refusal fault.Body
			if err := json.Unmarshal(text, &refusal); err != nil || res.StatusCode < 400 || res.StatusCode >= 500 || refusal.Error.Code == "" {
				t.Errorf("%s with a body that is %s: %d %s", op.id, name, res.StatusCode, text)
			}
			tried++
		}
	}
	if tried < 50 {
		t.Fatalf("only %d requests were tried", tried)
	}
}

// sendRaw sends a request with this exact body, and then ends its half of the
// connection.
func (w *world) sendRaw(op operation, k kind, contentType string, broken [2]string) (*http.Response, []byte) {
	w.t.Helper()
	base, err := url.Parse(w.base)
	if err != nil {
		w.t.Fatal(err)
	}
	conn, err := net.Dial("tcp", base.Host)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	credential := "Authorization: Bearer " + w.owner[k]
	if k == sessionKind {
		credential = "Cookie: svc_session=" + w.owner[k]
	}
	lines := []string{
		op.method + " " + w.fill(op.path) + w.samples[op.id].query + " HTTP/1.1", "Host: " + base.Host, "Origin: " + w.base,
		"Content-Type: " + contentType, credential, broken[0], "", broken[1],
	}
	if _, err := io.WriteString(conn, strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "Content-Type: " }), "\r\n")); err != nil {
		w.t.Fatal(err)
	}
	// A service that has refused already may have closed its end, which is no failure here.
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil && !errors.Is(err, syscall.ENOTCONN) {
		w.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatalf("%s: no answer to a body that breaks off: %v", op.id, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, text
}
