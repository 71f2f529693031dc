package agent_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
)

// read reads a whole answer.
func read(t *testing.T, res *http.Response) string {
	t.Helper()
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAPersonSendsTheFileOnThePageBehindTheLink: a hosted agent cannot read a file of the
// person's own computer, and the person has no curl.
func TestAPersonSendsTheFileOnThePageBehindTheLink(t *testing.T) {
	each(t, func(t *testing.T, svc *service) {
		c := svc.client(svc.agent)
		upload, path := c.link()
		browse := func(method, path, kind, body string) (int, string, http.Header) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), method, svc.base+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept", "text/html,application/xhtml+xml")
			if kind != "" {
				r.Header.Set("Content-Type", kind)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			return res.StatusCode, read(t, res), res.Header
		}
		status, page, header := browse(http.MethodGet, path, "", "")
		if status != http.StatusOK || !strings.Contains(page, `enctype="multipart/form-data"`) || !strings.Contains(page, "did not ask for it") {
			t.Fatalf("%d %s", status, page)
		}
		policy := header.Get("Content-Security-Policy")
		if header.Get("Cache-Control") != "no-store" || !strings.Contains(policy, "script-src 'none'") || !strings.Contains(policy, "form-action 'self';") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("the page has the headers %v", header)
		}
		if strings.Contains(page, svc.workspace) || strings.Contains(page, "svc_agent_") {
			t.Error("the page reveals whose it is")
		}
		kind, body := form(t, "<b>scene</b>.blend", []byte("no Blender file"))
		if status, page, _ = browse(http.MethodPost, path, kind, body); status != http.StatusOK || !strings.Contains(page, `role="alert"`) || !strings.Contains(page, "multipart/form-data") || strings.Contains(page, "<b>scene") {
			t.Errorf("of a file that is none it says %d %s", status, page)
		}
		c.call("svc_inspect", map[string]any{"upload_id": upload}).wantRefusal("unsupported_file")
		kind, body = form(t, "still life.blend", demo.Scene())
		if status, page, _ = browse(http.MethodPost, path, kind, body); status != http.StatusOK || !strings.Contains(page, "The file has arrived") || strings.Contains(page, "<form method=\"post\" enctype") {
			t.Errorf("%d %s", status, page)
		}
		c.call("svc_inspect", map[string]any{"upload_id": upload}).want("status", "inspected")
		if status, page, _ = browse(http.MethodGet, path, "", ""); status != http.StatusOK || !strings.Contains(page, "The file has arrived") {
			t.Errorf("afterwards: %d %s", status, page)
		}
		_, other := c.link()
		forged := path[:strings.Index(path, "?")] + other[strings.Index(other, "?"):]
		for name, address := range map[string]string{"of another upload": forged, "without a signature": path[:strings.Index(path, "?")]} {
			if status, page, _ = browse(http.MethodGet, address, "", ""); status != http.StatusUnauthorized || strings.Contains(page, "multipart") {
				t.Errorf("a link %s: %d", name, status)
			}
		}
		if name := fmt.Sprint(c.call("svc_inspect", map[string]any{"upload_id": upload}).at("quote.terms_url")); name != svc.base+"/terms" {
			t.Errorf("the terms are at %s", name)
		}
	})
}
