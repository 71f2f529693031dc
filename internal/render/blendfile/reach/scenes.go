package reach

import (
	"iter"

	"svc.example/internal/render/blendfile/records"
)

// Which parts of a scene are walked: keys of Set.walked, in addition to the ordinals of
// scenes with strips, which begin at 1.
const (
	thePicture = ^uint32(0) - iota
	theFrame
	theLayers
	theWorld
)

// once reports whether a part of a scene is to be walked, the first time it is asked.
func (w *Set) once(part uint32, scene records.Record) bool {
	at := port{part, scene.Addr()}
	if !scene.OK() || w.walked[at] {
		return false
	}
	w.walked[at] = true
	w.seen[scene.Owner()] = scene.Owner()
	return true
}

// picture sees what a render of a scene writes: its strips, otherwise its
// frame.
func (w *Set) picture(scene records.Record) {
	if !w.once(thePicture, scene) {
		return
	}
	strips, ok := Sequenced(w.f, scene)
	w.show(scene.Owner(), strips)
	if !ok || len(strips) == 0 {
		w.frame(scene)
	}
}

// show sees what strips show. A strip of a scene shows its frame, whatever strips that
// scene has, unless it is set to show these.
func (w *Set) show(from uint32, strips []Strip) {
	for _, s := range strips {
		at := port{from, s.Addr()}
		if w.walked[at] {
			continue
		}
		w.walked[at] = true
		w.seeAt(from, s.Ptr("clip"))
		w.seeAt(from, s.Ptr("mask"))
		if text := s.Follow("effectdata", "TextVars"); text.OK() {
			w.seeAt(from, text.Ptr("text_font"))
		}
		w.show(from, s.Inner)
		w.linked(s.Ptr("scene"))
		if !s.OfStrips && s.Scene.OK() {
			if s.LeftOut {
				continue
			}
			w.frame(s.Scene)
			w.seeAt(from, s.Ptr("scene_camera"))
			continue
		}
		if w.once(thePicture, s.Scene) {
			inner, _ := Sequenced(w.f, s.Scene)
			w.show(s.Scene.Owner(), inner)
		}
	}
}

// frame sees what a scene shows without its strips: its compositor, or its objects.
func (w *Set) frame(scene records.Record) {
	if !w.once(theFrame, scene) {
		return
	}
	from := scene.Owner()
	if to, ok := w.g.at(scene.Ptr("compositing_node_group")); ok && scene.Int("r.scemode")&SceneComposites != 0 {
		w.whole(from, to)
	}
	tree := composited(w.f, scene)
	if !tree.OK() {
		w.layers(scene)
		return
	}
	t := w.nodes.trees[from]
	if tree.Addr() == scene.Ptr("compositing_node_group") {
		t = w.nodes.trees[tree.Owner()]
	} else if t != nil {
		if _, walked := w.ofNodes[from]; !walked {
			w.ofNodes[from] = nil
		}
		w.nodes.compositor(t)
	}
	// A compositor without an end leaves the picture as it is. All layers go into a
	// multi-layer file.
	if t == nil || !t.ending() || scene.Int("r.im_format.imtype") == multiLayer {
		for _, other := range Layers(w.f, scene) {
			w.layers(other)
		}
	}
	for n := range tree.List("nodes", "bNode") {
		if n.Int("flag")&NodeMuted != 0 {
			continue
		}
		if t == nil {
			w.seeAt(from, n.Ptr("id"))
		}
		if isRenderLayers(n) && n.Ptr("id") == 0 {
			w.layers(scene)
		}
	}
}

// Engine is Blender's name of the engine whose pictures are looked at: strips of scenes of
// others are taken for muted.
const Engine = "CYCLES"

const multiLayer = 28 // ImageFormatData.imtype

// layers sees the objects of a scene and what lights them.
func (w *Set) layers(scene records.Record) {
	if w.once(theWorld, scene) {
		w.seeAt(scene.Owner(), scene.Ptr("world"))
		for camera := range w.chosen.Cameras(scene) {
			w.seeAt(scene.Owner(), camera)
		}
		w.objects(scene)
	}
}

// MarkerCameras yields the addresses of the cameras that a scene's markers bind.
func MarkerCameras(scene records.Record) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for m := range scene.List("markers", "TimeMarker") {
			if camera := m.Ptr("camera"); camera != 0 && !yield(camera) {
				return
			}
		}
	}
}

// objects sees the objects of a scene and of its background scenes, which have no world
// there.
func (w *Set) objects(scene records.Record) {
	for w.once(theLayers, scene) {
		from := scene.Owner()
		for l := range scene.List("view_layers", "ViewLayer") {
			if w.chosen.Renders(scene, l) {
				w.drawn.count(l.Ptr("mat_override") != 0)
				w.seeAt(from, l.Ptr("mat_override"))
				w.seeAt(from, l.Ptr("world_override"))
				w.layerCollections(from, l, "layer_collections", 0)
				w.linkedObjects(from, l)
			}
		}
		if !scene.Has("view_layers.first") {
			w.drawn.count(false)
			for base := range scene.List("base", "Base") {
				w.object(from, base.Ptr("object"))
			}
		}
		behind := scene.Ptr("set")
		w.linked(behind)
		scene, _ = w.f.DataBlock("SC", "Scene", behind)
	}
}

const baseRendered = 1 << 7 // Base.flag_from_collection

// linkedObjects sees the objects of libraries in a view layer. This file does not say what
// is in a collection of a library; the view layer says what of it is present and not hidden
// by a collection.
func (w *Set) linkedObjects(from uint32, layer records.Record) {
	for base := range layer.List("object_bases", "Base") {
		at, ok := w.g.at(base.Ptr("object"))
		if _, linked := w.g.linked[at]; ok && linked && (!base.Has("flag_from_collection") || base.Int("flag_from_collection")&baseRendered != 0) {
			w.see(from, at)
		}
	}
}

// layersAt is layers for what stands at an address.
func (w *Set) layersAt(addr uint64) {
	w.linked(addr)
	if r, ok := w.f.DataBlock("SC", "Scene", addr); ok {
		w.layers(r)
	}
}

// LinkedScene reaches a scene that is in a library, given by the address of what stands for it.
func (w *Set) LinkedScene(addr uint64) {
	w.linked(addr)
	w.settle()
}

// linked sees a scene that is in a library.
func (w *Set) linked(addr uint64) {
	r, ok := w.f.DataBlock("SC", "Scene", addr)
	if at, known := w.g.at(addr); ok && !r.OK() && known {
		w.see(at, at)
	}
}
