// Package nginxtest starts real nginxes for tests, with the configuration that operators copy.
// Start reading at Start.
package nginxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"svc.example/internal/test/await"
)

// Start starts an nginx at an address, with the location that a document, docs/install.md, names,
// in front of the service at url, and returns its own URL. It speaks plain HTTP. Edits are pairs
// of a text of the location and what stands there instead.
func Start(t *testing.T, document, address, url string, edits ...string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	location := regexp.MustCompile(`(?s)    (client_max_body_size.*?\n    }\n)}`).FindSubmatch(text)
	if location == nil {
		t.Fatalf("%s has no configuration of nginx", document)
	}
	folder := t.TempDir()
	config := fmt.Sprintf(`daemon off;
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
`, folder, address, strings.NewReplacer(append(edits, "http://127.0.0.1:8080", url)...).Replace(string(location[1])))
	path := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
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
	await.Listener(t, "nginx", address)
	return "http://" + address
}
