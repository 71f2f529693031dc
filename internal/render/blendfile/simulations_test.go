package blendfile_test

import (
	"testing"

	"svc.example/internal/render/blendfile"
)

// dnaNodes describes what no Blender at hand writes: simulation zones, which came with 3.6.
const dnaNodes = listBase + `
ID: void *next; void *prev; ID *newid; Library *lib; char name[66]; short flag; int tag
ModifierData: ModifierData *next; ModifierData *prev; int type; int mode
NodesModifierData: ModifierData modifier; bNodeTree *node_group; char *simulation_bake_directory; int bakes_num; int pad; NodesModifierBake *bakes
NodesModifierBake: int id; int flag; NodesModifierPackedBake *packed
NodesModifierPackedBake: int meta_files_num; int blob_files_num
bNode: bNode *next; bNode *prev; ListBase inputs; ListBase outputs; char name[64]; char idname[64]; int flag; int type; ID *id
bNodeSocket: bNodeSocket *next; bNodeSocket *prev; char idname[64]; int type; int flag; void *default_value
bNodeLink: bNodeLink *next; bNodeLink *prev; bNode *fromnode; bNode *tonode; bNodeSocket *fromsock; bNodeSocket *tosock
bNodeTree: ID id; ListBase nodes; ListBase links; int type; int pad
Base: Base *next; Base *prev; Object *object
Object: ID id; void *adt; ListBase modifiers; int visibility_flag; int pad
RenderData: int cfra; int sfra; int efra; int frame_step; int scemode; int mode; char engine[32]
Scene: ID id; Object *camera; ListBase base; RenderData r
FileGlobal: char subvstr[4]; int pad; Scene *curscene`

// nodesFile is a file with three objects whose node trees hold zones: in the tree itself,
// in a tree in it, and in a muted node only. Each tree has one more that leads nowhere.
func nodesFile(f form, modifier values, packed int) *synth {
	const render = 1 << 1
	s := newSynth(f, dnaNodes)
	s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x9000)})
	s.block("SC", "Scene", 0x9000, values{"id.name": "SCScene", "base.first": addr(0x9001), "r.engine": "CYCLES", "r.efra": 10})
	objects := []addr{0x1000, 0x2000, 0x3000}
	for i, o := range objects {
		base := values{"object": o}
		if i+1 < len(objects) {
			base["next"] = addr(0x9002 + i)
		}
		s.block("DATA", "Base", addr(0x9001+i), base)
	}
	for i, o := range objects {
		s.block("OB", "Object", o, values{"id.name": "OB" + string(rune('A'+i)), "modifiers.first": o + 1})
		v := values{"modifier.mode": render, "node_group": addr(0x11000 + 0x1000*i)}
		for key, value := range modifier {
			v[key] = value
		}
		s.block("DATA", "NodesModifierData", o+1, v)
		if v["simulation_bake_directory"] != nil {
			s.raw("DATA", v["simulation_bake_directory"].(addr), []byte("//bake\x00"))
		}
		for n := range packed {
			s.block("DATA", "NodesModifierPackedBake", o+0x20+addr(n), values{"meta_files_num": 1})
		}
	}
	tree := func(at addr, name, idname string, flag int, group addr) {
		s.block("NT", "bNodeTree", at, values{"id.name": "NT" + name, "nodes.first": at + 1, "links.first": at + 4})
		s.block("DATA", "bNode", at+1, values{"next": at + 2, "name": "it", "idname": idname, "flag": flag, "id": group})
		s.block("DATA", "bNode", at+2, values{"next": at + 3, "name": "end", "idname": "NodeGroupOutput"})
		s.block("DATA", "bNode", at+3, values{"name": "loose", "idname": "GeometryNodeSimulationOutput"})
		s.block("DATA", "bNodeLink", at+4, values{"fromnode": at + 1, "tonode": at + 2})
	}
	const muted = 1 << 9
	tree(0x11000, "zone", "GeometryNodeSimulationOutput", 0, 0)
	tree(0x12000, "around", "GeometryNodeGroup", 0, 0x11000)
	tree(0x13000, "muted", "GeometryNodeSimulationOutput", muted, 0)
	return s
}

func TestSimulationZonesAreFoundInTreesWithinTrees(t *testing.T) {
	t.Parallel()
	f := form{version: 401, bits: 64}
	zone := func(owner string, baked bool, folder string) blendfile.Simulation {
		return blendfile.Simulation{Kind: blendfile.NodeZone, Owner: owner, Baked: baked, Folder: folder}
	}
	same(t, f, "running", inspectBytes(t, nodesFile(f, nil, 0).bytes()).Simulations,
		[]blendfile.Simulation{zone("A", false, ""), zone("B", false, "")})
	same(t, f, "baked into the file", inspectBytes(t, nodesFile(f, nil, 1).bytes()).Simulations,
		[]blendfile.Simulation{zone("A", true, ""), zone("B", true, "")})
	onDisk := inspectBytes(t, nodesFile(f, values{"simulation_bake_directory": addr(0x777)}, 0).bytes())
	same(t, f, "baked to disk", onDisk.Simulations, []blendfile.Simulation{zone("A", false, "//bake"), zone("B", false, "//bake")})
	same(t, f, "missing", len(onDisk.MissingFiles), 2)
	same(t, f, "not rendered", inspectBytes(t, nodesFile(f, values{"modifier.mode": 1}, 0).bytes()).Simulations, []blendfile.Simulation{})
}
