//go:build proxies

package proxies

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/work/synthetic"
)

// proxy is a program that forwards from an address to the service's.
type proxy struct {
	name    string
	config  string // with the words LISTEN, PORT, SERVICE, SERVICEPORT and FOLDER
	command func(config, folder, listen, service string) []string
	// lets is the largest upload that its defaults let through; 0: any.
	lets int64
}

// proxies are in the order of docs/ports-and-tls.md. The nginx of docs/install.md is tested by the
// stories; this one has nginx's defaults.
var proxies = []proxy{
	{name: "nginx", lets: 1 << 20, config: `daemon off;
user root;
pid FOLDER/pid;
error_log stderr warn;
events {}
http {
    access_log off;
    client_body_temp_path FOLDER/body;
    proxy_temp_path FOLDER/proxy;
    fastcgi_temp_path FOLDER/fastcgi;
    uwsgi_temp_path FOLDER/uwsgi;
    scgi_temp_path FOLDER/scgi;
    server {
        listen LISTEN;
        location / {
            proxy_pass http://SERVICE;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }
    }
}
`, command: func(config, folder, _, _ string) []string { return []string{"nginx", "-c", config, "-p", folder} }},
	{name: "caddy", config: `{
	admin off
	auto_https off
	storage file_system FOLDER
}
http://LISTEN {
	reverse_proxy SERVICE
}
`, command: func(config, _, _, _ string) []string {
		return []string{"caddy", "run", "--adapter", "caddyfile", "--config", config}
	}},
	{name: "haproxy", config: `defaults
    mode http
    option forwardfor
    timeout connect 5s
    timeout client 1m
    timeout server 1m
frontend in
    bind LISTEN
    default_backend svc
backend svc
    server one SERVICE
`, command: func(config, _, _, _ string) []string { return []string{"haproxy", "-db", "-f", config} }},
	{name: "apache", config: `ServerRoot FOLDER
PidFile FOLDER/pid
ServerName localhost
Listen LISTEN
ErrorLog /dev/stderr
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
DefaultRuntimeDir FOLDER
ProxyPass / http://SERVICE/
`, command: func(config, _, _, _ string) []string { return []string{"apache2", "-X", "-f", config} }},
	{name: "lighttpd", config: `server.document-root = "FOLDER"
server.bind = "127.0.0.1"
server.port = PORT
server.upload-dirs = ("FOLDER")
server.modules = ("mod_proxy")
server.stream-response-body = 1
proxy.server = ("" => (("host" => "127.0.0.1", "port" => SERVICEPORT)))
proxy.forwarded = ("for" => 1)
`, command: func(config, _, _, _ string) []string { return []string{"lighttpd", "-D", "-f", config} }},
	{name: "varnish", config: "", command: func(_, folder, listen, service string) []string {
		return []string{"varnishd", "-F", "-a", listen, "-b", service, "-n", folder, "-s", "malloc,64m"}
	}},
}

// TestTheServiceIsTheSameBehindEveryProxy renders a job through each proxy: the upload, the
// stream of its events while it renders, the ZIP and a part of it, and a refusal.
func TestTheServiceIsTheSameBehindEveryProxy(t *testing.T) {
	t.Parallel()
	// A frame takes a second, so that its job can be followed.
	service, url := apptest.Start(t, app.Config{TrustedHops: 1, Embedded: &app.EmbeddedWorker{Renderer: synthetic.Renderer{FrameTime: time.Second}}, AllowSynthetic: true})
	world := &apptest.World{App: service, URL: url}
	for _, p := range proxies {
		t.Run(p.name, func(t *testing.T) {
			w := world.Workspace(t, 100)
			caller := &caller{t: t, base: p.start(t, strings.TrimPrefix(url, "http://")), key: w.Agent.Secret}
			caller.sendsParts(p.lets)
			caller.followsAJob(url)
			caller.readsARefusal(p.lets)
		})
	}
}

// start runs the proxy before a service until the test ends.
func (p proxy) start(t *testing.T, service string) (url string) {
	t.Helper()
	folder, listen := t.TempDir(), freeAddress(t)
	_, port, _ := strings.Cut(listen, ":")
	_, servicePort, _ := strings.Cut(service, ":")
	config := filepath.Join(folder, "config")
	text := strings.NewReplacer("LISTEN", listen, "SERVICEPORT", servicePort, "SERVICE", service, "PORT", port, "FOLDER", folder).Replace(p.config)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	line := p.command(config, folder, listen, service)
	program := exec.CommandContext(t.Context(), line[0], line[1:]...)
	program.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin")
	if found, err := exec.LookPath("/usr/sbin/" + line[0]); err == nil {
		program.Path, program.Err = found, nil
	}
	program.Cancel = func() error { return program.Process.Signal(syscall.SIGTERM) }
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	program.Stderr, program.WaitDelay = t.Output(), 10*time.Second
	if err := program.Start(); err != nil {
		t.Fatalf("start %s (scripts/install-tools proxies installs it): %v", line[0], err)
	}
	t.Cleanup(func() { _ = program.Wait() })
	await.Listener(t, p.name, listen)
	return "http://" + listen
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

type caller struct {
	t    *testing.T
	base string
	key  string
}

// do sends a request and reads its whole answer.
func (c *caller) do(method, path, kind string, body []byte, headers ...string) (*http.Response, string) {
	c.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = c.base + path
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Content-Type", kind)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return res, string(text)
}

// sendsParts sends a part as small as a texture and one as large as a part may be.
func (c *caller) sendsParts(lets int64) {
	c.t.Helper()
	for _, size := range []int64{1 << 16, 32 << 20} {
		part := make([]byte, size)
		if _, err := rand.Read(part); err != nil {
			c.t.Fatal(err)
		}
		sum := sha256.Sum256(part)
		res, text := c.do("PUT", "/node/v1/parts/"+hex.EncodeToString(sum[:]), "application/octet-stream", part)
		want := http.StatusCreated
		if lets > 0 && size > lets {
			want = http.StatusRequestEntityTooLarge
		}
		if res.StatusCode != want {
			c.t.Errorf("a part of %d bytes: %d %.200s", size, res.StatusCode, text)
		}
	}
}

// followsAJob starts a job of four frames, sees its first frame in the stream while the
// others are rendered, and reads its ZIP whole and in part. The links of its answers lead
// to the service itself, whose public URL is not the proxy's.
func (c *caller) followsAJob(service string) {
	c.t.Helper()
	var inspected struct {
		UploadID string `json:"upload_id"`
		QuoteID  string `json:"quote_id"`
	}
	kind, body := c.form()
	c.read(&inspected, "POST", "/node/v1/uploads/inspect", kind, body)
	var job struct {
		JobID       string  `json:"job_id"`
		Status      string  `json:"status"`
		DownloadURL *string `json:"download_url"`
	}
	c.read(&job, "POST", "/node/v1/uploads/"+inspected.UploadID+"/start", "application/json", []byte(`{"quote_id":"`+inspected.QuoteID+`","legal_acceptance":"SVC_LEGAL_V1"}`))
	path := "/node/v1/jobs/" + job.JobID
	live, frames := false, 0
	c.follow(path+"/events", func() {
		frames++
		c.read(&job, "GET", path, "", nil)
		live = live || job.Status == "rendering"
	})
	if frames != 4 || !live {
		c.t.Errorf("the stream had %d frames; one while the job was rendered: %v", frames, live)
	}
	c.read(&job, "GET", path, "", nil)
	if job.Status != "completed" || job.DownloadURL == nil {
		c.t.Fatalf("the job is %s after its stream", job.Status)
	}
	zip := strings.Replace(*job.DownloadURL, service, c.base, 1)
	res, whole := c.do("GET", zip, "", nil)
	if _, part := c.do("GET", zip, "", nil, "Range", "bytes=0-3"); part != whole[:4] || res.StatusCode != http.StatusOK {
		c.t.Errorf("the ZIP is %d with %d bytes; its first four are %q", res.StatusCode, len(whole), part)
	}
	if res, _ := c.do("GET", zip, "", nil, "If-None-Match", res.Header.Get("ETag")); res.StatusCode != http.StatusNotModified {
		c.t.Errorf("the same ZIP again: %d", res.StatusCode)
	}
}

// follow reads a stream to its end and calls frame for each frame in it.
func (c *caller) follow(path string, frame func()) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if lines.Text() == "event: frame" {
			frame()
		}
	}
}

// readsARefusal sends more than the service reads of an upload that it refuses.
func (c *caller) readsARefusal(lets int64) {
	c.t.Helper()
	stranger := *c
	stranger.key = "svc_agent_" + strings.Repeat("0", 43)
	res, text := stranger.do("POST", "/node/v1/uploads/inspect", "multipart/form-data; boundary=b", make([]byte, 24<<20))
	if lets > 0 {
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			c.t.Errorf("24 MiB: %d", res.StatusCode)
		}
		return
	}
	if res.StatusCode != http.StatusUnauthorized || !strings.Contains(text, `"unauthenticated"`) {
		c.t.Errorf("an upload with an unknown key: %d %.200s", res.StatusCode, text)
	}
}

// read is do for an answer that must succeed.
func (c *caller) read(into any, method, path, kind string, body []byte) {
	c.t.Helper()
	res, text := c.do(method, path, kind, body)
	if err := json.Unmarshal([]byte(text), into); err != nil || res.StatusCode != http.StatusOK {
		c.t.Fatalf("%s %s: %d %.300s", method, path, res.StatusCode, text)
	}
}

// form is an upload of the demo scene, of which four frames are wanted.
func (c *caller) form() (kind string, body []byte) {
	c.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	err := w.WriteField("frames", "1-4")
	if err != nil {
		c.t.Fatal(err)
	}
	part, err := w.CreateFormFile("file", "scene.blend")
	if err == nil {
		_, err = part.Write(demo.Scene())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	_ = w.Close()
	return w.FormDataContentType(), b.Bytes()
}
