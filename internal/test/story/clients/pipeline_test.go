package clients_test

import (
	"crypto/tls"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/programs"
	"svc.example/internal/test/story"
	"svc.example/internal/work/synthetic"
)

// pipelines are the examples of clients/pipeline with what each runs with.
func pipelines(t *testing.T, svc *story.Service) map[string]func(folder string) *exec.Cmd {
	t.Helper()
	source, err := filepath.Abs("../../../../clients/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	program := programs.Path(t, programs.Pipeline)
	return map[string]func(folder string) *exec.Cmd{
		"Go": func(string) *exec.Cmd { return exec.CommandContext(story.Patient(t), program) },
		"Python": func(folder string) *exec.Cmd {
			command := exec.CommandContext(story.Patient(t), "python3", "-W", "error", filepath.Join(source, "pipeline.py"))
			command.Env = []string{"PYTHONPATH=" + pythonSDK.install(t, svc, folder), "PYTHONDONTWRITEBYTECODE=1"}
			return command
		},
		"JavaScript": func(folder string) *exec.Cmd { // it finds its package next to it
			text, err := os.ReadFile(filepath.Join(source, "pipeline.mjs"))
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, "pipeline.mjs"), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			typescriptSDK.install(t, svc, folder)
			return exec.CommandContext(story.Patient(t), pinnedNode(t), filepath.Join(folder, "pipeline.mjs"))
		},
	}
}

// TestAPipelinePublishesWhatItVerifiedWhenTheServiceCalls runs the example of each language:
// it renders, is called through a proxy with a certificate, verifies, and publishes; a call
// that the service did not sign wakes none. svc verify agrees with what was published.
func TestAPipelinePublishesWhatItVerifiedWhenTheServiceCalls(t *testing.T) {
	t.Parallel()
	ca := story.NewAuthority(t)
	certificate, err := tls.LoadX509KeyPair(ca.Cert, ca.Key)
	if err != nil {
		t.Fatal(err)
	}
	svc := story.Start(t, app.Config{
		Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t), AllowSynthetic: true,
		Webhooks: outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: ca.Pool},
	})
	svc.Worker(synthetic.Renderer{})
	for language, pipeline := range pipelines(t, svc) {
		c, folder, address := svc.Caller(story.Credit), t.TempDir(), story.FreeAddress(t)
		proxy := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address}))
		proxy.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
		proxy.StartTLS()
		t.Cleanup(proxy.Close)
		scene, published := filepath.Join(folder, "shot 010.blend"), filepath.Join(folder, "published", "shot 010")
		if err := os.WriteFile(scene, demo.Scene(), 0o600); err != nil {
			t.Fatal(err)
		}
		command := pipeline(folder)
		command.Args = append(command.Args, scene, published)
		command.Env = append(append(os.Environ(), command.Env...), "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Agent.Secret, "HOOK_URL="+proxy.URL+"/svc", "LISTEN="+address)
		output, err := command.CombinedOutput()
		if said := string(output); err != nil || !strings.Contains(said, "called: render.completed") || !strings.Contains(said, "published, verified: signature") {
			t.Errorf("%s: %v\n%s", language, err, output)
			continue
		}
		if left, err := os.ReadDir(filepath.Dir(published)); err != nil || len(left) != 1 {
			t.Errorf("%s: next to what was published are %v, %v", language, left, err)
		}
		output, err = exec.CommandContext(story.Patient(t), apptest.Binary(t), "verify", filepath.Join(published, "receipt.json"),
			"--artifact", filepath.Join(published, "frames.zip"), "--keys", svc.URL+"/v1/signing-keys", "--require", "artifact,key").CombinedOutput()
		if err != nil {
			t.Errorf("%s: svc verify: %v\n%s", language, err, output)
		}
	}
}
