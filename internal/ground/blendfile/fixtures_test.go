package blendfile_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/ground/blendfile"
)

// fixtures are real files that other people made. They are not ours to publish,
// so this test runs only where they lie beside the repository.
const fixtures = "../../../../shared/fixtures"

type fixture struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Valid  bool   `json:"valid_blend"`
	Header struct {
		Version     int    `json:"version"`
		PointerBits int    `json:"pointer_bits"`
		Endian      string `json:"endian"`
		Compression string `json:"compression"`
		Unpacked    int64  `json:"uncompressed_size"`
	} `json:"header"`
	Scene struct {
		Active        *string `json:"active_scene"`
		Scenes        int     `json:"n_scenes"`
		Start         int     `json:"frame_start"`
		End           int     `json:"frame_end"`
		Step          int     `json:"frame_step"`
		Count         int     `json:"frame_count"`
		X             int     `json:"res_x"`
		Y             int     `json:"res_y"`
		Percent       int     `json:"res_pct"`
		FPS           float64 `json:"fps"`
		Camera        *string `json:"camera"`
		External      int     `json:"external_images"`
		Packed        int     `json:"packed_images"`
		Texts         int     `json:"texts"`
		TextsRegister int     `json:"texts_register"`
		Libraries     int     `json:"libraries"`
		Engine        *string `json:"engine_stored"`
		Samples       int     `json:"cycles_samples"`
	} `json:"scene"`
}

func TestFixturesAgreeWithBlender(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(fixtures, "manifest.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the fixtures are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []fixture
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, want := range list {
		t.Run(want.File, func(t *testing.T) {
			t.Parallel()
			agree(t, want)
		})
	}
}

func agree(t *testing.T, want fixture) {
	f, err := os.Open(filepath.Join(fixtures, want.File))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	facts, err := blendfile.Inspect(f, blendfile.Options{ReadAll: true})
	if !want.Valid {
		if !errors.Is(err, blendfile.ErrNotBlend) {
			t.Fatalf("error %v, want ErrNotBlend", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	check(t, "version", facts.FileVersion, want.Header.Version)
	check(t, "pointer bits", facts.PointerBits, want.Header.PointerBits)
	check(t, "big endian", facts.BigEndian, want.Header.Endian == "big")
	check(t, "compression", facts.Compression, want.Header.Compression)
	check(t, "unpacked", facts.Unpacked, want.Header.Unpacked)
	check(t, "scenes", facts.SceneCount, want.Scene.Scenes)
	s := facts.Scene
	check(t, "scene", s.Name, text(want.Scene.Active))
	check(t, "start", s.FrameStart, want.Scene.Start)
	check(t, "end", s.FrameEnd, want.Scene.End)
	check(t, "step", s.FrameStep, want.Scene.Step)
	check(t, "count", (s.FrameEnd-s.FrameStart)/s.FrameStep+1, want.Scene.Count)
	check(t, "width", s.ResolutionX, want.Scene.X)
	check(t, "height", s.ResolutionY, want.Scene.Y)
	check(t, "percentage", s.ResolutionPercentage, want.Scene.Percent)
	check(t, "fps", s.FPS, want.Scene.FPS)
	check(t, "camera", s.Camera, text(want.Scene.Camera))
	check(t, "engine", s.Engine, text(want.Scene.Engine))
	check(t, "samples", s.Samples, want.Scene.Samples)
	check(t, "libraries", len(facts.LinkedLibraries), want.Scene.Libraries)
	check(t, "texts", len(facts.Texts), want.Scene.Texts)
	registers := 0
	for _, x := range facts.Texts {
		if x.Registers {
			registers++
		}
	}
	check(t, "registering texts", registers, want.Scene.TextsRegister)
	external, packed := 0, 0
	for _, x := range facts.Externals {
		switch x.Kind {
		case blendfile.KindImage, blendfile.KindImageSequence, blendfile.KindMovie, blendfile.KindImageTiles:
			if x.Packed {
				packed++
			} else {
				external++
			}
		}
	}
	check(t, "external images", external, want.Scene.External)
	check(t, "packed images", packed, want.Scene.Packed)
	if t.Failed() {
		b, _ := json.MarshalIndent(facts, "", " ")
		t.Logf("%s", b)
	}
}

func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
