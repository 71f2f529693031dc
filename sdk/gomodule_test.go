package sdk_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/sdk"
)

// TestTheGoSDKIsFetchedFromAService builds a program in a new module, with no other source of
// the SDK than a proxy of it.
func TestTheGoSDKIsFetchedFromAService(t *testing.T) {
	t.Parallel()
	p, err := sdk.Go()
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, is := p.Files[strings.TrimPrefix(r.URL.Path, "/")]
		if !is {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(proxy.Close)
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder, own := t.TempDir(), t.TempDir()
	program := "package main\n\nimport \"svc.example/client\"\n\nfunc main() { _, _ = client.New(\"https://render.example\", \"key\") }\n"
	if err := os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir = folder
		// Modules of others come from what this machine has of them: no network is needed.
		command.Env = append(os.Environ(), "GOPROXY="+proxy.URL+",file://"+strings.TrimSpace(string(cache))+"/cache/download",
			"GOMODCACHE="+own, "GOSUMDB=off", "GOFLAGS=-trimpath -modcacherw", "GOWORK=off")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, output)
		}
	}
	run("mod", "init", "studio.example/render")
	run("get", "svc.example/client@latest")
	run("vet", ".")
	if sums, err := os.ReadFile(filepath.Join(folder, "go.sum")); err != nil || !strings.Contains(string(sums), "svc.example "+p.Version+" h1:") {
		t.Errorf("%v\n%s", err, sums)
	}
}
