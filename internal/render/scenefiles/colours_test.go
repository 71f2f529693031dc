package scenefiles_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/render/settings"
	"svc.example/internal/test/ociotest"
)

// shot is a folder with a .blend; config says where a configuration of colours is put.
func shot(t *testing.T, config string) (folder, blend string) {
	t.Helper()
	folder = t.TempDir()
	blend = filepath.Join(folder, "scene.blend")
	text, err := os.ReadFile("testdata/packed/scene.blend")
	if err == nil {
		err = os.WriteFile(blend, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ociotest.Write(t, filepath.Join(folder, config))
	return folder, blend
}

func TestAConfigurationOfColoursIsSentWithItsFiles(t *testing.T) {
	t.Parallel()
	inside, blend := shot(t, "")
	elsewhere, _ := shot(t, "studio")
	if err := os.Mkdir(filepath.Join(inside, "ocio"), 0o700); err != nil { // a folder of the project
		t.Fatal(err)
	}
	for config, want := range map[string][]string{
		filepath.Join(inside, ociotest.Config):              {"colour/config.ocio", "colour/luts/negative.spi1d", "scene.blend"},
		filepath.Join(elsewhere, "studio", ociotest.Config): {"ocio-2/config.ocio", "ocio-2/luts/negative.spi1d", "scene.blend"},
	} {
		disk, err := scenefiles.OpenDisk(blend, "")
		if err != nil {
			t.Fatal(err)
		}
		name, err := disk.Configure(config)
		if err != nil {
			t.Fatal(err)
		}
		found, err := disk.Find(t.Context(), scenefiles.Options{Settings: settings.Settings{OCIO: name}})
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, taken := range found.Taken(0) {
			paths = append(paths, taken.Path)
			if text, err := os.ReadFile(blend); taken.Path == "scene.blend" && (err != nil || len(text) == 0) {
				t.Error(err)
			}
			file, err := disk.Tree.Open(taken.Path)
			if err != nil {
				t.Fatal(err)
			}
			_ = file.Close()
		}
		if !slices.Equal(paths, want) || found.Colours.Path != name {
			t.Errorf("%s is sent as %q, want %q", config, paths, want)
		}
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestALUTThatIsNotThereIsMissing(t *testing.T) {
	t.Parallel()
	folder, blend := shot(t, "")
	if err := os.Remove(filepath.Join(folder, ociotest.LUT)); err != nil {
		t.Fatal(err)
	}
	find := func(config string) (*scenefiles.Found, error) {
		return scenefiles.OnDisk(t.Context(), blend, "", scenefiles.Options{Settings: settings.Settings{OCIO: config}})
	}
	found, err := find(ociotest.Config)
	if err != nil {
		t.Fatal(err)
	}
	if f := fileOf(t, found, "negative.spi1d"); !f.Gone() || f.Kind != scenefiles.KindLUT || f.UsedBy != "colour space Negative" || f.Owner != ociotest.Config {
		t.Errorf("%+v", f)
	}
	for _, config := range []string{"none.ocio", "scene.blend", "colour"} {
		_, err := find(config)
		if bad, ok := errors.AsType[*settings.Error](err); !ok || bad.Setting != "ocio" {
			t.Errorf("%s: %v", config, err)
		}
	}
}

// TestAConfigurationCountsInTheMemoryOfInspections, which is given back.
func TestAConfigurationCountsInTheMemoryOfInspections(t *testing.T) {
	t.Parallel()
	folder, _ := shot(t, "")
	config := filepath.Join(folder, ociotest.Config)
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, append(text, "more: ["+strings.Repeat("1, ", 50_000)+"]\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	find := func(budget *memory.Budget) error {
		_, err := scenefiles.Find(t.Context(), os.DirFS(folder), "scene.blend", scenefiles.Options{Memory: budget, Settings: settings.Settings{OCIO: ociotest.Config}})
		return err
	}
	if err := find(memory.NewBudget(4 << 20)); !errors.Is(err, blendfile.ErrBusy) {
		t.Errorf("a configuration that takes more memory than there is: %v", err)
	}
	enough := memory.NewBudget(16 << 20)
	for range 3 {
		if err := find(enough); err != nil {
			t.Error(err)
		}
	}
}
