package blendfile_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"svc.example/internal/render/blendfile"
)

// From 4.4 an action holds the curves of several data-blocks, each in its slot.
func TestKeyedSamplesAreSeenInTheScenesSlot(t *testing.T) {
	t.Parallel()
	for slot, want := range map[int]bool{7: true, 8: false} {
		f := form{version: 502, bits: 64, large: true}
		s := newSynth(f, `raw_data: char empty
ListBase: void *first; void *last
ID: void *next; void *prev; char name[66]; char pad[6]
RenderData: int sfra; int efra; char engine[32]
Scene: ID id; AnimData *adt; RenderData r; ListBase view_layers
AnimData: bAction *action; int slot_handle; int pad
bAction: ID id; int layer_array_num; int pad
ActionChannelbag: int slot_handle; int fcurve_array_num; FCurve **fcurve_array
FCurve: FCurve *next; FCurve *prev; ChannelDriver *driver; char *rna_path; int flag; int array_index
ChannelDriver: int type; int pad
FileGlobal: void *curscene; int subversion; int pad`)
		s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x19000)})
		s.block("SC", "Scene", 0x19000, values{"id.name": "SCScene", "adt": addr(0x19100), "r.engine": "CYCLES"})
		s.block("DATA", "AnimData", 0x19100, values{"action": addr(0x1A000), "slot_handle": slot})
		s.block("AC", "bAction", 0x1A000, values{"id.name": "ACShared"})
		for i, path := range []string{"cycles.samples", "location"} {
			at := addr(0x1A100 + 0x100*i)
			s.block("DATA", "ActionChannelbag", at, values{"slot_handle": 7 + i, "fcurve_array_num": 1, "fcurve_array": at + 1})
			s.raw("DATA", at+1, binary.LittleEndian.AppendUint64(nil, uint64(at+2)))
			s.block("DATA", "FCurve", at+2, values{"rna_path": at + 3})
			s.raw("DATA", at+3, []byte(path+"\x00"))
		}
		if got := inspectBytes(t, s.bytes()).Scene.SamplesDriven; got != want {
			t.Errorf("slot %d: keyed samples %v, want %v", slot, got, want)
		}
	}
}

const keyedDNA = `raw_data: char empty
ListBase: void *first; void *last
ID: void *next; void *prev; char name[66]; char pad[6]
RenderData: int sfra; int efra; int framapto; int images; char engine[32]
Scene: ID id; AnimData *adt; RenderData r; ListBase view_layers
AnimData: bAction *action; ListBase nla_tracks
NlaTrack: NlaTrack *next; NlaTrack *prev; ListBase strips
NlaStrip: NlaStrip *next; NlaStrip *prev; bAction *act
bAction: ID id; ListBase curves
BezTriple: float vec[3][3]; char ipo; char pad[3]
FCurve: FCurve *next; FCurve *prev; ChannelDriver *driver; ListBase modifiers; BezTriple *bezt; char *rna_path; int totvert; short flag; short extend; int array_index; int pad
ChannelDriver: int type; int pad
FileGlobal: void *curscene; int subversion; int pad`

// key is a keyframe: its frame and value, those of the values of its handles, and the kind
// of curve that follows.
type key struct{ frame, value, left, right, kind float64 }

// keyedFile has a scene whose samples keyframes set.
func keyedFile(keys []key, scene, curve, animation values) *synth {
	s := newSynth(form{version: 401, bits: 64}, keyedDNA)
	with := func(all, more values) values {
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x19000)})
	s.block("SC", "Scene", 0x19000, with(values{"id.name": "SCScene", "adt": addr(0x19100), "r.engine": "CYCLES"}, scene))
	s.block("DATA", "AnimData", 0x19100, with(values{"action": addr(0x1A000)}, animation))
	s.block("DATA", "NlaTrack", 0x19200, values{"strips.first": addr(0x19300)})
	s.block("DATA", "NlaStrip", 0x19300, values{"act": addr(0x1A000)})
	s.block("AC", "bAction", 0x1A000, values{"id.name": "ACMove"})
	s.block("DATA", "FCurve", 0x1A100, with(values{"rna_path": addr(0x1A200), "bezt": addr(0x1A300)}, curve))
	s.raw("DATA", 0x1A200, []byte("cycles.samples\x00"))
	var data []byte
	for _, k := range keys {
		for _, v := range []float64{k.frame - 1, k.left, 0, k.frame, k.value, 0, k.frame + 1, k.right, 0} {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
		data = append(data, byte(k.kind), 0, 0, 0)
	}
	s.array("DATA", "BezTriple", 0x1A300, len(keys), data)
	return s
}

// Spans are what a curve reaches at most, from key to key.
func TestKeyedSamplesAreBoundedBetweenKeys(t *testing.T) {
	t.Parallel()
	const constant, linear, bezier, back = 0, 1, 2, 3
	keys := func(kind float64) []key { return []key{{1, 10, 10, 40, kind}, {11, 20, 5, 20, 0}} }
	ends := []float64{-1 << 30, 1, 11, 1 << 30}
	for name, c := range map[string]struct {
		keys                    []key
		scene, curve, animation values
		ends                    []float64
		most                    []int
	}{
		"steps":                    {keys: keys(constant), ends: ends, most: []int{10, 10, 20}},
		"lines":                    {keys: keys(linear), ends: ends, most: []int{10, 20, 20}},
		"curves, by their handles": {keys: keys(bezier), ends: ends, most: []int{10, 40, 20}},
		"curves that swing over":   {keys: keys(back)},
		"a curve that continues":   {keys: keys(linear), curve: values{"extend": 1}},
		"with a modifier":          {keys: keys(linear), curve: values{"modifiers.first": addr(0x1A900)}},
		"below the NLA":            {keys: keys(linear), animation: values{"nla_tracks.first": addr(0x19200)}},
		"in the NLA":               {keys: keys(linear), animation: values{"action": addr(0), "nla_tracks.first": addr(0x19200)}},
		"time that goes faster":    {keys: keys(linear), scene: values{"r.framapto": 50, "r.images": 100}, ends: []float64{-1 << 30, 2, 22, 1 << 30}, most: []int{10, 20, 20}},
		"beyond what samples take": {keys: []key{{1, 1e9, 0, 0, 0}}, ends: []float64{-1 << 30, 1, 1 << 30}, most: []int{1 << 24, 1 << 24}},
		"no keys":                  {},
	} {
		facts := inspectBytes(t, keyedFile(c.keys, c.scene, c.curve, c.animation).bytes())
		var want []blendfile.Span
		for i, n := range c.most {
			want = append(want, blendfile.Span{From: c.ends[i], To: c.ends[i+1], Most: n})
		}
		if got := facts.Rendering.SampleKeys; !facts.Scene.SamplesDriven || !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: driven %v, %v, want %v", name, facts.Scene.SamplesDriven, got, want)
		}
	}
}
