package quote

import (
	"slices"

	"svc.example/internal/render/buildoption"
)

// NeededOption is what Blender must be built with for a picture, and one file that needs it.
type NeededOption struct {
	Option buildoption.Option `json:"option" enum:"alembic,usd,osl,openvdb,movies"`
	Kind   string             `json:"kind" doc:"Kind of the file: cache, script, volume, movie or simulation."`
	Path   string             `json:"path,omitempty" doc:"As written in the file; absent for a shader that is in the file itself."`
	Owner  string             `json:"owner,omitempty" doc:"The data-block that wants it."`
	From   string             `json:"from,omitempty" doc:"The library that names it; absent for the upload itself."`
}

// Needs is what Blender must be built with for the picture, and whether its worker has to deliver
// outputs. Workers without it get no frame of the scene.
func (s Scene) Needs() (needs buildoption.Set) {
	for _, n := range s.BuildOptions {
		needs |= buildoption.Of(n.Option)
	}
	if len(s.FileOutputNodes) > 0 {
		needs |= buildoption.Of(buildoption.FileOutputs)
	}
	if s.Multiview || s.EXRPreviews {
		needs |= buildoption.Of(buildoption.Views)
	}
	return needs
}

// neededOf lists what of the scene needs one of some options.
func (s Scene) neededOf(options buildoption.Set) []NeededOption {
	return slices.DeleteFunc(slices.Clone(s.BuildOptions), func(n NeededOption) bool { return !options.Has(n.Option) })
}

// lacks is what keeps every online worker from a scene that needs some options: the options
// that none of them has, or, if each is missing different ones, all that any is missing. It
// is 0 if one worker has all, or none is online.
func (f Farm) lacks(needs buildoption.Set) buildoption.Set {
	common, some := needs, buildoption.Set(0)
	for _, lacks := range f.Lacks {
		if lacks&needs == 0 {
			return 0
		}
		common, some = common&lacks, some|lacks&needs
	}
	if common != 0 && len(f.Lacks) > 0 {
		return common
	}
	return some
}

// optionText names an option and what needs it, as in "Alembic (//a.abc, cache Birds)".
func optionText(n NeededOption) string {
	path := ""
	if n.Path != "" {
		path = n.Path + ", "
	}
	return n.Option.Title() + " (" + path + n.Kind + " " + n.Owner + inLibrary(n.From) + ")"
}
