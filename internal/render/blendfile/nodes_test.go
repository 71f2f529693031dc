package blendfile_test

import (
	"fmt"
	"slices"
	"testing"

	"svc.example/internal/render/blendfile"
)

// nodesDNA is what a file of 5.0 has of node trees, cut down to what is read.
const nodesDNA = `raw_data: char empty
ListBase: void *first; void *last
ID: void *next; void *prev; char name[66]; char pad[6]
RenderData: int sfra; int efra; int scemode; int pad; char engine[32]
Scene: ID id; void *nodetree; void *compositing_node_group; int use_nodes; int pad; RenderData r; ListBase view_layers
Image: ID id; char name[64]; short source; short pad[3]
bNodeSocket: void *next; void *prev; char identifier[64]; short type; short flag; int pad; void *default_value
bNodeSocketValueImage: Image *value
bNode: bNode *next; bNode *prev; ListBase inputs; ListBase outputs; char name[64]; char idname[64]; int flag; short custom1; short pad; ID *id; void *storage
bNodeLink: bNodeLink *next; bNodeLink *prev; bNode *fromnode; bNode *tonode; bNodeSocket *fromsock; bNodeSocket *tosock; int flag; int pad
bNodeTree: ID id; ListBase nodes; ListBase links; int type; int pad
FileGlobal: void *curscene; int subversion; int pad`

// nodeFile writes trees whose nodes have one input and one output each.
type nodeFile struct{ *synth }

func newNodeFile(version int) nodeFile {
	f := nodeFile{newSynth(form{version: version, bits: 64, large: version >= 500}, nodesDNA)}
	f.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x10000)})
	return f
}

func (f nodeFile) tree(at addr) { f.block("NT", "bNodeTree", at, values{"id.name": "NTTree"}) }

// node writes a node; its input follows it, then its output.
func (f nodeFile) node(at addr, idname string, id addr) {
	f.block("DATA", "bNode", at, values{"name": fmt.Sprintf("%x", at), "idname": idname, "id": id, "inputs.first": at + 1})
	f.block("DATA", "bNodeSocket", at+1, values{"identifier": "x"})
	f.block("DATA", "bNodeSocket", at+2, values{"identifier": "x"})
}

func (f nodeFile) link(at, from, to addr) {
	f.block("DATA", "bNodeLink", at, values{"fromnode": from, "tonode": to, "fromsock": from + 2, "tosock": to + 1})
}

func (f nodeFile) image(at addr, name string) {
	f.block("IM", "Image", at, values{"id.name": "IM" + name, "name": "//" + name, "source": 1})
}

func (f nodeFile) missing(t *testing.T) (names []string) {
	t.Helper()
	for _, m := range inspectBytes(t, f.bytes()).MissingFiles {
		names = append(names, m.Owner)
	}
	slices.Sort(names)
	return names
}

const composites = 1 << 6 // RenderData.scemode

// From 5.0 the compositor's tree is a data-block, and ends at the outputs of a group.
func TestACompositorOfItsOwnCountsFromItsOutput(t *testing.T) {
	t.Parallel()
	f := newNodeFile(500)
	f.block("SC", "Scene", 0x10000, values{"id.name": "SCScene", "r.engine": "CYCLES", "r.scemode": composites, "use_nodes": 1, "compositing_node_group": addr(0x20000)})
	f.tree(0x20000)
	f.node(0x21000, "NodeGroupOutput", 0)
	f.node(0x22000, "CompositorNodeImage", 0x30000)
	f.node(0x23000, "CompositorNodeImage", 0x31000)
	f.link(0x24000, 0x22000, 0x21000)
	f.image(0x30000, "used.png")
	f.image(0x31000, "loose.png")
	if got := f.missing(t); !slices.Equal(got, []string{"used.png"}) {
		t.Errorf("missing %q", got)
	}
}

// A group that contains itself, nodes that lead to each other, and links to nowhere.
func TestTreesThatRunInCirclesEnd(t *testing.T) {
	t.Parallel()
	f := newNodeFile(400)
	f.block("SC", "Scene", 0x10000, values{"id.name": "SCScene", "r.engine": "CYCLES", "r.scemode": composites, "use_nodes": 1, "nodetree": addr(0x11000)})
	f.block("DATA", "bNodeTree", 0x11000, nil)
	f.node(0x12000, "CompositorNodeComposite", 0)
	f.node(0x13000, "CompositorNodeGroup", 0x20000)
	f.node(0x14000, "CompositorNodeImage", 0x30000)
	f.link(0x15000, 0x13000, 0x12000)
	f.link(0x16000, 0x14000, 0x13000)
	f.link(0x17000, 0x99000, 0x12000)
	f.link(0x18000, 0x12000, 0x12000)
	f.tree(0x20000)
	f.node(0x21000, "NodeGroupOutput", 0)
	f.node(0x22000, "CompositorNodeGroup", 0x20000)
	f.node(0x23000, "NodeGroupInput", 0)
	f.node(0x24000, "CompositorNodeImage", 0x31000)
	f.node(0x25000, "CompositorNodeBlur", 0)
	f.link(0x26000, 0x22000, 0x21000)
	f.link(0x27000, 0x25000, 0x22000)
	f.link(0x28000, 0x25000, 0x25000)
	f.link(0x29000, 0x24000, 0x25000)
	f.link(0x2A000, 0x23000, 0x21000)
	f.image(0x30000, "outer.png")
	f.image(0x31000, "inner.png")
	if got := f.missing(t); !slices.Equal(got, []string{"inner.png", "outer.png"}) {
		t.Errorf("missing %q", got)
	}
}

// What is in a zone counts with its end, though no link leads there.
func TestAZoneCountsFromItsEnd(t *testing.T) {
	t.Parallel()
	f := newNodeFile(500)
	f.block("SC", "Scene", 0x10000, values{"id.name": "SCScene", "r.engine": "CYCLES", "r.scemode": composites, "compositing_node_group": addr(0x20000)})
	f.tree(0x20000)
	f.node(0x21000, "NodeGroupOutput", 0)
	f.node(0x22000, "GeometryNodeRepeatOutput", 0)
	f.node(0x23000, "GeometryNodeRepeatInput", 0)
	f.node(0x24000, "CompositorNodeImage", 0x30000)
	f.link(0x25000, 0x22000, 0x21000)
	f.link(0x26000, 0x24000, 0x23000)
	f.image(0x30000, "repeated.png")
	if got := f.missing(t); !slices.Equal(got, []string{"repeated.png"}) {
		t.Errorf("missing %q", got)
	}
}

// The file has such nodes that lead nowhere, or are of a hidden object, too.
func TestImageNodesWithoutAnImageAreNamedWhereThePictureShowsThem(t *testing.T) {
	t.Parallel()
	want := []blendfile.EmptyImage{{Node: "Image Texture", Owner: "material shown"}}
	if got := inspectFile(t, "testdata/empty_images.blend").EmptyImages; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestASceneWithoutALayerToRenderIsNamed(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"layers_off": "Scene", "empty_images": "", "views": ""} {
		if got := inspectFile(t, "testdata/"+file+".blend").Rendering.NoLayer; got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
