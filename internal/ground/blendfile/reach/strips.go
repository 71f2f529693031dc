package reach

import "svc.example/internal/ground/blendfile/records"

// Strip is a strip of the sequencer whose picture can be seen: one that is not muted, nor
// its channel, and no sound.
type Strip struct {
	records.Record
	Channel int
	// Scene is what a scene strip shows; empty for others, and where it is linked.
	Scene records.Record
	// OfStrips is set where a scene strip shows the strips of its scene, not the scene.
	OfStrips bool
	// Inner are the strips of a meta strip.
	Inner []Strip
}

// Types and flags of strips.
const (
	stripMeta      = 1 // Sequence.type
	stripScene     = 2
	stripSound     = 4
	stripMuted     = 1 << 5  // Sequence.flag
	stripOfStrips  = 1 << 30 // Sequence.flag: SEQ_SCENE_STRIPS
	channelMuted   = 1 << 1  // SeqTimelineChannel.flag
	sceneSequences = 1 << 0  // RenderData.scemode: the sequencer makes the picture
)

// Sequenced returns the strips that a scene shows. ok is false where they do not make its
// picture: the sequencer is off, or has sounds only. Where all strips are muted, ok is true
// and there is none: Blender to 4.x renders an empty picture then, and later ones the scene.
func Sequenced(f *records.File, scene records.Record) (strips []Strip, ok bool) {
	if scene.Int("r.scemode")&sceneSequences == 0 {
		return nil, false
	}
	editing := scene.Follow("ed", "Editing")
	for s := range editing.List("seqbase", "Sequence") {
		ok = ok || s.Int("type") != stripSound
	}
	if !ok {
		return nil, false
	}
	return visible(f, editing, 0), true
}

// visible lists the strips of an edit, or of a meta strip, that can be seen.
func visible(f *records.File, of records.Record, depth int) (strips []Strip) {
	if depth > MaxNesting {
		return nil
	}
	muted := map[int]bool{}
	for c := range of.List("channels", "SeqTimelineChannel") {
		if c.Int("flag")&channelMuted != 0 {
			muted[c.Int("index")] = true
		}
	}
	for r := range of.List("seqbase", "Sequence") {
		s := Strip{Record: r, Channel: r.Int("machine"), OfStrips: r.Int("flag")&stripOfStrips != 0}
		if r.Int("flag")&stripMuted != 0 || muted[s.Channel] || r.Int("type") == stripSound {
			continue
		}
		switch r.Int("type") {
		case stripMeta:
			s.Inner = visible(f, r, depth+1)
		case stripScene:
			s.Scene, _ = f.DataBlock("SC", "Scene", r.Ptr("scene"))
		}
		strips = append(strips, s)
	}
	return strips
}

// Layers lists the scenes whose objects a scene renders: itself, or those whose render
// layers its compositor takes in, connected or not.
func Layers(f *records.File, scene records.Record) (scenes []records.Record) {
	tree := composited(f, scene)
	if !tree.OK() {
		return []records.Record{scene}
	}
	known := map[uint64]bool{}
	for n := range tree.List("nodes", "bNode") {
		if !isRenderLayers(n) || n.Int("flag")&NodeMuted != 0 {
			continue
		}
		of := scene
		if r, ok := f.DataBlock("SC", "Scene", n.Ptr("id")); ok {
			of = r
		}
		if of.OK() && !known[of.Addr()] {
			known[of.Addr()] = true
			scenes = append(scenes, of)
		}
	}
	return scenes
}

// composited is the node tree of a scene's compositor; empty where it does not run.
func composited(f *records.File, scene records.Record) records.Record {
	if scene.Int("r.scemode")&SceneComposites == 0 {
		return records.Record{}
	}
	if addr := scene.Ptr("compositing_node_group"); addr != 0 {
		return f.Tree(addr)
	}
	if scene.Int("use_nodes") == 0 {
		return records.Record{}
	}
	return scene.Follow("nodetree", "bNodeTree")
}

func isRenderLayers(n records.Record) bool {
	if n.Has("idname") {
		return n.Text("idname") == "CompositorNodeRLayers"
	}
	return n.Int("type") == nodeRenderLayers
}

const nodeRenderLayers = 221 // bNode.type
