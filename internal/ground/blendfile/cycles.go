package blendfile

import "math"

// Types of ID properties that Cycles settings are stored in.
const (
	propInt  = 1
	propBool = 10
)

// cyclesGroup finds the settings that Cycles keeps on a struct: the group
// "cycles" among its properties. Since 5.0 those of add-ons stand in a place of
// their own, apart from what users add.
func cyclesGroup(r record, paths ...string) record {
	for _, path := range paths {
		for p := range r.follow(path, "IDProperty").list("data.group", "IDProperty") {
			if p.text("name") == "cycles" {
				return p
			}
		}
	}
	return record{}
}

// setting is one value of a group.
type setting struct {
	n       int
	foreign bool // not of the type the setting has: scripts can store anything
}

// settings reads the whole numbers and switches of a group. Of two of one name
// the first one counts, as Blender looks them up.
func settings(group record) map[string]setting {
	set := map[string]setting{}
	for p := range group.list("data.group", "IDProperty") {
		t, name := p.int("type"), p.text("name")
		if _, known := set[name]; known {
			continue
		}
		set[name] = setting{n: p.int("data.val"), foreign: t != propInt && t != propBool}
	}
	return set
}

// version is the saving Blender's version and subversion in one number.
func version(major, sub int) int { return major*1000 + sub }

func (f *file) version() int { return version(f.header.version, f.subversion()) }

func (f *file) subversion() int { return f.global.int("subversion") }

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

// cycles fills in Cycles' settings as they are after load. A setting that is not
// stored has the default of the saving version; one that is stored as a foreign
// type has the default of the loading one.
func (f *file) cycles(r record, s *Scene) {
	group := cyclesGroup(r, "id.system_properties", "id.properties")
	set, v := settings(group), f.version()
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
	s.Samples = value("samples", samples, samplesSince)
	// The switch existed up to 2.93; Blender applies and drops it when it loads
	// such a file.
	if old && set["use_square_samples"].n != 0 {
		s.Samples = squared(s.Samples)
	}
	s.AdaptiveSampling = value("use_adaptive_sampling", flag(!old), 1) != 0
	s.Denoise = value("use_denoising", flag(!old), 1) != 0
	s.Denoiser = denoiser(value("denoiser", denoiserOIDN, denoiserOIDN))
	// Before 2.90 each view layer had the switch. A file in which Cycles stored
	// nothing has none of them.
	if v < firstSceneDenoising() && group.l != nil {
		s.Denoise, s.Denoiser = layersDenoise(r)
	}
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

// layersDenoise asks the view layers, where denoising was switched before 2.90:
// one that denoises switches it on for the scene.
func layersDenoise(r record) (bool, string) {
	on, by := false, denoiserNLM
	for l := range r.list("view_layers", "ViewLayer") {
		set := settings(cyclesGroup(l, "id_properties"))
		on = on || set["use_denoising"].n != 0
		if set["use_optix_denoising"].n != 0 {
			by = denoiserOptiX
		}
	}
	for l := range r.list("r.layers", "SceneRenderLayer") {
		on = on || settings(cyclesGroup(l, "prop"))["use_denoising"].n != 0
	}
	return on, denoiser(by)
}
