package clients_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/long"
	"svc.example/internal/test/nginxtest"
	"svc.example/internal/test/story"
)

// refusedSizes are the sizes of uploads that are refused before they are read: more than
// sockets hold, and at full length as large as scenes are.
func refusedSizes() []int {
	if long.Run() {
		return []int{24 << 20, 99 << 20}
	}
	return []int{12 << 20}
}

// formKind is the media type of the file that the clients send: an upload's form.
const formKind = "multipart/form-data; boundary=b"

// formOf writes an upload of so many bytes and returns its file.
func formOf(t *testing.T, bytes int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "form")
	form := append([]byte("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"scene.blend\"\r\n\r\n"), make([]byte, bytes)...)
	if err := os.WriteFile(file, append(form, "\r\n--b--\r\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// plainClients send a file in one POST and print the status of the answer. Their
// arguments are the address, the key and the file.
var plainClients = map[string][]string{
	"curl": {"curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--header", "Authorization: Bearer KEY", "--header", "Content-Type: KIND", "--data-binary", "@FILE", "URL"},
	"wget": {"sh", "-c", `wget --quiet --tries=1 --output-document=/dev/null --server-response --header="Authorization: Bearer $2" --header="Content-Type: $4" --post-file="$3" "$1" 2>&1 | awk '/^ *HTTP\// { print $2 }'`, "wget", "URL", "KEY", "FILE", "KIND"},
	"perl": {"perl", "-MHTTP::Tiny", "-e", `
open(my $in, "<:raw", $ARGV[2]) or die; local $/; my $body = <$in>;
print HTTP::Tiny->new->post($ARGV[0], { content => $body, headers => { "Authorization" => "Bearer $ARGV[1]", "Content-Type" => $ARGV[3] } })->{status};
`, "URL", "KEY", "FILE", "KIND"},
	"urllib": {"python3", "-c", `
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], data=open(sys.argv[3], "rb").read(), headers={"Authorization": "Bearer " + sys.argv[2], "Content-Type": sys.argv[4]})
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as refused:
    refused.read()
    print(refused.code)
`, "URL", "KEY", "FILE", "KIND"},
	"http.client": {"python3", "-c", `
import http.client, sys, urllib.parse
to = urllib.parse.urlsplit(sys.argv[1])
line = http.client.HTTPConnection(to.netloc)
line.request("POST", to.path, open(sys.argv[3], "rb").read(), {"Authorization": "Bearer " + sys.argv[2], "Content-Type": sys.argv[4]})
answer = line.getresponse()
answer.read()
print(answer.status)
`, "URL", "KEY", "FILE", "KIND"},
	"requests": {"python3", "-c", `
import requests, sys
with open(sys.argv[3], "rb") as body:
    print(requests.post(sys.argv[1], data=body, headers={"Authorization": "Bearer " + sys.argv[2], "Content-Type": sys.argv[4]}).status_code)
`, "URL", "KEY", "FILE", "KIND"},
	"fetch": {"node", "-e", `
const [url, key, file, kind] = process.argv.slice(1)
const body = require("node:fs").readFileSync(file)
fetch(url, { method: "POST", body, headers: { Authorization: "Bearer " + key, "Content-Type": kind } })
  .then(async (answer) => { await answer.text(); console.log(answer.status) })
`, "URL", "KEY", "FILE", "KIND"},
	"node:http": {"node", "-e", `
const [url, key, file, kind] = process.argv.slice(1)
const body = require("node:fs").readFileSync(file)
const request = require("node:http").request(url, { method: "POST", headers: { Authorization: "Bearer " + key, "Content-Type": kind, "Content-Length": body.length } },
  (answer) => { answer.resume(); answer.on("end", () => console.log(answer.statusCode)) })
request.end(body)
`, "URL", "KEY", "FILE", "KIND"},
}

// TestPlainClientsReadEveryRefusal has ten outside clients send a large upload that is
// refused before it is read: for its key, its sender's storage and its sender's limit; and
// smaller bodies for their address and their size. They call directly, and through nginx
// as docs/install.md configures it.
func TestPlainClientsReadEveryRefusal(t *testing.T) {
	t.Parallel()
	config := app.Config{Listen: story.FreeAddress(t), Data: t.TempDir(), Log: story.LogOf(t), TrustedHops: 1}
	open := story.Start(t, config)
	config.Listen, config.Data, config.Unstarted = story.FreeAddress(t), t.TempDir(), 1<<20
	full := story.Start(t, config)
	config.Listen, config.Data, config.Rate = story.FreeAddress(t), t.TempDir(), ratelimit.Policy{PerMinute: 1, Burst: 1}
	limited := story.Start(t, config)
	small, sizes := formOf(t, 6<<20), map[string]string{}
	for _, size := range refusedSizes() {
		sizes[fmt.Sprint(size>>20, " MiB")] = formOf(t, size)
	}
	const unknown = "svc_agent_0000000000000000000000000000000000000000000"
	known, busy := open.Caller(0).Agent.Secret, limited.Caller(0).Agent.Secret
	refusals := []refusal{
		{"unknown address", open.URL, "/node/v1/nothing", known, small, http.StatusNotFound},
		{"too large a body", open.URL, "/v1/auth/link", known, small, http.StatusRequestEntityTooLarge},
	}
	for size, file := range sizes {
		refusals = append(refusals,
			refusal{"unknown key, " + size, open.URL, "/node/v1/uploads/inspect", unknown, file, http.StatusUnauthorized},
			refusal{"storage limit, " + size, full.URL, "/node/v1/uploads/inspect", full.Caller(0).Agent.Secret, file, http.StatusConflict},
			refusal{"limit reached, " + size, limited.URL, "/node/v1/uploads/inspect", busy, file, http.StatusTooManyRequests},
		)
	}
	t.Run("clients", func(t *testing.T) {
		for _, way := range []string{"direct", "nginx"} {
			address := map[string]string{open.URL: open.URL, full.URL: full.URL, limited.URL: limited.URL}
			if way == "nginx" {
				for from := range address {
					address[from] = nginxtest.Start(t, "../../../../docs/install.md", story.FreeAddress(t), from)
				}
			}
			clients := map[string]func(t *testing.T, url, key, file string) string{"net/http": goClient, "a socket": socketClient}
			for name, command := range plainClients {
				clients[name] = func(t *testing.T, url, key, file string) string { return plainClient(t, command, url, key, file) }
			}
			for name, post := range clients {
				t.Run(way+" "+name, func(t *testing.T) {
					t.Parallel()
					for _, r := range refusals {
						for range refusedTimes() {
							if r.url == limited.URL { // takes the one request of this minute, if it is still there
								story.Get(t, http.MethodGet, r.url+"/v1/limits", http.Header{"Authorization": {"Bearer " + r.key}})
							}
							got := post(t, address[r.url]+r.path, r.key, r.file)
							if r.url == limited.URL && got != fmt.Sprint(r.status) { // the next minute began in between, and this took its request
								got = post(t, address[r.url]+r.path, r.key, r.file)
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

// refusedTimes is how often each client must read each refusal.
func refusedTimes() int { return long.Scale(1, 3) }

// refusal is a request that is refused with status before its body, a file, is read.
type refusal struct {
	name, url, path, key, file string
	status                     int
}

// plainClient runs one of plainClients and returns what it prints.
func plainClient(t *testing.T, command []string, url, key, file string) string {
	t.Helper()
	fill := strings.NewReplacer("URL", url, "KEY", key, "FILE", file, "KIND", formKind)
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
	client := exec.CommandContext(story.Patient(t), arguments[0], arguments[1:]...)
	var errors bytes.Buffer
	client.Stderr = &errors
	text, err := client.Output()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, errors.Bytes())
	}
	return strings.TrimSpace(string(text))
}

// socketClient writes the whole request before it reads a byte.
func socketClient(t *testing.T, url, key, file string) string {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, host, key, formKind, len(body), body)
	if err != nil {
		return err.Error()
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	return fmt.Sprint(answer.StatusCode)
}

// goClient posts with net/http, each time over a new connection, and returns the status.
func goClient(t *testing.T, url, key, file string) string {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", formKind)
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
