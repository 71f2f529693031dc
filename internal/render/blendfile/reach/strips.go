package reach

import (
	"math"
	"slices"

	"svc.example/internal/render/blendfile/records"
)

// Strip is a strip of the sequencer whose picture can be seen: no sound; not muted, nor its
// channel, unless an effect takes it in, which asks for neither; and not replaced by another
// strip all along.
type Strip struct {
	records.Record
	Channel int
	// First and End are where it is seen in the timeline of its edit: from frame First on,
	// and before frame End.
	First, End int
	// Scene is what a scene strip shows; empty for others, and where it is linked.
	Scene records.Record
	// OfStrips is set where a scene strip shows the strips of its scene, not the scene.
	OfStrips bool
	// LeftOut is set where a scene strip shows what another engine than Cycles renders, if
	// only as a layer: workers mute it.
	LeftOut bool
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
	blendReplace   = 0       // Sequence.blend_mode
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

// Sounds are the data-blocks of the sounds that the sequencer of a scene plays, by address: also
// those of scenes that its strips show, and such scenes themselves where they are linked. Nothing
// plays that is muted, alone or with its channel. Sounds of speaker objects are among them, even
// where strips make the picture.
func Sounds(f *records.File, scene records.Record) map[uint64]bool {
	w := sounds{f, map[uint64]bool{}, map[uint64]bool{}}
	w.scene(scene)
	return w.heard
}

type sounds struct {
	f      *records.File
	scenes map[uint64]bool // those that were listened to
	heard  map[uint64]bool
}

func (w sounds) scene(r records.Record) {
	if w.scenes[r.Addr()] {
		return
	}
	w.scenes[r.Addr()] = true
	w.speakers(r)
	w.strips(r.Follow("ed", "Editing"), 0)
}

// speakers listens to the objects of a scene.
func (w sounds) speakers(scene records.Record) {
	if !slices.ContainsFunc(w.f.Links.Nodes, func(n records.Node) bool { return n.Code() == "SK" }) {
		return
	}
	objects := New(w.f)
	objects.objects(scene)
	objects.settle()
	for sound := range w.f.Facts("SO", "bSound") {
		if objects.Rendered(sound) {
			w.heard[sound.Addr()] = true
		}
	}
}

// strips listens to an edit, or to a meta strip.
func (w sounds) strips(of records.Record, depth int) {
	if depth > MaxNesting {
		return
	}
	muted := mutedChannels(of)
	for r := range of.List("seqbase", "Sequence") {
		if r.Int("flag")&stripMuted != 0 || muted[r.Int("machine")] {
			continue
		}
		switch r.Int("type") {
		case stripSound:
			w.heard[r.Ptr("sound")] = true
		case stripMeta:
			w.strips(r, depth+1)
		case stripScene:
			if shown, ok := w.f.DataBlock("SC", "Scene", r.Ptr("scene")); ok {
				w.scene(shown)
			} else {
				w.heard[r.Ptr("scene")] = true
			}
		}
	}
}

func mutedChannels(of records.Record) map[int]bool {
	muted := map[int]bool{}
	for c := range of.List("channels", "SeqTimelineChannel") {
		if c.Int("flag")&channelMuted != 0 {
			muted[c.Int("index")] = true
		}
	}
	return muted
}

// visible lists the strips of an edit, or of a meta strip, that can be seen.
func visible(f *records.File, of records.Record, depth int) (strips []Strip) {
	if depth > MaxNesting {
		return nil
	}
	muted := mutedChannels(of)
	var seen []records.Record
	others := map[uint64]records.Record{}
	for r := range of.List("seqbase", "Sequence") {
		if r.Int("flag")&stripMuted != 0 || muted[r.Int("machine")] || r.Int("type") == stripSound {
			others[r.Addr()] = r
		} else {
			seen = append(seen, r)
		}
	}
	for i := 0; i < len(seen); i++ {
		r := seen[i]
		for _, input := range inputs(r) {
			if taken, ok := others[input]; ok {
				delete(others, input)
				seen = append(seen, taken)
			}
		}
		s := Strip{Record: r, Channel: r.Int("machine"), OfStrips: r.Int("flag")&stripOfStrips != 0}
		s.First, s.End = span(r)
		switch r.Int("type") {
		case stripMeta:
			s.Inner = visible(f, r, depth+1)
		case stripScene:
			s.Scene, _ = f.DataBlock("SC", "Scene", r.Ptr("scene"))
			s.LeftOut = s.Scene.OK() && !s.OfStrips && slices.ContainsFunc(Layers(f, s.Scene), func(layer records.Record) bool { return layer.Text("r.engine") != Engine })
		}
		strips = append(strips, s)
	}
	return uncovered(strips)
}

// inputs are the strips that an effect takes in, by address; 0 for none.
func inputs(r records.Record) [3]uint64 {
	return [3]uint64{r.Ptr("seq1"), r.Ptr("seq2"), r.Ptr("seq3")}
}

// number reads a member that some versions store as a float and others as an integer.
func number(r records.Record, member string) float64 {
	if v := r.Float(member); v != 0 {
		return v
	}
	return float64(r.Int(member))
}

// span is where a strip stands between its handles. Where its speed can be another than
// that of the edit, its end is open.
func span(r records.Record) (first, end int) {
	start := number(r, "start")
	first = int(math.Floor(start + number(r, "startofs") - number(r, "startstill")))
	if speed := r.Float("speed_factor"); speed != 0 && speed != 1 || r.Float("media_playback_rate") != 0 || r.Ptr("retiming_keys") != 0 || r.Ptr("retiming_handles") != 0 {
		return first, math.MaxInt32
	}
	return first, int(math.Ceil(start + number(r, "len") - number(r, "endofs") + number(r, "endstill")))
}

// uncovered leaves out what is never seen: a strip above it replaces it in each of its
// frames, and no effect takes it in. What a worker leaves out covers nothing.
func uncovered(strips []Strip) []Strip {
	covers := func(s Strip) bool {
		return s.Int("blend_mode") == blendReplace && s.Ptr("seq1") == 0 && !s.LeftOut
	}
	taken := map[uint64]bool{}
	for _, s := range strips {
		for _, input := range inputs(s.Record) {
			taken[input] = true
		}
	}
	above := slices.DeleteFunc(slices.Clone(strips), func(s Strip) bool { return !covers(s) })
	if len(above) == 0 || len(above) > mostCovers {
		return strips
	}
	return slices.DeleteFunc(strips, func(s Strip) bool {
		return !taken[s.Addr()] && slices.ContainsFunc(above, func(by Strip) bool { return by.Channel > s.Channel && by.First <= s.First && by.End >= s.End })
	})
}

// mostCovers bounds the strips that others are held against. In longer edits all count.
const mostCovers = 1000

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
