package quote_test

import (
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/quote"
)

func TestWhatNoWorkerIsBuiltForIsToldBeforeThePrice(t *testing.T) {
	t.Parallel()
	birds := quote.NeededOption{Option: buildoption.Alembic, Kind: "cache", Path: "//a.abc", Owner: "Birds"}
	glow := quote.NeededOption{Option: buildoption.OSL, Kind: "script", Owner: "Glow", From: "lib.blend"}
	alembic, osl := buildoption.Of(buildoption.Alembic), buildoption.Of(buildoption.OSL)
	for name, c := range map[string]struct {
		lacks []buildoption.Set
		needs []quote.NeededOption
		want  string // what is named; "" for no warning
	}{
		"no worker is online":           {nil, []quote.NeededOption{birds}, ""},
		"a worker has all":              {[]buildoption.Set{alembic, 0}, []quote.NeededOption{birds}, ""},
		"a worker lacks something else": {[]buildoption.Set{osl}, []quote.NeededOption{birds}, ""},
		"the scene needs nothing":       {[]buildoption.Set{alembic | osl}, nil, ""},
		"no worker has it":              {[]buildoption.Set{alembic, alembic | osl}, []quote.NeededOption{birds}, "Alembic (//a.abc, cache Birds)."},
		"all lack one of two":           {[]buildoption.Set{osl, osl | alembic}, []quote.NeededOption{birds, glow}, "Open Shading Language (script Glow, in lib.blend)."},
		"each lacks one of two": {[]buildoption.Set{osl, alembic}, []quote.NeededOption{birds, glow},
			"Alembic (//a.abc, cache Birds), Open Shading Language (script Glow, in lib.blend)."},
	} {
		scene := quote.Scene{FileVersion: "4.1", FrameStart: 1, FrameEnd: 1, BuildOptions: c.needs}
		farm := quote.Farm{BlenderVersion: contract.BlenderVersion, Workers: len(c.lacks), Lacks: c.lacks}
		warnings := quote.Envelope(contract.QualifiedPixelSamples).Warnings(scene, farm, quote.Selection{Frames: scene.Frames()})
		at := slices.IndexFunc(warnings, func(w quote.Warning) bool { return w.Code == quote.WarnBuildOption })
		switch {
		case at < 0 && c.want != "":
			t.Errorf("%s: no warning", name)
		case at >= 0 && (c.want == "" || !strings.Contains(warnings[at].Message, ": "+c.want+" Frames and free previews wait")):
			t.Errorf("%s: %s", name, warnings[at].Message)
		}
	}
}
