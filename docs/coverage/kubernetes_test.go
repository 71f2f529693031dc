package coverage_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheStepsForKubernetesFillTheManifestsIn runs the first step of docs/kubernetes.md on a copy
// of the manifests: afterwards each names the address and the images of the reader.
func TestTheStepsForKubernetesFillTheManifestsIn(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "kubernetes.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, step, _ := strings.Cut(string(page), "```sh by=TestTheStepsForKubernetesFillTheManifestsIn\n")
	step, _, whole := strings.Cut(step, "```")
	there, err := filepath.Abs(filepath.Join(root, "deploy"))
	if err != nil || !whole {
		t.Fatal("the page has no such step", err)
	}
	dir := t.TempDir()
	if err := os.Symlink(there, filepath.Join(dir, "deploy")); err != nil {
		t.Fatal(err)
	}
	// No address of the page is that of a manifest, so that a step that changes nothing is seen.
	step = strings.ReplaceAll(step, "https://render.example.com|'", "https://render.reader.test|'")
	run := exec.CommandContext(t.Context(), "sh", "-ec", step)
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for file, has := range map[string][]string{
		"base/service/kustomization.yaml": {"SVC_PUBLIC_URL=https://render.reader.test\n"},
		"base/kustomization.yaml":         {"newName: registry.example.com/svc\n    newTag: \"1.0.0\"\n", "newName: registry.example.com/svc-autoscale\n    newTag: \"1.0.0\"\n"},
		"base/workers/worker-job.yaml":    {"image: registry.example.com/svc-worker:1.0.0\n"},
		"overlays/gpu/worker-job.yaml":    {"image: registry.example.com/svc-worker:1.0.0\n"},
		"overlays/s3/network.yaml":        {"cidr: 10.20.0.0/16"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, "cluster", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range has {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s does not have %q", file, part)
			}
		}
	}
}
