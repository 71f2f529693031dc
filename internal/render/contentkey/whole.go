package contentkey

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile/expression"
)

// Frames count apart from each other only in files of versions whose data was examined for memory;
// in others every frame counts everything.
const (
	oldestExamined = 280
	newestExamined = 403
)

// remembering are structs of what depends on frames before, or of which it is not known
// on which times it depends, with the words for people.
func remembering() map[string]string {
	return map[string]string{
		"ParticleSystem": "a particle system", "ParticleSettings": "a particle system", "PointCache": "a simulation",
		"ParticleSystemModifierData": "a particle system", "ClothModifierData": "a cloth simulation", "FluidModifierData": "a fluid simulation",
		"SoftbodyModifierData": "a soft body", "DynamicPaintModifierData": "dynamic paint", "OceanModifierData": "an ocean",
		"SoftBody": "a soft body", "ClothSimSettings": "a cloth simulation", "RigidBodyWorld": "a rigid body simulation",
		"RigidBodyOb": "a rigid body simulation", "RigidBodyCon": "a rigid body simulation", "FluidsimSettings": "a fluid simulation",
		"FluidDomainSettings": "a fluid simulation", "FluidFlowSettings": "a fluid simulation", "FluidEffectorSettings": "a fluid simulation",
		"DynamicPaintCanvasSettings": "dynamic paint", "DynamicPaintBrushSettings": "dynamic paint",
		"NlaStrip": "an NLA strip", "NlaTrack": "an NLA track", "Sequence": "the sequencer",
		"bItasc": "an iTaSC solver", "bGPdata": "grease pencil", "GreasePencil": "grease pencil", "Simulation": "a simulation",
		"CacheFile": "a cache file", "MovieClip": "a movie clip", "Ipo": "an animation of an old version",
	}
}

// timeless are modifiers and constraints that follow from the frame alone. Others may
// remember: cloth, collisions, fluids, ocean, particles, floor, Python.
const timeless = ` ArmatureModifierData ArrayModifierData BevelModifierData BooleanModifierData BuildModifierData CastModifierData
 CorrectiveSmoothModifierData CurveModifierData DataTransferModifierData DecimateModifierData DisplaceModifierData EdgeSplitModifierData
 HookModifierData LaplacianDeformModifierData LaplacianSmoothModifierData LatticeModifierData MaskModifierData MeshDeformModifierData
 MeshToVolumeModifierData MirrorModifierData MultiresModifierData NodesModifierData NormalEditModifierData RemeshModifierData ScrewModifierData
 ShrinkwrapModifierData SimpleDeformModifierData SkinModifierData SmoothModifierData SolidifyModifierData SubsurfModifierData SurfaceDeformModifierData
 TriangulateModifierData UVProjectModifierData UVWarpModifierData VolumeDisplaceModifierData VolumeToMeshModifierData WarpModifierData WaveModifierData
 WeightVGEditModifierData WeightVGMixModifierData WeightVGProximityModifierData WeightedNormalModifierData WeldModifierData WireframeModifierData
 bArmatureConstraint bChildOfConstraint bClampToConstraint bDampTrackConstraint bDistLimitConstraint bFollowPathConstraint bKinematicConstraint
 bLocLimitConstraint bLocateLikeConstraint bLockTrackConstraint bPivotConstraint bRotLimitConstraint bRotateLikeConstraint bSameVolumeConstraint
 bShrinkwrapConstraint bSizeLikeConstraint bSizeLimitConstraint bSplineIKConstraint bStretchToConstraint bTrackToConstraint bTransLikeConstraint bTransformConstraint `

// constraintData matches the structs of constraints of one kind.
var constraintData = regexp.MustCompile(`^b\w+Constraint$`)

// rememberingNodes are beginnings of the names of nodes that remember.
func rememberingNodes() []string {
	return []string{"GeometryNodeSimulation", "GeometryNodeBake", "GeometryNodeRepeat", "SimulationNode", "CompositorNodeMovieClip", "GeometryNodeTool", "GeometryNodeForeach"}
}

// remembers says what in a struct depends on other frames; "" for nothing.
func (f *file) remembers(l *layout, b []byte) string {
	if what := remembering()[l.name]; what != "" {
		return what
	}
	name := strings.TrimSuffix(l.name, "ModifierData")
	switch {
	case l.name == "ModifierData" || l.name == "bConstraint":
		return ""
	case name != l.name && !strings.Contains(timeless, l.name):
		return "the modifier " + name
	case l.constraint && !strings.Contains(timeless, l.name):
		return "a constraint of the kind " + strings.TrimSuffix(strings.TrimPrefix(l.name, "b"), "Constraint")
	case f.unmeasured(l, b):
		return "a constraint whose length or place Blender has yet to measure"
	case l.name == "bNode":
		id := text(l, b, "idname")
		if slices.ContainsFunc(rememberingNodes(), func(p string) bool { return strings.HasPrefix(id, p) }) {
			return "the node " + text(l, b, "name")
		}
	}
	return ""
}

// unmeasured reports whether a constraint takes what it lacks from the first frame in which it is
// evaluated, which is the one in which the file was saved.
func (f *file) unmeasured(l *layout, b []byte) bool {
	const bound, placed = 1 << 0, 1 << 9 // flags of bSplineIKConstraint and bChildOfConstraint
	zero := func(path string) bool {
		m, ok := l.fields(path)
		return ok && m.Size == 4 && math.Float32frombits(f.Order.Uint32(b[m.Offset:])) == 0
	}
	switch l.name {
	case "bStretchToConstraint":
		return zero("orglength")
	case "bDistLimitConstraint":
		return zero("dist")
	case "bSplineIKConstraint":
		return f.integer(l, b, "flag")&bound == 0
	case "bChildOfConstraint":
		return f.integer(l, b, "flag")&placed != 0
	}
	return false
}

// scenePaths are properties of the scene of which curves and drivers change nothing but the
// frame itself, or nothing: Cycles reads them of the scene as it is in that frame. With others,
// such as the shutter's, every frame counts everything.
var scenePaths = regexp.MustCompile(`^(view_settings\.|eevee\.|\["|(use_audio(_scrub)?|use_preview_range|render\.sequencer_gl_preview)$|` +
	`cycles\.(samples|seed|use_animated_seed|sampling_pattern|(auto_)?scrambling_distance|\w+_bounces|light_sampling_threshold|sample_clamp_(in)?direct|` +
	`blur_glossy|caustics_(reflective|refractive)|adaptive_(threshold|min_samples)|film_\w+|filter_width|pixel_filter_type|` +
	`volume_(step_rate|max_steps|preview_step_rate)|use_fast_gi|fast_gi_method|ao_bounces(_render)?|preview_\w+)$)`)

// curvePaths are more such properties. Blender renders with what curves have set of them; what
// drivers set of them can be one frame late.
var curvePaths = regexp.MustCompile(`^(use_nodes|render\.(dither_intensity|filter_size|film_transparent|hair_subdiv|hair_type|line_thickness(_mode)?|use_bake_\w+|bake_\w+)|` +
	`view_layers\["[^"\\]*"\]\.(use_(solid|strand|sky|ao|volumes)|use_pass_(combined|z|mist|normal|position|uv|emit|environment|shadow|ambient_occlusion|object_index|material_index|` +
	`(diffuse|glossy|transmission|subsurface)_(direct|indirect|color))|pass_alpha_threshold)|` +
	`cycles\.(texture_limit(_render)?|use_(camera|distance)_cull|(camera|distance)_cull_margin|(surface|volume)_guiding_probability))$`)

// whole says why every frame counts everything that the scene comes from; "" where frames
// count apart from each other. Libraries have reasons of their own: see library.whole.
func (w *reached) whole() string {
	scenes, why := w.remembered()
	scene := w.order[0]
	switch {
	case why != "":
		return why
	case w.structOf(scene) != "Scene":
		return sceneIsLinked
	case scenes > 1:
		return anotherScene
	case w.number(scene, "r.images") != w.number(scene, "r.framapto"):
		return "time is remapped"
	}
	return w.scenePath(scene)
}

const (
	sceneIsLinked = "the scene is linked"
	anotherScene  = "it uses another scene"
)

// remembered says what was reached that depends on other frames, or may, and counts the scenes.
func (w *reached) remembered() (scenes int, why string) {
	f := w.file
	if f.Version < oldestExamined || f.Version > newestExamined {
		return 0, fmt.Sprintf("the file is of Blender %d.%d", f.Version/100, f.Version%100)
	}
	held := w.heldStrips()
	for _, b := range w.order {
		if what := f.memory[b]; what != "" && !held[b] {
			return scenes, "it uses " + what
		}
		switch f.structOf(b) {
		case "Scene":
			scenes++
		case "ChannelDriver":
			if why := w.scripted(b); why != "" {
				return scenes, why
			}
		}
	}
	return scenes, ""
}

// heldStrips are strips that set what they animate in every frame, from the time of the frame
// alone, and their tracks: the only one of an animation, without an action next to it, held
// before its beginning and after its end. Others leave properties as a frame before has set them.
func (w *reached) heldStrips() map[int32]bool {
	held := map[int32]bool{}
	for _, b := range w.order {
		if w.structOf(b) != "AnimData" || w.owners[w.blocks[b].owner].code == "SC" {
			continue
		}
		track := w.pointer(b, "nla_tracks.first")
		strip := w.pointer(track, "strips.first")
		if strip == nowhere || w.structOf(strip) != "NlaStrip" || w.extras[strip] == nil || w.extras[strip].raw == nil {
			continue
		}
		alone := true
		for _, other := range []int32{
			w.pointer(track, "next"), w.pointer(b, "action"), w.pointer(b, "tmpact"), w.pointer(strip, "next"),
			w.pointer(strip, "strips.first"), w.pointer(strip, "modifiers.first"),
		} {
			alone = alone && other == nowhere
		}
		// Each is 0: a strip of an action, held, that replaces.
		if alone && w.number(strip, "type") == 0 && w.number(strip, "extendmode") == 0 && w.number(strip, "blendmode") == 0 {
			held[track], held[strip] = true, true
		}
	}
	return held
}

// scenePath says which curve or driver of the scene sets what frames prevents that.
func (w *reached) scenePath(scene int32) string {
	f := w.file
	adt := f.pointer(scene, "adt")
	if adt == nowhere {
		return ""
	}
	if action := f.pointer(adt, "action"); action != nowhere && f.structOf(action) != "bAction" {
		return "the animation of the scene is linked"
	}
	for c := range f.list(f.pointer(adt, "drivers.first")) {
		if path, ok := f.textAt(f.pointer(c, "rna_path")); !ok || !scenePaths.MatchString(path) {
			return "an animation sets " + path + " of the scene"
		}
	}
	for c := range f.list(f.pointer(f.pointer(adt, "action"), "curves.first")) {
		if path, ok := f.textAt(f.pointer(c, "rna_path")); !ok || !scenePaths.MatchString(path) && !curvePaths.MatchString(path) {
			return "an animation sets " + path + " of the scene"
		}
	}
	return ""
}

// scripted says that a driver needs Python.
func (w *reached) scripted(driver int32) string {
	const python = 1 // ChannelDriver.type
	f := w.file
	if f.number(driver, "type") != python {
		return ""
	}
	var names []string
	for v := range f.list(f.pointer(driver, "variables.first")) {
		if x := f.extras[v]; x != nil {
			names = append(names, x.name)
		}
	}
	if expression.NeedsScripts(f.textIn(driver, "expression"), names) {
		return "a driver needs Python"
	}
	return ""
}
