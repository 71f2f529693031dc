package clients_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"svc.example/client"
)

// between answers in place of a service, as proxies and networks do: the first folder of a path
// says how.
func between(t *testing.T) *httptest.Server {
	t.Helper()
	const page = "<!DOCTYPE html><title>Sign in</title>"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		way, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch status, _ := strconv.Atoi(way); {
		case status == http.StatusFound:
			http.Redirect(w, r, "https://login.invalid/?to=here", status)
		case way == "circle":
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		case way == "cut" || way == "reset":
			w.Header().Set("Content-Length", "4000")
			fmt.Fprint(w, `{"ok":`)
			_ = http.NewResponseController(w).Flush()
			if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
				if way == "reset" {
					_ = c.(*net.TCPConn).SetLinger(0)
				}
				_ = c.Close()
			}
		default:
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(max(status, http.StatusOK))
			fmt.Fprint(w, page)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestEverySDKTellsAProxyFromTheService calls through what answers in the place of a service. No
// client takes that for the service's answer, not even as a picture, and each says what came.
func TestEverySDKTellsAProxyFromTheService(t *testing.T) {
	t.Parallel()
	const foreign, lost = "ForeignAnswer: ", "ConnectionFailed: "
	refused := func(status string) string { return "a proxy or another server answered, not the service (" + status }
	wants := map[string]string{ // a part of what is said, by way
		"200": foreign, "302": "a redirect to https://login.invalid/ came", "circle": "a redirect to /circle/",
		"407": refused("407"), "413": refused("413"), "429": refused("429"), "502": refused("502"), "504": refused("504"), "511": refused("511"),
		"cut": lost, "reset": lost,
	}
	ways := slices.Sorted(maps.Keys(wants))
	check := func(t *testing.T, told map[string]string, wants map[string]string) {
		t.Helper()
		for way, want := range wants {
			for _, call := range []string{"wallet", "inspect", "frame"} {
				if said := told[way+" "+call]; !strings.Contains(said, want) {
					t.Errorf("%s of %s: %q, want %q", call, way, said, want)
				}
			}
		}
	}
	for name, s := range map[string]sdk{"python": pythonSDK, "typescript": typescriptSDK} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told map[string]string
			script, wants := "tests/proxy.py", maps.Clone(wants)
			if name == "typescript" {
				wants["407"] = "no answer could be read, as of a proxy that asks for a password" // fetch hides it
				script = "tests/proxy.mjs"
			}
			s.run(t, &told, script, append([]string{between(t).URL}, ways...)...)
			check(t, told, wants)
		})
	}
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		goWants := maps.Clone(wants)
		goWants["200"], goWants["302"], goWants["circle"] = "the answer does not have the form of svc", "redirect to https://login.invalid", "the redirects go in a circle"
		goWants["cut"], goWants["reset"] = "the answer cannot be read", "the answer cannot be read"
		told, url := map[string]string{}, between(t).URL
		for _, way := range ways {
			c, err := client.New(url+"/"+way, "svc_agent_any", client.WithAttempts(1))
			if err != nil {
				t.Fatal(err)
			}
			for call, do := range map[string]func(context.Context) error{
				"wallet": func(ctx context.Context) error { _, err := c.Wallet(ctx); return err },
				"inspect": func(ctx context.Context) error {
					_, err := c.Inspect(ctx, client.InspectRequest{Filename: "scene.blend", Body: strings.NewReader("BLENDER-v304")})
					return err
				},
				"frame": func(ctx context.Context) error {
					body, err := c.FrameFile(ctx, "JOB-1", 1)
					if err == nil {
						defer body.Close()
						if _, err = io.ReadAll(body); err != nil {
							return fmt.Errorf("the answer cannot be read: %w", err) // it is the caller's to read
						}
					}
					return err
				},
			} {
				if err := do(t.Context()); err != nil {
					told[way+" "+call] = err.Error()
				}
			}
		}
		check(t, told, goWants)
	})
}
