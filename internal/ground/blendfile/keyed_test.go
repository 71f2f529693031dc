package blendfile_test

import (
	"encoding/binary"
	"testing"
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
