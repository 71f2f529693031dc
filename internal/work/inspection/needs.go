package inspection

import (
	"path"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/work/quote"
)

// optionOf is what Blender must be built with to read a file; ok is false if every Blender
// reads it. Blender also distinguishes caches by their extension.
func optionOf(kind scenefiles.Kind, name string) (o buildoption.Option, ok bool) {
	switch extension := strings.ToLower(path.Ext(name)); {
	case kind == scenefiles.KindMovie:
		return buildoption.Movies, true
	case kind == scenefiles.KindScript:
		return buildoption.OSL, true
	case kind == scenefiles.KindVolume, kind == scenefiles.KindSimulation && extension == ".vdb":
		return buildoption.OpenVDB, true
	case kind == scenefiles.KindCache && extension == ".abc":
		return buildoption.Alembic, true
	case kind == scenefiles.KindCache && slices.Contains([]string{".usd", ".usda", ".usdc", ".usdz"}, extension):
		return buildoption.USD, true
	}
	return "", false
}

// need adds to a scene what Blender must be built with for a file, unless another one needs
// it already.
func need(s *quote.Scene, kind scenefiles.Kind, name string, n quote.NeededOption) {
	var ok bool
	n.Option, ok = optionOf(kind, name)
	if !ok || s.Needs().Has(n.Option) {
		return
	}
	n.Kind = string(kind)
	s.BuildOptions = append(s.BuildOptions, n)
}

// needPacked adds what is needed for what is packed.
func needPacked(s *quote.Scene, packed []blendfile.PackedFile) {
	for _, p := range packed {
		need(s, scenefiles.KindOf(p.Kind), p.Path, quote.NeededOption{Path: p.Path, Owner: p.Owner, From: p.From})
	}
}

// needFound adds what is needed for a file of a project, if the picture needs it and some of
// it is there. Of a bake, each file counts.
func needFound(s *quote.Scene, f *scenefiles.File, from string) {
	if f.Reach != scenefiles.ReachNeeded {
		return
	}
	for _, name := range f.Names {
		need(s, f.Kind, name.Path, quote.NeededOption{Path: f.Stored, Owner: f.Owner, From: from})
	}
}
