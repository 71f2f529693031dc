//go:build extension

package blender_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"svc.example/addons/blender"
	"svc.example/internal/app"
	"svc.example/internal/ground/links"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// newBlender is a Blender of the kind that has extensions.
func newBlender(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SVC_BLENDER_EXTENSIONS")
	if path == "" {
		t.Fatal("SVC_BLENDER_EXTENSIONS names no Blender of 4.2 or newer: use make addon-test")
	}
	return path
}

// newWorker is the same Blender for a worker: it takes commands, so no other process may be
// around it.
func newWorker(t *testing.T) worker.Blender {
	t.Helper()
	if path := os.Getenv("SVC_BLENDER_ALONE"); path != "" {
		return worker.Blender{Path: path}
	}
	return worker.Blender{Path: newBlender(t)}
}

// updated is a service's door, whose add-on can be made a newer one, as by an update of the
// service.
type updated struct {
	*httptest.Server
	newer atomic.Pointer[map[string][]byte] // by name
}

func newUpdated(svc *story.Service) *updated {
	svc.T.Helper()
	target, err := url.Parse(svc.URL)
	if err != nil {
		svc.T.Fatal(err)
	}
	u := &updated{}
	pass := httputil.NewSingleHostReverseProxy(target)
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if files := u.newer.Load(); files != nil && strings.HasPrefix(r.URL.Path, links.AddOnPath) {
			content, ok := (*files)[strings.TrimPrefix(r.URL.Path, links.AddOnPath)]
			if !ok {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write(content)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	svc.T.Cleanup(u.Close)
	return u
}

// to updates the service to a version. change changes an archive on its way.
func (u *updated) to(t *testing.T, version string, change func(archive []byte)) {
	t.Helper()
	packages, err := blender.Packages(version, "")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, p := range packages {
		files[p.Name] = p.Bytes
		if p.Name != blender.Listing {
			change(p.Bytes)
		}
	}
	u.newer.Store(&files)
}

// extensionDesk installs the extension by Blender's command line, from a repository.
func extensionDesk(svc *story.Service, repository string) desk {
	svc.T.Helper()
	a := newDesk(svc, newBlender(svc.T), "--online-mode")
	a.run(nil, "-c", "extension", "repo-add", "svc", "--name", "svc", "--url", repository+links.AddOnPath+blender.Listing)
	a.run(nil, "-c", "extension", "sync")
	a.run(nil, "-c", "extension", "install", "svc.svc_render_addon", "--enable")
	return a
}

// installed is the version in the manifest of the extension that Blender has.
func (a desk) installed() string {
	a.t.Helper()
	text, err := os.ReadFile(filepath.Join(a.home, "extensions", "svc", "svc_render_addon", "blender_manifest.toml"))
	if err != nil {
		a.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nversion = \"")
	version, _, _ := strings.Cut(rest, "\"")
	return version
}

// TestExtensionIsValidAndUpdatesWithTheService has Blender's own command line judge the
// archive, install it from the service and, after an update of the service, update it.
func TestExtensionIsValidAndUpdatesWithTheService(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	newDesk(svc, newBlender(t)).run(nil, "-c", "extension", "validate", addOnArchive(svc, `[^"]*`))

	door := newUpdated(svc)
	a := extensionDesk(svc, door.URL)
	if got := a.installed(); got != blender.Version() {
		t.Errorf("version %q is installed, want the service's %q", got, blender.Version())
	}
	door.to(t, "99.0.0-20990101000000-abcdef012345+dirty", func([]byte) {}) // as a build between releases has it
	a.run(nil, "-c", "extension", "update", "--sync")
	if got := a.installed(); !strings.HasPrefix(got, "99.0.0-") {
		t.Errorf("after the service's update, version %q is installed", got)
	}
	// An archive that is not the one in the listing is refused.
	door.to(t, "100.0.0", func(archive []byte) { archive[len(archive)/2] ^= 1 })
	command := a.command("-c", "extension", "update", "--sync")
	output, _ := command.CombinedOutput()
	if got := a.installed(); !strings.HasPrefix(got, "99.0.0-") {
		t.Errorf("a damaged archive was installed as %q:\n%s", got, output)
	}
}

// TestExtensionRendersAndNothingOfTheFileChanges is the artist's story in a Blender that has
// extensions.
func TestExtensionRendersAndNothingOfTheFileChanges(t *testing.T) {
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	svc.Worker(newWorker(t), story.OnCPU)
	extensionDesk(svc, svc.URL).rendersAndChangesNothing()
}

// TestExtensionsPanelLeadsFromTheCodeToTheFrames is the panel's story there.
func TestExtensionsPanelLeadsFromTheCodeToTheFrames(t *testing.T) {
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	svc.Worker(newWorker(t), story.OnCPU)
	extensionDesk(svc, svc.URL).pressesThePanel()
}

// TestExtensionAsksForNothingWhileBlenderIsOffline presses every button that needs the service in a
// Blender whose person does not let it use the network. Only Blenders with extensions ask.
func TestExtensionAsksForNothingWhileBlenderIsOffline(t *testing.T) {
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	a := extensionDesk(svc, svc.URL)
	target, err := url.Parse(svc.URL)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	pass := httputil.NewSingleHostReverseProxy(target)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	a.server = door.URL
	var signedIn struct{}
	a.signIn(svc.Caller(story.Credit), &signedIn)
	if asked.Swap(0) == 0 {
		t.Fatal("signing in asked nothing of the service")
	}

	offline, _ := a.screened()
	offline.always = []string{"--offline-mode"}
	script, err := filepath.Abs(filepath.Join(story.AddOn, "tests", "offline.py"))
	if err != nil {
		t.Fatal(err)
	}
	tells := filepath.Join(t.TempDir(), "told.json")
	offline.run(nil, "--python", script, "--", door.URL, tells)
	text, err := os.ReadFile(tells)
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Error     string            `json:"error"`
		Panel     []string          `json:"panel"`
		Refused   map[string]string `json:"refused"`
		SignedIn  string            `json:"signed in"`
		Following int               `json:"following"`
	}
	if err := json.Unmarshal(text, &told); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
	if told.Error != "" || told.SignedIn != door.URL {
		t.Errorf("the add-on told %+v", told)
	}
	if n := asked.Load(); n > 0 || told.Following > 0 {
		t.Errorf("%d calls came from a Blender that is offline, and %d jobs were followed", n, told.Following)
	}
	for _, said := range told.Panel {
		if !strings.Contains(said, "Allow Online Access") {
			t.Errorf("the panel says %q", said)
		}
	}
	for button, said := range told.Refused {
		if !strings.Contains(said, "System > Network") || strings.Contains(said, "RuntimeError") {
			t.Errorf("%s says %q: not where the network is allowed", button, said)
		}
	}
	if len(told.Panel) == 0 || len(told.Refused) < 8 {
		t.Errorf("the panel was drawn %d times, and %d buttons were pressed", len(told.Panel), len(told.Refused))
	}
}
