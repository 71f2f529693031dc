//go:build proxies

package proxies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/s3test"
)

// site is a service of several processes behind the nginx of docs/several-processes.md, on
// PostgreSQL and S3.
type site struct {
	t         *testing.T
	url       string
	store     []string // the flags that name it
	addresses []string
	running   []*exec.Cmd
}

// newSite starts nginx. No process runs yet.
func newSite(t *testing.T, processes int) *site {
	t.Helper()
	s := &site{t: t, running: make([]*exec.Cmd, processes)}
	for range processes {
		s.addresses = append(s.addresses, freeAddress(t))
	}
	s.store = []string{"--data", t.TempDir(), "--database", dbtest.URL(t, "postgres"), "--blobs", s3test.Address(t)}
	nginx := proxies[0]
	nginx.config = nginxOf(t, s.addresses)
	s.url = nginx.start(t, "")
	return s
}

// nginxOf is the configuration of the page without TLS, for these processes.
func nginxOf(t *testing.T, addresses []string) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/several-processes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```nginx")
	_, block, _ = strings.Cut(block, "\n")
	block, _, found := strings.Cut(block, "```")
	server := regexp.MustCompile(`(?m)^    server \S+( max_fails=0);\n`)
	options := server.FindStringSubmatch(block)
	if !found || options == nil || len(addresses) < 2 {
		t.Fatal("docs/several-processes.md has no block of nginx with servers")
	}
	var servers strings.Builder
	for _, address := range addresses {
		fmt.Fprintf(&servers, "    server %s%s;\n", address, options[1])
	}
	block = strings.Replace(server.ReplaceAllString(block, ""), "    zone svc 64k;\n", "    zone svc 64k;\n"+servers.String(), 1)
	block = regexp.MustCompile(`(?m)^    ssl_certificate.*\n`).ReplaceAllString(block, "")
	block = strings.Replace(block, "listen 443 ssl;", "listen LISTEN;", 1)
	head, _, _ := strings.Cut(proxies[0].config, "    server {")
	return head + block + "}\n"
}

// admin runs svc admin of a program on the store.
func (s *site) admin(binary string, words ...string) (output string, err error) {
	s.t.Helper()
	program := exec.CommandContext(s.t.Context(), binary, append(append([]string{"admin"}, words...), s.store...)...)
	var errs bytes.Buffer
	program.Stderr = &errs
	text, err := program.Output()
	if err != nil {
		err = fmt.Errorf("svc admin %s: %w: %s", strings.Join(words, " "), err, errs.String())
	}
	return string(text), err
}

// mustAdmin is admin of what must succeed, whose answer has members.
func (s *site) mustAdmin(into any, binary string, words ...string) {
	s.t.Helper()
	text, err := s.admin(binary, append(words, "--json")...)
	if err == nil {
		err = json.Unmarshal([]byte(text), into)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// start starts a process and waits until it is ready.
func (s *site) start(i int, binary string) {
	s.t.Helper()
	words := append([]string{"serve", "--listen", s.addresses[i], "--public-url", s.url, "--trusted-hops", "1", "--worker", "none", "--allow-synthetic", "--rate-per-minute", "0"}, s.store...)
	s.running[i] = begin(s.t, binary, nil, words...)
	await.Until(s.t, "a process to be ready", func() bool {
		return readiness("http://"+s.addresses[i]) == 200
	})
}

// stop stops a process as systemd does.
func (s *site) stop(i int) {
	s.t.Helper()
	end(s.t, s.running[i])
	s.running[i] = nil
}

// replace restarts a process with a program.
func (s *site) replace(i int, binary string) {
	s.t.Helper()
	s.stop(i)
	s.start(i, binary)
}

// worker starts a worker behind nginx.
func (s *site) worker(binary, key string) *exec.Cmd {
	s.t.Helper()
	return begin(s.t, binary, []string{"SVC_NODE_KEY=" + key}, "worker", "run", "--server", s.url, "--work", s.t.TempDir(), "--renderer", "synthetic", "--synthetic-frame-time", "30ms")
}

// begin starts a program, which does not outlive the test.
func begin(t *testing.T, binary string, environment []string, words ...string) *exec.Cmd {
	t.Helper()
	program := exec.Command(binary, words...)
	program.Env, program.Stderr = append(os.Environ(), environment...), apptest.LogWriter(t, logOf(t, filepath.Base(binary)))
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if program.ProcessState == nil {
			_ = program.Process.Kill()
			_ = program.Wait()
		}
	})
	return program
}

// end stops a program and waits for its end.
func end(t *testing.T, program *exec.Cmd) {
	t.Helper()
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Errorf("a process did not stop cleanly: %v", err)
	}
}

// warnings passes on the lines of a log that are more than news.
type warnings struct {
	t    *testing.T
	name string
}

func logOf(t *testing.T, name string) warnings { return warnings{t, name} }

func (w warnings) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if !strings.Contains(line, "level=INFO") && !strings.Contains(line, "level=DEBUG") {
			_, _ = fmt.Fprintf(w.t.Output(), "%s: %.300s", w.name, line)
		}
	}
	return len(p), nil
}
