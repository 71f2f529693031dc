package story_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// fixture finds a real .blend that other people made. The files are not part of
// the project; where they are not beside it, there is nothing to tell.
func fixture(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../../../shared/fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the fixtures are not beside this checkout")
	}
	return path
}

// cliService starts svc serve with one workspace and returns the environment in
// which svc commands use it.
func cliService(t *testing.T) (environment []string) {
	t.Helper()
	buildOnce(t)
	data := t.TempDir()
	environment = append(os.Environ(), "SVC_BLENDER="+realBlender(t), "SVC_DEVICE=cpu", "SVC_ALLOW_BLENDER_VERSION=true", "SVC_DENOISE=off")
	s, err := serveBinary(data, environment)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("svc serve ended with %v", err)
		}
		if out, err := exec.Command(svc(), "admin", "audit", "--data", data).CombinedOutput(); err != nil {
			t.Errorf("audit: %v\n%s", err, out)
		}
	})
	out, err := exec.Command(svc(), "admin", "workspace", "create", "--email", "you@example.com", "--credit-cents", "1000", "--data", data, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		AgentKey string `json:"agent_key"`
	}
	if err := json.Unmarshal(out, &made); err != nil {
		t.Fatal(err)
	}
	return append(environment, "SVC_SERVER="+s.address, "SVC_KEY="+made.AgentKey)
}

// rendered is what svc render --json prints.
type rendered struct {
	OK           bool     `json:"ok"`
	Frames       []string `json:"frames"`
	ZIP          string   `json:"zip"`
	Receipt      string   `json:"receipt"`
	ChargedCents int      `json:"charged_cents"`
	Error        struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func svcRender(t *testing.T, environment []string, file string, arguments ...string) (r rendered) {
	t.Helper()
	command := exec.Command(svc(), append([]string{"render", file, "--out", t.TempDir(), "--yes", "--json"}, arguments...)...)
	command.Env, command.Stderr = environment, t.Output()
	out, failed := command.Output()
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("svc render printed %q: %v", out, errors.Join(err, failed))
	}
	if (failed == nil) != r.OK {
		t.Errorf("svc render ended with %v and says ok=%v", failed, r.OK)
	}
	return r
}

func TestRealFilesAreRendered(t *testing.T) {
	t.Parallel()
	for _, story := range []struct {
		file, frames         string
		count, width, height int
	}{
		{"base_scene.blend", "1-2", 2, 160, 120},
		{"glTF2.blend", "1", 1, 960, 540},
	} {
		t.Run(story.file, func(t *testing.T) {
			t.Parallel()
			path := fixture(t, story.file)
			environment := cliService(t)
			r := svcRender(t, environment, path, "--frames", story.frames)
			if !r.OK || len(r.Frames) != story.count || r.ChargedCents != story.count {
				t.Fatalf("rendered %+v, want %d frames", r, story.count)
			}
			content, err := os.ReadFile(r.ZIP)
			if err != nil {
				t.Fatal(err)
			}
			wantPictures(t, content, story.count, story.width, story.height)
			// svc verify compares the ZIP's hash with the receipt's.
			if out, err := exec.Command(svc(), "verify", r.Receipt, "--artifact", r.ZIP).CombinedOutput(); err != nil {
				t.Errorf("svc verify: %v\n%s", err, out)
			}
		})
	}
}

func TestRealFilesThatCannotBeRenderedAreRefusedAtInspect(t *testing.T) {
	t.Parallel()
	fixture(t, "manifest.json")
	environment := cliService(t)
	for file, code := range map[string]string{
		"cartpole.blend":                      "engine_not_supported",
		"cube_compositor.blend":               "engine_not_supported",
		"rounded_cube.blend":                  "engine_not_supported",
		"BlenderDefault_248.blend":            "engine_not_supported",
		"BlenderDefault_250_Compressed.blend": "engine_not_supported",
		"37_lamp_Cycles.blend":                "file_too_new",
		"39_parenting_full_hierarchy.blend":   "file_too_new",
		"simpletest.blend":                    "unsupported_file",
	} {
		if r := svcRender(t, environment, fixture(t, file)); r.OK || r.Error.Code != code {
			t.Errorf("%s: answered %+v, want %s", file, r.Error, code)
		}
	}
}
