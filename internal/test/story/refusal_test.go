package story_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/await"
	"svc.example/internal/test/long"
)

// refusedBytes is the size of a body that is refused before it is read: more than
// sockets hold, less than the service reads on for.
const refusedBytes = 6 << 20

// refusedTimes is how often each client must read each refusal.
var refusedTimes = long.Scale(3, 10)

// plainClients send a file in one POST and print the status of the answer. Their
// arguments are the address, the key and the file.
var plainClients = map[string][]string{
	"curl": {"curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--header", "Authorization: Bearer KEY", "--data-binary", "@FILE", "URL"},
	"urllib": {"python3", "-c", `
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], data=open(sys.argv[3], "rb").read(), headers={"Authorization": "Bearer " + sys.argv[2]})
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as refused:
    refused.read()
    print(refused.code)
`, "URL", "KEY", "FILE"},
	"fetch": {"node", "-e", `
const [url, key, file] = process.argv.slice(1)
const body = require("node:fs").readFileSync(file)
fetch(url, { method: "POST", body, headers: { Authorization: "Bearer " + key } })
  .then(async (answer) => { await answer.text(); console.log(answer.status) })
`, "URL", "KEY", "FILE"},
}

// TestPlainClientsReadEveryRefusal has outside clients send a large body that is refused
// before it is read: for its key, its address, its size and its sender's limit; directly,
// and behind nginx as docs/operate.md configures it.
func TestPlainClientsReadEveryRefusal(t *testing.T) {
	t.Parallel()
	config := app.Config{Listen: freeAddress(t), Data: t.TempDir(), Log: logOf(t), TrustedHops: 1}
	open := start(t, config)
	config.Listen, config.Data, config.Rate = freeAddress(t), t.TempDir(), ratelimit.Policy{PerMinute: 1, Burst: 1}
	limited := start(t, config)
	file := filepath.Join(t.TempDir(), "scene.blend")
	if err := os.WriteFile(file, make([]byte, refusedBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	const unknown = "svc_agent_0000000000000000000000000000000000000000000"
	known, busy := open.caller(0).agent.Secret, limited.caller(0).agent.Secret
	refusals := []refusal{
		{"unknown key", open.url, "/node/v1/uploads/inspect", unknown, http.StatusUnauthorized},
		{"unknown address", open.url, "/node/v1/nothing", known, http.StatusNotFound},
		{"too large a body", open.url, "/v1/auth/link", known, http.StatusRequestEntityTooLarge},
		{"limit reached", limited.url, "/node/v1/uploads/inspect", busy, http.StatusTooManyRequests},
	}
	t.Run("clients", func(t *testing.T) {
		for _, way := range []string{"direct", "nginx"} {
			address := map[string]string{open.url: open.url, limited.url: limited.url}
			if way == "nginx" {
				for from := range address {
					address[from] = nginx(t, from)
				}
			}
			clients := map[string]func(*testing.T, string, string) string{"net/http": goClient}
			for name, command := range plainClients {
				clients[name] = func(t *testing.T, url, key string) string { return plainClient(t, command, url, key, file) }
			}
			for name, post := range clients {
				t.Run(way+" "+name, func(t *testing.T) {
					t.Parallel()
					for _, r := range refusals {
						for range refusedTimes {
							if r.url == limited.url { // takes the one request of this minute, if it is still there
								get(t, http.MethodGet, r.url+"/v1/limits", http.Header{"Authorization": {"Bearer " + r.key}})
							}
							got := post(t, address[r.url]+r.path, r.key)
							if r.url == limited.url && got != fmt.Sprint(r.status) { // the next minute began in between, and this took its request
								got = post(t, address[r.url]+r.path, r.key)
							}
							if got != fmt.Sprint(r.status) {
								t.Errorf("%s: read %q, want %d", r.name, got, r.status)
								break
							}
						}
					}
				})
			}
		}
	})
}

// refusal is a request that is refused with status before its body is read.
type refusal struct {
	name, url, path, key string
	status               int
}

// plainClient runs one of plainClients and returns what it prints.
func plainClient(t *testing.T, command []string, url, key, file string) string {
	t.Helper()
	fill := strings.NewReplacer("URL", url, "KEY", key, "FILE", file)
	arguments := make([]string, len(command))
	for i, a := range command {
		arguments[i] = a
		if len(a) < 40 { // not inside a script
			arguments[i] = fill.Replace(a)
		}
	}
	if arguments[0] == "node" {
		arguments[0] = pinnedNode(t)
	}
	client := exec.CommandContext(patient(t), arguments[0], arguments[1:]...)
	var errors bytes.Buffer
	client.Stderr = &errors
	text, err := client.Output()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, errors.Bytes())
	}
	return strings.TrimSpace(string(text))
}

// goClient posts with net/http, each time over a new connection, and returns the status.
func goClient(t *testing.T, url, key string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(make([]byte, refusedBytes)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err.Error()
	}
	return fmt.Sprint(answer.StatusCode)
}

// nginx starts an nginx with the location that docs/operate.md names, in front of the
// service at url, and returns its own URL. It speaks plain HTTP here.
func nginx(t *testing.T, url string) string {
	t.Helper()
	document, err := os.ReadFile("../../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	location := regexp.MustCompile(`(?s)    (client_max_body_size.*?\n    }\n)}`).FindSubmatch(document)
	if location == nil {
		t.Fatal("docs/operate.md has no configuration of nginx")
	}
	folder, address := t.TempDir(), freeAddress(t)
	text := fmt.Sprintf(`daemon off;
user root;
worker_processes 1;
pid %[1]s/pid;
error_log stderr warn;
events {}
http {
    access_log off;
    client_body_temp_path %[1]s/body;
    proxy_temp_path %[1]s/proxy;
    fastcgi_temp_path %[1]s/fastcgi;
    uwsgi_temp_path %[1]s/uwsgi;
    scgi_temp_path %[1]s/scgi;
    server {
        listen %[2]s;
        %[3]s
    }
}
`, folder, address, strings.ReplaceAll(string(location[1]), "http://127.0.0.1:8080", url))
	path := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := exec.CommandContext(t.Context(), "nginx", "-c", path, "-p", folder)
	proxy.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin")
	proxy.Cancel = func() error { return proxy.Process.Signal(syscall.SIGTERM) }
	proxy.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	proxy.Stderr = t.Output()
	if err := proxy.Start(); err != nil {
		t.Fatalf("start nginx (scripts/install-tools outside installs it): %v", err)
	}
	t.Cleanup(func() { _ = proxy.Wait() })
	await.Until(t, "nginx to listen", func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return "http://" + address
}
