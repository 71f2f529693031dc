package blender_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/settings"
)

// chosen are settings of the scene choices, and the scene that was saved with them.
func chosen() map[string]settings.Settings {
	s := settings.Settings{Scene: "Shot 20", Camera: "Far", ViewLayer: `Only "16"`, ResolutionPercentage: 50, Samples: 4}
	sized := s
	sized.ResolutionPercentage, sized.ResolutionX, sized.ResolutionY = 0, 40, 24
	return map[string]settings.Settings{"choices_saved": s, "choices_sized": sized}
}

func TestSettingsRenderWhatAFileWouldThatWasSavedWithThem(t *testing.T) {
	t.Parallel()
	for saved, s := range chosen() {
		t.Run(saved, func(t *testing.T) {
			t.Parallel()
			hand := byHand(t, scene(t, saved), "1,20")
			p, in := start(t, blender.Options{KeepData: true}), blender.SingleFile(scene(t, "choices"))
			in.Settings, in.Scene = s, s.Scene
			opened, err := p.Open(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1, 20} {
				f := render(t, p, n)
				ours, theirs := picture(t, f.Path), picture(t, filepath.Join(hand, filepath.Base(f.Path)))
				if ours != theirs || f.Width != opened.Width || f.Height != opened.Height {
					t.Errorf("frame %d: %+v, by hand %+v; said %dx%d", n, ours, theirs, opened.Width, opened.Height)
				}
			}
		})
	}
}

func TestAFileIsReadAsOneThatWasSavedWithTheSettings(t *testing.T) {
	t.Parallel()
	facts := func(name string, s settings.Settings) (*blendfile.Facts, error) {
		file, err := os.Open(scene(t, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		return blendfile.InspectAs(file, blendfile.Options{}, s)
	}
	for saved, s := range chosen() {
		got, err := facts("choices", s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := facts(saved, settings.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for what, both := range map[string][2]any{
			"scene": {got.Scene, want.Scene}, "rendering": {got.Rendering, want.Rendering}, "missing": {got.MissingFiles, want.MissingFiles},
			"cameras": {got.Cameras, want.Cameras}, "scenes": {got.Scenes, want.Scenes},
		} {
			ours, _ := json.Marshal(both[0])
			theirs, _ := json.Marshal(both[1])
			if string(ours) != string(theirs) {
				t.Errorf("%s, %s:\n%s\nof the saved file:\n%s", saved, what, ours, theirs)
			}
		}
	}
	whole, err := facts("choices", settings.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.MissingFiles) != 1 || whole.Scene.Name == "Shot 20" {
		t.Errorf("the file itself renders %q and lacks %v", whole.Scene.Name, whole.MissingFiles)
	}
	for _, c := range []struct {
		s      settings.Settings
		of     string
		offers []string
	}{
		{settings.Settings{Scene: "Shot 10"}, "scene", []string{"Scene", "Shot 20"}},
		{settings.Settings{Scene: "Shot 20", Camera: "Sun"}, "camera", []string{"Camera", "Far", "Near"}},
		{settings.Settings{Scene: "Shot 20", ViewLayer: "16"}, "view_layer", []string{"ViewLayer", `Only "16"`}},
		{settings.Settings{Scene: "Shot 20", Samples: 7}, "samples", nil},
	} {
		_, err := facts("choices", c.s)
		refused, ok := errors.AsType[*settings.Error](err)
		if !ok || refused.Setting != c.of || !slices.Equal(refused.Offers, c.offers) {
			t.Errorf("%+v: %+v, want a refusal of %s with %v", c.s, err, c.of, c.offers)
		}
	}
}
