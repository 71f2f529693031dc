package client_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/client"
)

// TestNoErrorTellsASignedLinkOrTheKey has each call fail that uses the link or the key.
func TestNoErrorTellsASignedLinkOrTheKey(t *testing.T) {
	t.Parallel()
	const signature, key = "5ebe2294ecd0e0f08eab7690d2a6ee69", "svc_agent_AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK"
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	query := "?expires=1768485600&signature=" + signature
	for name, link := range map[string]string{
		"a server that is gone":        nobody + "/v1/artifacts/JOB-1" + query,
		"an unreadable address":        "http://127.0.0.1/%zz" + query,
		"an unknown scheme":            "ftp://127.0.0.1/JOB-1" + query,
		"a redirect to a dead address": "/redirect?to=" + nobody + "/x" + query,
		"an unreadable redirect":       "/redirect?to=http://%25zz/" + query,
		"a redirect without end":       "/redirect",
		"a connection that breaks":     "/broken" + query,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/redirect":
					to := r.URL.RawQuery
					if to = strings.TrimPrefix(to, "to="); to == "" {
						to = "/redirect"
					}
					w.Header().Set("Location", strings.ReplaceAll(to, "%25", "%")+"#"+signature)
					w.WriteHeader(http.StatusFound)
				case "/broken":
					panic(http.ErrAbortHandler)
				default:
					at := link
					if strings.HasPrefix(at, "/") {
						at = "http://" + r.Host + at
					}
					answer(w, map[string]any{"ok": true, "download": map[string]any{
						"url": at, "filename": "scene.zip", "size_bytes": 5, "sha256": strings.Repeat("0", 64)}})
				}
			}))
			t.Cleanup(s.Close)
			c, err := client.New(s.URL, key, client.WithAttempts(1))
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Download(t.Context(), "JOB-1", filepath.Join(t.TempDir(), "a.zip"), nil)
			parts, partsErr := c.ZIPParts(t.Context(), "JOB-1")
			if partsErr != nil {
				t.Fatal(partsErr)
			}
			_, partErr := parts.ReadAt(make([]byte, 5), 0)
			for _, err := range []error{err, partErr} {
				if err == nil {
					t.Error("it does not fail")
				} else if strings.Contains(err.Error(), signature) || strings.Contains(err.Error(), key) {
					t.Errorf("it says: %v", err)
				}
			}
		})
	}
}

func TestAnAddressThatHoldsASecretIsRefusedWithoutTellingIt(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"https://anna:hunter2@svc.example", "https://svc.example/?token=hunter2", "https://svc.example/#hunter2",
		"svc_agent_AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJhunter2", "https://anna:hunter2@svc example/",
	} {
		_, err := client.New(address, "")
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestWhatPrintsAClientDoesNotPrintItsKey: a client in a log, alone or inside another value.
func TestWhatPrintsAClientDoesNotPrintItsKey(t *testing.T) {
	t.Parallel()
	c, err := client.New("https://svc.example", "svc_agent_hunter2")
	if err != nil {
		t.Fatal(err)
	}
	inside := struct{ c client.Client }{*c}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		text := fmt.Sprintf(verb+verb+verb, c, *c, inside)
		if strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}
