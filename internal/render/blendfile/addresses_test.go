package blendfile_test

import (
	"fmt"
	"testing"

	"svc.example/internal/render/blendfile"
)

// Only damaged files have several blocks at one address, or data without an
// owner. The facts about them are what Blender makes of them.

func TestOfSeveralBlocksAtOneAddressTheLastCounts(t *testing.T) {
	t.Parallel()
	f := form{version: 279, bits: 64}
	s := newSynth(f, dna279)
	s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x900)})
	for _, name := range []string{"SCfirst", "SClast"} {
		s.block("SC", "Scene", 0x900, values{"id.name": name, "camera": addr(0xA00), "r.layers.first": addr(0x940)})
		s.block("DATA", "SceneRenderLayer", 0x940, values{"name": "early"})
		s.block("DATA", "IDProperty", 0x940, values{"name": "between"})
		s.block("DATA", "SceneRenderLayer", 0x940, values{"name": "late"})
	}
	s.block("OB", "Object", 0xA00, values{"id.name": "OBone"})
	s.block("OB", "Object", 0xA00, values{"id.name": "OBtwo"})
	scene := inspectBytes(t, s.bytes()).Scene
	same(t, f, "scene", scene.Name, "last")
	same(t, f, "layers", scene.ViewLayers, []string{"late"})
	same(t, f, "camera", scene.Camera, "two")
}

// A file with two windows is rendered from the first one, whichever it was saved from
// (measured with 3.4.1). Where windows name no scene, the global settings do.
func TestTheSceneOfTheFirstWindowIsRendered(t *testing.T) {
	t.Parallel()
	f := form{version: 304, bits: 64}
	for _, c := range []struct {
		windows []addr
		want    string
	}{
		{[]addr{0x900, 0xA00}, "shown first"}, {[]addr{0xA00, 0x900}, "saved from"}, {[]addr{0}, "saved from"}, {nil, "saved from"},
	} {
		s := newSynth(f, dna279+`
wmWindow: wmWindow *next; wmWindow *prev; Scene *scene
wmWindowManager: ID id; ListBase windows`)
		s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0xA00)})
		first := addr(0)
		if len(c.windows) > 0 {
			first = 0x700
		}
		s.block("WM", "wmWindowManager", 0x600, values{"id.name": "WMWinMan", "windows.first": first})
		for i, scene := range c.windows {
			next := addr(0x700 + 0x10*(i+1))
			if i == len(c.windows)-1 {
				next = 0
			}
			s.block("DATA", "wmWindow", addr(0x700+0x10*i), values{"next": next, "scene": scene})
		}
		s.block("SC", "Scene", 0x900, values{"id.name": "SCshown first"})
		s.block("SC", "Scene", 0xA00, values{"id.name": "SCsaved from"})
		same(t, f, fmt.Sprint(c.windows), inspectBytes(t, s.bytes()).Scene.Name, c.want)
	}
}

func TestALastBlockOfAnotherStructHidesTheOnesBefore(t *testing.T) {
	t.Parallel()
	f := form{version: 279, bits: 64}
	s := newSynth(f, dna279)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "r.layers.first": addr(0x940)})
	s.block("DATA", "SceneRenderLayer", 0x940, values{"name": "hidden"})
	s.block("DATA", "IDProperty", 0x940, values{"name": "last"})
	same(t, f, "layers", inspectBytes(t, s.bytes()).Scene.ViewLayers, []string{})
}

func TestDataThatFollowsNoDataBlockIsNobodys(t *testing.T) {
	t.Parallel()
	f := form{version: 279, bits: 64}
	for _, code := range []string{"GLOB", "TEST", "REND", "USER"} {
		s := newSynth(f, dna279)
		s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "r.layers.first": addr(0x940)})
		s.block("DATA", "SceneRenderLayer", 0x940, values{"name": "own"})
		s.block(code, "FileGlobal", 0, values{})
		s.block("DATA", "SceneRenderLayer", 0x940, values{"name": "stray"})
		same(t, f, "layers after "+code, inspectBytes(t, s.bytes()).Scene.ViewLayers, []string{"own"})
	}
}

func TestDataNeverStandsForADataBlock(t *testing.T) {
	t.Parallel()
	f := form{version: 510, bits: 64, large: true}
	s := newSynth(f, dna510)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "compositing_node_group": addr(0xE00), "r.scemode": 1 << 6})
	s.block("NT", "bNodeTree", 0xE00, values{"id.name": "NTComp", "nodes.first": addr(0xE01)})
	s.block("DATA", "bNode", 0xE01, values{"name": "Out", "type": 223, "storage": addr(0xE00)})
	s.block("DATA", "NodeImageMultiFile", 0xE00, values{"base_path": "//out/"})
	same(t, f, "nodes", inspectBytes(t, s.bytes()).Scene.FileOutputNodes, []blendfile.FileOutputNode{{Name: "Out", Path: "//out/"}})
}

func TestOfTwoSettingsOfOneNameTheFirstCounts(t *testing.T) {
	t.Parallel()
	f := form{version: 279, bits: 64}
	s := newSynth(f, dna279)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "id.properties": addr(0x910)})
	s.block("DATA", "IDProperty", 0x910, values{"data.group.first": addr(0x920)})
	s.block("DATA", "IDProperty", 0x920, values{"name": "cycles", "data.group.first": addr(0x930)})
	s.block("DATA", "IDProperty", 0x930, values{"name": "samples", "type": 1, "data.val": 7, "next": addr(0x931)})
	s.block("DATA", "IDProperty", 0x931, values{"name": "samples", "type": 1, "data.val": 8})
	same(t, f, "samples", inspectBytes(t, s.bytes()).Scene.Samples, 7)
}

func TestAGroupMutedInOnePlaceWritesFromAnother(t *testing.T) {
	t.Parallel()
	f := form{version: 510, bits: 64, large: true}
	s := newSynth(f, dna510)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "compositing_node_group": addr(0xE00), "r.scemode": 1 << 6})
	s.block("NT", "bNodeTree", 0xE00, values{"id.name": "NTComp", "nodes.first": addr(0xE01)})
	s.block("DATA", "bNode", 0xE01, values{"name": "Muted", "type": 2, "flag": 1 << 9, "id": addr(0xF00), "next": addr(0xE02)})
	s.block("DATA", "bNode", 0xE02, values{"name": "Used", "type": 2, "id": addr(0xF00)})
	s.block("NT", "bNodeTree", 0xF00, values{"id.name": "NTGroup", "nodes.first": addr(0xF01)})
	s.block("DATA", "bNode", 0xF01, values{"name": "Out", "type": 223})
	same(t, f, "nodes", inspectBytes(t, s.bytes()).Scene.FileOutputNodes, []blendfile.FileOutputNode{{Name: "Out"}})
}
