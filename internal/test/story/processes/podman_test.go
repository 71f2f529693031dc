//go:build deploy

package processes_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// podman is an engine whose images, containers and settings are the test's own.
type podman struct {
	t   *testing.T
	env []string
	dir string // of deploy/compose
}

// newPodman makes the engine. It does without a daemon of systemd: runc and cgroupfs.
func newPodman(t *testing.T) *podman {
	t.Helper()
	folder, err := os.MkdirTemp("", "svc-podman-") // short: it has sockets in it
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	compose, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "deploy", "compose"))
	if err != nil {
		t.Fatal(err)
	}
	p := &podman{t: t, dir: compose, env: append(os.Environ(),
		"CONTAINERS_CONF="+write("containers.conf", `[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
`),
		"CONTAINERS_STORAGE_CONF="+write("storage.conf", fmt.Sprintf(`[storage]
driver = "overlay"
graphroot = %q
runroot = %q
`, filepath.Join(folder, "graph"), filepath.Join(folder, "run"))),
	)}
	t.Cleanup(func() {
		_, _ = p.try(time.Minute, "podman", "rm", "--all", "--force", "--time=2")
		_, _ = p.try(time.Minute, "podman", "system", "reset", "--force")
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return p
}

// try runs a program. What it leaves running may hold its output, so the output is a file.
func (p *podman) try(most time.Duration, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir, command.Env, command.Stdout, command.Stderr, command.WaitDelay = p.dir, p.env, &stdout, &stderr, time.Second
	err := command.Run()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return stdout.String(), fmt.Errorf("%v: %w: %s%s", words, err, stdout.String(), stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

func (p *podman) run(words ...string) string {
	p.t.Helper()
	out, err := p.try(2*time.Minute, words...)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// answer is what a command of svc prints with --json, in the container of the service.
func (p *podman) answer(into any, words ...string) {
	p.t.Helper()
	out := p.run(append([]string{"podman", "exec", "svctest_svc_1", "/usr/local/bin/svc"}, append(words, "--json")...)...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		p.t.Fatalf("%v: %v: %s", words, err, out)
	}
}

// imageArchives is the folder in which scripts/images made the images.
func imageArchives(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("SVC_IMAGES")
	if folder == "" {
		t.Fatal("there are no images here: run make deploy-test")
	}
	return folder
}

// load gives the engine an image, and returns its tag.
func (p *podman) load(name string) (tag string) {
	p.t.Helper()
	loaded := p.run("podman", "load", "--quiet", "--input", filepath.Join(imageArchives(p.t), name+".tar"))
	_, tag, found := strings.Cut(loaded, "localhost/"+name+":")
	if !found {
		p.t.Fatalf("podman loaded %q", loaded)
	}
	return tag
}

// TestPodmanRunsTheImages has podman-compose start the service and a worker from the images
// and the file of deploy/compose. Both run with a read-only root and no capabilities, and
// the worker with its whole sandbox. A job of a caller outside renders; the audit is clean.
func TestPodmanRunsTheImages(t *testing.T) {
	binary, p := apptest.Binary(t), newPodman(t)
	tag := p.load("svc")
	if worker := p.load("svc-worker"); worker != tag {
		t.Fatalf("the images have tags %s and %s", tag, worker)
	}
	address := story.FreeAddress(t)
	url := "http://" + address
	p.env = append(p.env, "SVC_TAG="+tag, "SVC_PORT="+address, "SVC_PUBLIC_URL="+url,
		"SVC_ALLOW_BLENDER_VERSION=true", "SVC_DENOISE=off")
	t.Cleanup(func() {
		if t.Failed() {
			for _, name := range []string{"svctest_svc_1", "svctest_worker_1"} {
				out, err := p.try(10*time.Second, "sh", "-c", "podman logs --tail 30 "+name+" 2>&1")
				t.Log(name, out, err)
			}
		}
	})
	p.run("podman-compose", "--project-name", "svctest", "up", "--detach", "svc")
	await.Until(t, "the service in a container", func() bool {
		answer, err := http.Get(url + "/readyz")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})

	var node struct{ Key string }
	p.answer(&node, "admin", "key", "create", "--kind", "node", "--name", "worker")
	var workspace struct {
		AgentKey string `json:"agent_key"`
	}
	p.answer(&workspace, "admin", "workspace", "create", "--email", "studio@example.org", "--credit-cents", "500")
	if node.Key == "" || workspace.AgentKey == "" {
		t.Fatal("a key is missing")
	}
	p.env = append(p.env, "SVC_KEY="+node.Key)
	p.run("podman-compose", "--project-name", "svctest", "up", "--detach", "worker")
	t.Log(p.run("podman", "exec", "svctest_worker_1", "/usr/local/bin/svc", "worker", "doctor", "--work", "/tmp/doctor"))

	scene := filepath.Join(t.TempDir(), "scene.blend")
	file, err := story.QuickScene()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(scene, file, 0o600); err != nil {
		t.Fatal(err)
	}
	caller := &podman{t: t, dir: t.TempDir(), env: append(os.Environ(), "SVC_SERVER="+url, "SVC_KEY="+workspace.AgentKey, "HOME="+t.TempDir())}
	var done struct {
		OK     bool
		Frames []string
	}
	if err := json.Unmarshal([]byte(caller.run(binary, "render", scene, "--yes", "--json")), &done); err != nil || !done.OK || len(done.Frames) != 2 {
		t.Errorf("svc render: %+v, %v", done, err)
	}
	p.run("podman", "exec", "svctest_svc_1", "/usr/local/bin/svc", "admin", "audit") // a breach is exit 1
}

// TestTheImageOfTheServiceIsTheSameBytesTwice makes an image again and compares every byte.
func TestTheImageOfTheServiceIsTheSameBytesTwice(t *testing.T) {
	again := t.TempDir()
	command := exec.Command(filepath.Join("..", "..", "..", "..", "scripts", "images"), again, "svc")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var sums [2][sha256.Size]byte
	for i, folder := range []string{imageArchives(t), again} {
		file, err := os.ReadFile(filepath.Join(folder, "svc.tar"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(file)
	}
	if sums[0] != sums[1] {
		t.Errorf("the image is %x, and %x when it is made again", sums[0], sums[1])
	}
}
