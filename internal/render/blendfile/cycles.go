package blendfile

import (
	"math"

	"svc.example/internal/render/blendfile/records"
)

// Types of ID properties that Cycles settings are stored in.
const (
	propInt  = 1
	propBool = 10
)

// cyclesGroup finds the settings that Cycles keeps on a struct: the group
// "cycles" among its properties. Since 5.0 those of add-ons are separate from
// what users add.
func cyclesGroup(r records.Record, paths ...string) records.Record {
	for _, path := range paths {
		for p := range r.Follow(path, "IDProperty").List("data.group", "IDProperty") {
			if p.Text("name") == "cycles" {
				return p
			}
		}
	}
	return records.Record{}
}

// setting is one value of a group.
type setting struct {
	n       int
	foreign bool // not of the type the setting has: scripts can store anything
	some    bool // any of its bits is set, whatever its type
}

// storedIn reads the whole numbers and switches of a group. If two have one
// name, the first one counts, as in Blender.
func storedIn(group records.Record) map[string]setting {
	set := map[string]setting{}
	for p := range group.List("data.group", "IDProperty") {
		t, name := p.Int("type"), p.Text("name")
		if _, known := set[name]; known {
			continue
		}
		n := p.Int("data.val")
		set[name] = setting{n: n, foreign: t != propInt && t != propBool, some: n != 0 || p.Int("data.val2") != 0}
	}
	return set
}

// version is the saving Blender's version and subversion in one number.
func version(major, sub int) int { return major*1000 + sub }

func (f *file) savedBy() int { return version(f.Version, f.subversion()) }

func (f *file) subversion() int { return f.Global.Int("subversion") }

// The last versions with the defaults that were changed after them. Cycles
// writes the old default into older files when it loads them.
func lastWith10Samples() int   { return version(276, 8) }
func lastBefore4096() int      { return version(300, 25) }
func firstSceneDenoising() int { return version(290, 5) }

const (
	samplesTo276 = 10
	samplesTo293 = 128
	samplesSince = 4096
	maxSamples   = 1 << 24
)

// cycles are Cycles' settings of a scene, as they are after load.
type cycles struct {
	samples           int
	layers            layerSamples
	adaptive, denoise bool
	denoiser          string
	scripts           bool // Open Shading Language
	guiding, limited  bool // of paths; by time
	tile              int  // pixels of the longest side that is rendered whole; 0 for any
}

// tileSize is the side of a tile where a file stores none.
const tileSize = 2048

// cycles reads Cycles' settings of a scene. A setting that is not stored has the default
// of the saving version; one that is stored as a foreign type has the default of the
// loading one.
func (f *file) cycles(r records.Record) (c cycles) {
	if known, ok := f.cyclesOf[r.Addr()]; ok {
		return known
	}
	if f.cyclesOf == nil {
		f.cyclesOf = map[uint64]cycles{}
	}
	defer func() { f.cyclesOf[r.Addr()] = c }()
	group := cyclesGroup(r, "id.system_properties", "id.properties")
	set, v := storedIn(group), f.savedBy()
	value := func(name string, unset, current int) int {
		switch p, ok := set[name]; {
		case !ok:
			return unset
		case p.foreign:
			return current
		default:
			return p.n
		}
	}
	old := v <= lastBefore4096()
	samples := samplesSince
	if v <= lastWith10Samples() {
		samples = samplesTo276
	} else if old {
		samples = samplesTo293
	}
	c.samples = value("samples", samples, samplesSince)
	// What is chosen is at most what the file has, so an old file's square is no more.
	if f.chosen.of(r) && f.chosen.Samples != 0 {
		defer func() { c.samples = f.chosen.Samples }()
	}
	// The switch existed up to 2.93; Blender applies and drops it when it loads
	// such a file.
	if old && set["use_square_samples"].n != 0 {
		c.samples = squared(c.samples)
	}
	c.adaptive = value("use_adaptive_sampling", flag(!old), 1) != 0
	c.denoise = value("use_denoising", flag(!old), 1) != 0
	c.denoiser = denoiser(value("denoiser", denoiserOIDN, denoiserOIDN))
	// Before 2.90 each view layer had the switch. A file in which Cycles stored
	// nothing has none of them.
	if v < firstSceneDenoising() && group.OK() {
		c.denoise, c.denoiser = layersDenoise(r)
	}
	c.layers = f.samplesOfLayers(r, value("use_layer_samples", 0, 0))
	c.scripts = value("shading_system", 0, 0) != 0
	c.guiding = value("use_guiding", 0, 0) != 0
	c.limited = set["time_limit"].some // a float
	if value("use_auto_tile", 1, 1) != 0 {
		c.tile = value("tile_size", tileSize, tileSize)
	}
	return c
}

// layerSamples is how many samples a pixel takes in all view layers: those that have the
// scene's number, and the samples of those that have a number of their own.
type layerSamples struct{ scenes, own int }

// of is the sum where the scene's number is n.
func (l layerSamples) of(n int) int { return l.scenes*n + l.own }

// Uses of the samples that a view layer has of its own (use_layer_samples).
const (
	layerSamplesBound  = 1 // of both numbers the lower
	layerSamplesIgnore = 2
)

// samplesOfLayers reads the view layers that are rendered. A bound is counted as the
// scene's number.
func (f *file) samplesOfLayers(r records.Record, use int) (sum layerSamples) {
	for l := range r.List("view_layers", "ViewLayer") {
		switch n := l.Int("samples"); {
		case !f.chosen.Renders(r, l):
		case n <= 0 || use == layerSamplesBound || use == layerSamplesIgnore:
			sum.scenes++
		default:
			sum.own = min(sum.own+n, math.MaxInt32)
		}
	}
	if sum == (layerSamples{}) {
		sum.scenes = 1
	}
	return sum
}

// squared is n² as Blender makes it: held to what the setting takes, and left
// as it was when the product is beyond 32 bits, since then its script fails.
func squared(n int) int {
	n64 := int64(n)
	switch square := n64 * n64; {
	case square > math.MaxInt32:
		return n
	default:
		return int(min(square, maxSamples))
	}
}

func flag(on bool) int {
	if on {
		return 1
	}
	return 0
}

const (
	denoiserNLM   = 1 // dropped in 3.0; what asks for it gets Open Image Denoise
	denoiserOptiX = 2
	denoiserOIDN  = 4
)

func denoiser(n int) string {
	if n == denoiserOptiX {
		return "OPTIX"
	}
	return "OPENIMAGEDENOISE"
}

// layerDenoises reports whether a scene that denoises does so in one of its view layers.
// From 2.90 each has a switch of its own, which is on where it is not stored.
func (f *file) layerDenoises(r records.Record) bool {
	known := false
	for l := range r.List("view_layers", "ViewLayer") {
		known = true
		p, stored := storedIn(cyclesGroup(l, "system_properties", "id_properties"))["use_denoising"]
		if f.chosen.Renders(r, l) && (!stored || p.foreign || p.n != 0) {
			return true
		}
	}
	return !known
}

// layersDenoise asks the view layers, where denoising was switched before 2.90:
// one that denoises switches it on for the scene.
func layersDenoise(r records.Record) (bool, string) {
	on, by := false, denoiserNLM
	for l := range r.List("view_layers", "ViewLayer") {
		set := storedIn(cyclesGroup(l, "id_properties"))
		on = on || set["use_denoising"].n != 0
		if set["use_optix_denoising"].n != 0 {
			by = denoiserOptiX
		}
	}
	for l := range r.List("r.layers", "SceneRenderLayer") {
		on = on || storedIn(cyclesGroup(l, "prop"))["use_denoising"].n != 0
	}
	return on, denoiser(by)
}
