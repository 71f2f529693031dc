package blendfile

import (
	"math"

	"svc.example/internal/render/blendfile/reach"
	"svc.example/internal/render/blendfile/records"
)

// rendering says what is rendered for a frame of the active scene, and adds to the scene
// what follows from that.
func (f *file) rendering(active records.Record, scene *Scene) *Rendering {
	w := &rendering{f: f, layers: map[uint64]bool{}, composited: map[uint64]bool{}, shot: map[uint64]bool{}, works: map[uint64]int64{}}
	s := &Rendering{Shots: []Shot{}, SampleKeys: []Span{}}
	strips, sequenced := reach.Sequenced(f.File, active)
	s.Sequenced = sequenced
	if sequenced {
		s.Shots = w.shots(strips, s.Shots, math.MinInt32, math.MaxInt32, 0)
		s.OtherWork = w.stripsWork(strips, 0)
	} else {
		for _, shown := range w.frame(active) {
			s.Shots = w.add(s.Shots, Shot{}, shown)
			if shown.Addr() == active.Addr() {
				l := f.cycles(active).layers
				s.Work = Work{Layers: l.scenes, Samples: l.own}
			} else {
				s.OtherWork = sum(s.OtherWork, f.layersWork(shown, active))
			}
		}
	}
	s.NoCamera = w.noCamera()
	s.NoLayer = w.noLayer()
	s.Denoising = w.denoising()
	s.Division = f.division(active, scene)
	scene.FileOutputNodes = f.fileOutputs(active, w.composites)
	spans, changing := f.sampleKeys(active)
	if !scene.SamplesDriven {
		s.SampleKeys = append(s.SampleKeys, spans...)
	}
	scene.SamplesDriven = scene.SamplesDriven || changing
	return s
}

// rendering collects the scenes that are rendered, each once.
type rendering struct {
	f                        *file
	layers, composited, shot map[uint64]bool
	rendered, composites     []records.Record // scenes whose objects are rendered; whose compositor runs
	works                    map[uint64]int64 // of scenes that strips show, by address; 0 while it is found out
}

// frame notes what a scene renders without its strips, and returns the scenes whose
// objects that takes.
func (w *rendering) frame(scene records.Record) []records.Record {
	if !w.composited[scene.Addr()] {
		w.composited[scene.Addr()] = true
		w.composites = append(w.composites, scene)
	}
	scenes := reach.Layers(w.f.File, scene)
	for _, r := range scenes {
		if !w.layers[r.Addr()] {
			w.layers[r.Addr()] = true
			w.rendered = append(w.rendered, r)
		}
	}
	return scenes
}

// shots lists the scenes that strips render, in the order of the strips. Nothing is seen
// before frame first and from frame end on.
func (w *rendering) shots(strips []reach.Strip, found []Shot, first, end, depth int) []Shot {
	if depth > reach.MaxNesting {
		return found
	}
	for _, s := range strips {
		seen := Shot{Strip: stripName(s.Record), First: max(first, s.First), Last: min(end, s.End) - 1}
		found = w.shots(s.Inner, found, seen.First, seen.Last+1, depth+1)
		switch {
		case !s.Scene.OK():
		case s.OfStrips:
			if !w.shot[s.Scene.Addr()] {
				w.shot[s.Scene.Addr()] = true
				inner, _ := reach.Sequenced(w.f.File, s.Scene)
				at := len(found)
				found = w.shots(inner, found, math.MinInt32, math.MaxInt32, depth+1)
				for i := range found[at:] { // their edit has another timeline
					found[at+i].First, found[at+i].Last = seen.First, seen.Last
				}
			}
		default:
			for _, scene := range reach.Layers(w.f.File, s.Scene) {
				found = w.add(found, seen, scene)
			}
			if !s.LeftOut {
				w.frame(s.Scene)
			}
		}
	}
	return found
}

func (w *rendering) add(shots []Shot, shot Shot, scene records.Record) []Shot {
	shot.Scene, shot.Engine = scene.Name(), scene.Text("r.engine")
	if !w.f.spend(len(shot.Strip) + len(shot.Scene) + len(shot.Engine)) {
		w.f.Fail(&TooLargeError{What: "bytes of answer", Limit: answerBudget})
		return shots
	}
	return append(shots, shot)
}

// stripName is a strip's name, without the letters of its kind.
func stripName(r records.Record) string {
	if name := r.Text("name"); len(name) > 2 {
		return name[2:]
	}
	return ""
}

// stripsWork is the work of the heaviest strips of all channels together: a channel never
// shows two strips at a time.
func (w *rendering) stripsWork(strips []reach.Strip, depth int) (total int64) {
	if depth > reach.MaxNesting {
		return math.MaxInt64
	}
	most := map[int]int64{}
	for _, s := range strips {
		var work int64
		switch {
		case len(s.Inner) > 0:
			work = w.stripsWork(s.Inner, depth+1)
		case s.Scene.OK() && !s.LeftOut:
			work = w.shotWork(s, depth)
		}
		most[s.Channel] = max(most[s.Channel], work)
	}
	for _, work := range most {
		total = sum(total, work)
	}
	return total
}

// shotWork is the work of a scene that a strip shows. A scene that shows itself takes none.
func (w *rendering) shotWork(s reach.Strip, depth int) (total int64) {
	if s.OfStrips {
		if known, ok := w.works[s.Scene.Addr()]; ok {
			return known
		}
		w.works[s.Scene.Addr()] = 0
		inner, _ := reach.Sequenced(w.f.File, s.Scene)
		total = w.stripsWork(inner, depth+1)
		w.works[s.Scene.Addr()] = total
		return total
	}
	for _, scene := range reach.Layers(w.f.File, s.Scene) {
		total = sum(total, w.f.layersWork(scene, s.Scene))
	}
	return total
}

// layersWork is pixels × samples of a scene, of its heaviest frame, in the picture's size
// of another one.
func (f *file) layersWork(scene, size records.Record) int64 {
	c := f.cycles(scene)
	samples := c.samples
	spans, _ := f.sampleKeys(scene)
	for _, span := range spans {
		samples = max(samples, span.Most)
	}
	width, height, percentage := f.sizeOf(size)
	scale := math.Max(1, float64(percentage)) / 100
	work := math.Abs(float64(width)) * scale * math.Abs(float64(height)) * scale * math.Max(1, float64(c.layers.of(samples)))
	if work >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(work)
}

func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// noCamera names the first scene whose objects are rendered and that has no camera. A strip
// or a marker of the timeline may bring its own.
func (w *rendering) noCamera() string {
	for _, scene := range w.rendered {
		if !w.f.hasCamera(scene) && !w.markerCamera(scene) && !w.stripCamera(scene) {
			return scene.Name()
		}
	}
	return ""
}

// noLayer names the first scene whose objects are rendered and whose view layers are all
// switched off.
func (w *rendering) noLayer() string {
	for _, scene := range w.rendered {
		off := false
		for l := range scene.List("view_layers", "ViewLayer") {
			if off = !w.f.chosen.Renders(scene, l); !off {
				break
			}
		}
		if off {
			return scene.Name()
		}
	}
	return ""
}

// markerCamera reports whether a marker binds a camera that is rendered. One is enough for
// all frames: before the first marker, Blender takes the camera of that one.
func (w *rendering) markerCamera(scene records.Record) bool {
	for camera := range reach.MarkerCameras(scene) {
		at, ok := w.f.reach.At(camera)
		if w.f.reach == nil || ok && !w.f.reach.Hidden(at) {
			return true
		}
	}
	return false
}

// stripCamera reports whether a strip that shows a scene has a camera for it.
func (w *rendering) stripCamera(scene records.Record) bool {
	for s := range w.f.DataIn(records.InScenes, "Sequence") {
		if s.Ptr("scene") == scene.Addr() && s.Ptr("scene_camera") != 0 {
			return true
		}
	}
	return false
}

// denoising names what denoises: scenes by their settings, and the compositor.
func (w *rendering) denoising() []string {
	all := []string{}
	for _, scene := range w.rendered {
		if w.f.cycles(scene).denoise && w.f.layerDenoises(scene) {
			all = append(all, "scene "+scene.Name())
		}
	}
	if len(w.composites) > 0 && w.f.reach.Counts(w.f.File, "CompositorNodeDenoise") {
		all = append(all, "compositor")
	}
	return all
}
