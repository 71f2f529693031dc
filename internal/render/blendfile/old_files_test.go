package blendfile_test

import (
	"bytes"
	"fmt"
	"testing"

	"svc.example/internal/render/blendfile"
)

// The structs of four eras, cut down to what is read. The odd members between
// are there so that nothing is where another version has it.
const (
	listBase = `
ListBase: void *first; void *last`

	dna225 = listBase + `
ID: void *next; void *prev; ID *newid; Library *lib; char name[24]; short us; short flag; int pad
Library: ID id; ID *idblock; char name[160]
Object: ID id; short type; short pad; int lay
RenderData: short cfra; short sfra; short efra; short images; short size; short xsch; short ysch; short imtype; short frs_sec; short pad; int mode; int scemode
Scene: ID id; Object *camera; ListBase base; RenderData r
bScreen: ID id; ListBase verts; Scene *scene
Image: ID id; char name[160]; PackedFile *packedfile
FileGlobal: char subvstr[4]; short subversion; short pad; bScreen *curscreen; int fileflags`

	dna249 = listBase + `
IDPropertyData: void *pointer; ListBase group; int val; int val2
IDProperty: IDProperty *next; IDProperty *prev; char type; char subtype; short flag; char name[32]; int saved; IDPropertyData data; int len; int totallen
ID: void *next; void *prev; ID *newid; Library *lib; char name[24]; short us; short flag; int icon_id; IDProperty *properties
Library: ID id; ID *idblock; void *filedata; char name[240]; char filename[240]
Object: ID id; short type; short pad; int lay
rctf: float xmin; float xmax; float ymin; float ymax
SceneRenderLayer: SceneRenderLayer *next; SceneRenderLayer *prev; char name[32]; int lay; int pad
RenderData: int cfra; int sfra; int efra; short size; short xsch; short ysch; short imtype; int scemode; int mode; short frs_sec; short edgeint; rctf border; ListBase layers; float frs_sec_base
NodeImageFile: char name[256]; short imtype; short pad
bNode: bNode *next; bNode *prev; char name[32]; short type; short flag; ID *id; void *storage
bNodeTree: ID id; ListBase nodes; int type; int pad
Strip: Strip *next; Strip *prev; int rt; int pad; StripElem *stripdata; char dir[160]
StripElem: char name[80]
Sequence: Sequence *next; Sequence *prev; char name[24]; int flag; int type; int len; int pad; Strip *strip
Scene: ID id; Object *camera; World *world; short use_nodes; short pad; bNodeTree *nodetree; void *ed; RenderData r; int frame_step
Image: ID id; char name[240]; int ok; short source; short type; PackedFile *packedfile
VFont: ID id; char name[256]; PackedFile *packedfile
bSound: ID id; char name[160]; void *sample; PackedFile *packedfile
Text: ID id; char *name; int flags; int nlines
FileGlobal: char subvstr[4]; short subversion; short pads; void *curscreen; void *curscene; int fileflags`

	dna279 = listBase + `
IDPropertyData: void *pointer; ListBase group; int val; int val2
IDProperty: IDProperty *next; IDProperty *prev; char type; char subtype; short flag; char name[64]; int saved; IDPropertyData data; int len; int totallen
ID: void *next; void *prev; ID *newid; Library *lib; char name[66]; short flag; short tag; short pad; int us; int icon_id; IDProperty *properties
Object: ID id; void *adt; short type; short pad; int lay
rctf: float xmin; float xmax; float ymin; float ymax
SceneRenderLayer: SceneRenderLayer *next; SceneRenderLayer *prev; char name[64]; int lay; int pad; IDProperty *prop
ImageFormatData: char imtype; char depth; char planes; char flag
RenderData: ImageFormatData im_format; int cfra; int sfra; int efra; short imtype; short size; int xsch; int ysch; int scemode; int mode; short frs_sec; short pad; float frs_sec_base; int frame_step; rctf border; ListBase layers; char engine[32]
Scene: ID id; void *adt; Object *camera; RenderData r
FileGlobal: char subvstr[4]; short subversion; short minversion; int pad; void *curscreen; Scene *curscene; int fileflags; int globalf; uint64_t build_commit_timestamp; char build_hash[16]`

	dna510 = listBase + `
IDPropertyData: void *pointer; ListBase group; void *children_map; int val; int val2
IDProperty: IDProperty *next; IDProperty *prev; char type; char subtype; short flag; char name[64]; int pad; IDPropertyData data; int len; int totallen
ID: void *next; void *prev; ID *newid; Library *lib; void *asset_data; char name[258]; short flag; int tag; IDProperty *properties; IDProperty *system_properties
Library: ID id; char name[1024]; short flag; short pad; int pad2; Library *archive_parent_library; PackedFile *packedfile
Object: ID id; short type; short pad; int pad2
ImageFormatData: char media_type; char imtype; short pad
RenderData: ImageFormatData im_format; int cfra; int sfra; int efra; int frame_step; short size; short frs_sec; float frs_sec_base; int xsch; int ysch; int scemode; int mode; char engine[32]
ViewLayer: ViewLayer *next; ViewLayer *prev; char name[64]
NodeImageMultiFile: char base_path[1024]; char *file_name
bNode: bNode *next; bNode *prev; char name[64]; int flag; short type; short pad; ID *id; void *storage
bNodeTree: ID id; ListBase nodes; int type; int pad
Scene: ID id; void *adt; Object *camera; bNodeTree *nodetree; bNodeTree *compositing_node_group; RenderData r; ListBase view_layers
VFont: ID id; char name[1024]; PackedFile *packedfile
FileGlobal: char subvstr[4]; short subversion; short minversion; short minsubversion; short pad; void *curscreen; Scene *curscene; char build_hash[16]`
)

// era225 is a file from before scenes were named by the file: the screen names
// its scene.
func era225(f form) *synth {
	s := newSynth(f, dna225)
	s.block("SR", "bScreen", 0x100, values{"id.name": "SRfirst", "scene": addr(0x900)})
	s.block("SR", "bScreen", 0x200, values{"id.name": "SRshown", "scene": addr(0x910)})
	s.block("SC", "Scene", 0x900, values{"id.name": "SC1", "r.efra": 9})
	s.block("SC", "Scene", 0x910, values{"id.name": "SC2", "camera": addr(0xA00), "r.sfra": 2, "r.efra": 300, "r.cfra": 5,
		"r.size": 50, "r.xsch": 640, "r.ysch": 480, "r.imtype": 4, "r.frs_sec": 25})
	s.block("OB", "Object", 0xA00, values{"id.name": "OBcamera", "type": 11})
	s.block("OB", "Object", 0xA10, values{"id.name": "OBother"})
	s.block("IM", "Image", 0xB00, values{"id.name": "IMwood.tga", "name": "/textures/wood.tga"})
	s.block("LI", "Library", 0xC00, values{"id.name": "LILib", "name": "//set.blend"})
	s.block("LI", "Library", 0xC10, values{"id.name": "LILib.001", "name": `//set.blend`})
	s.block("GLOB", "FileGlobal", 0, values{"curscreen": addr(0x200)})
	return s
}

// era249 has nodes, strips, render layers and packed files, and no engine.
func era249(f form) *synth {
	s := newSynth(f, dna249)
	s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x910), "subversion": 2})
	s.block("SC", "Scene", 0x900, values{"id.name": "SCBackground"})
	s.block("SC", "Scene", 0x910, values{"id.name": "SCShot", "use_nodes": 1, "nodetree": addr(0x920), "frame_step": 4,
		"r.sfra": 0, "r.efra": 100, "r.size": 75, "r.xsch": 800, "r.ysch": 600, "r.imtype": 24, "r.frs_sec": 30, "r.frs_sec_base": 1.001,
		"r.mode": 1 << 9, "r.border.xmin": 0.25, "r.border.xmax": 0.75, "r.border.ymin": 0.0, "r.border.ymax": 0.5, "r.scemode": 1 << 6,
		"r.layers.first": addr(0x930), "r.layers.last": addr(0x930)})
	s.block("DATA", "bNodeTree", 0x920, values{"nodes.first": addr(0x921)})
	s.block("DATA", "bNode", 0x921, values{"name": "Out", "type": 223, "storage": addr(0x922)})
	s.block("DATA", "NodeImageFile", 0x922, values{"name": "//out/z"})
	s.block("DATA", "SceneRenderLayer", 0x930, values{"name": "1 RenderLayer"})
	s.block("DATA", "Sequence", 0x940, values{"type": 3, "strip": addr(0x941)})
	s.block("DATA", "Strip", 0x941, values{"dir": "//cuts/", "stripdata": addr(0x942)})
	s.block("DATA", "StripElem", 0x942, values{"name": "a.avi"})
	s.block("IM", "Image", 0xB00, values{"id.name": "IMold.png", "name": "//old.png"})
	s.block("IM", "Image", 0xB10, values{"id.name": "IMin.png", "name": "//in.png", "source": 1, "packedfile": addr(0xB11)})
	s.block("IM", "Image", 0xB20, values{"id.name": "IMResult", "source": 5})
	s.block("VF", "VFont", 0xB30, values{"id.name": "VFBuiltin", "name": "<builtin>", "packedfile": addr(1)})
	s.block("VF", "VFont", 0xB40, values{"id.name": "VFArial", "name": "//arial.ttf", "packedfile": addr(0xB41)})
	s.block("SO", "bSound", 0xB50, values{"id.name": "SOboom", "name": `\\server\sounds\boom.wav`})
	s.block("TX", "Text", 0xB60, values{"id.name": "TXgui.py", "flags": 1 << 4})
	s.raw("DATA", 0xB61, []byte("import Blender"))
	return s
}

// era279 has Cycles' settings as ID properties, and denoising by render layer.
func era279(f form) *synth {
	s := newSynth(f, dna279)
	s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x900), "build_hash": "5bd8ac9"})
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "id.properties": addr(0x910), "camera": addr(0xD10), "r.sfra": -5, "r.efra": 10,
		"r.frame_step": 2, "r.size": 100, "r.xsch": 1920, "r.ysch": 1080, "r.im_format.imtype": 23, "r.imtype": 17, "r.frs_sec": 24, "r.frs_sec_base": 1.0,
		"r.engine": "CYCLES", "r.layers.first": addr(0x940)})
	s.block("DATA", "IDProperty", 0x910, values{"type": 6, "data.group.first": addr(0x920)})
	s.block("DATA", "IDProperty", 0x920, values{"type": 6, "name": "other", "next": addr(0x921)})
	s.block("DATA", "IDProperty", 0x921, values{"type": 6, "name": "cycles", "data.group.first": addr(0x930)})
	s.block("DATA", "IDProperty", 0x930, values{"type": 1, "name": "samples", "data.val": 20, "next": addr(0x931)})
	s.block("DATA", "IDProperty", 0x931, values{"type": 1, "name": "use_square_samples", "data.val": 1})
	s.block("DATA", "SceneRenderLayer", 0x940, values{"name": "Main", "prop": addr(0x950)})
	s.block("DATA", "IDProperty", 0x950, values{"type": 6, "data.group.first": addr(0x951)})
	s.block("DATA", "IDProperty", 0x951, values{"type": 6, "name": "cycles", "data.group.first": addr(0x952)})
	s.block("DATA", "IDProperty", 0x952, values{"type": 1, "name": "use_denoising", "data.val": 1})
	s.block("ID", "ID", 0xD10, values{"name": "OBFar camera"})
	return s
}

// era510 has settings of add-ons apart from the user's, the compositor as a
// data-block, and libraries that are packed.
func era510(f form) *synth {
	s := newSynth(f, dna510)
	s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x900), "subversion": 7, "build_hash": "unknown"})
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "id.properties": addr(0x910), "id.system_properties": addr(0x920),
		"camera": addr(0xA00), "compositing_node_group": addr(0xE00), "view_layers.first": addr(0x930), "r.sfra": 1, "r.efra": 48,
		"r.frame_step": 1, "r.size": 100, "r.xsch": 4096, "r.ysch": 2160, "r.im_format.imtype": 35, "r.frs_sec": 24, "r.frs_sec_base": 1.0,
		"r.scemode": 1 << 6, "r.engine": "CYCLES"})
	s.block("DATA", "IDProperty", 0x910, values{"type": 6, "data.group.first": addr(0x911)})
	s.block("DATA", "IDProperty", 0x911, values{"type": 6, "name": "cycles", "data.group.first": addr(0x912)})
	s.block("DATA", "IDProperty", 0x912, values{"type": 1, "name": "samples", "data.val": 1})
	s.block("DATA", "IDProperty", 0x920, values{"type": 6, "data.group.first": addr(0x921)})
	s.block("DATA", "IDProperty", 0x921, values{"type": 6, "name": "cycles", "data.group.first": addr(0x922)})
	s.block("DATA", "IDProperty", 0x922, values{"type": 1, "name": "samples", "data.val": 64, "next": addr(0x923)})
	s.block("DATA", "IDProperty", 0x923, values{"type": 10, "name": "use_denoising", "data.val": 0})
	s.block("DATA", "ViewLayer", 0x930, values{"name": "ViewLayer"})
	s.block("NT", "bNodeTree", 0xE00, values{"id.name": "NTCompositing", "nodes.first": addr(0xE01)})
	s.block("DATA", "bNode", 0xE01, values{"name": "Group", "type": 2, "id": addr(0xE10), "next": addr(0xE02)})
	s.block("DATA", "bNode", 0xE02, values{"name": "Off", "type": 223, "flag": 1 << 9, "storage": addr(0xE03)})
	s.block("DATA", "NodeImageMultiFile", 0xE03, values{"base_path": "//off/"})
	s.block("NT", "bNodeTree", 0xE10, values{"id.name": "NTInner", "nodes.first": addr(0xE01)})
	s.block("DATA", "bNode", 0xE01, values{"name": "Inner out", "type": 223, "storage": addr(0xE03)})
	s.block("DATA", "NodeImageMultiFile", 0xE03, values{"base_path": "//inner/"})
	s.block("OB", "Object", 0xA00, values{"id.name": "OBCamera"})
	s.block("VF", "VFont", 0xB00, values{"id.name": "VFSans", "name": "//sans.otf"})
	s.block("LI", "Library", 0xC00, values{"id.name": "LIprops.blend", "name": "//props.blend"})
	s.block("LI", "Library", 0xC20, values{"id.name": "LIboth.blend", "name": "//both.blend"})
	s.block("LI", "Library", 0xC30, values{"id.name": "LIboth.blend.001", "name": "//both.blend", "archive_parent_library": addr(0xC20)})
	s.block("ID", "ID", 0xC21, values{"name": "OBstill linked", "lib": addr(0xC20)})
	s.block("LI", "Library", 0xC10, values{"id.name": "LIprops.blend.001", "name": "//props.blend", "archive_parent_library": addr(0xC00)})
	return s
}

func forms(versions ...form) []form { return versions }

func TestFilesOf225NameTheirSceneByTheScreen(t *testing.T) {
	t.Parallel()
	for _, f := range forms(form{version: 225, bits: 32}, form{version: 225, bits: 32, big: true}, form{version: 228, bits: 64}) {
		facts := inspectBytes(t, era225(f).bytes())
		want := &blendfile.Scene{
			Name: "2", FrameStart: 2, FrameEnd: 300, FrameStep: 1, FrameCurrent: 5,
			ResolutionX: 640, ResolutionY: 480, ResolutionPercentage: 50, FPS: 25, Samples: 10, Denoiser: "OPENIMAGEDENOISE",
			Camera: "camera", OutputFormat: "JPEG", ViewLayers: []string{}, Views: []string{}, FileOutputNodes: []blendfile.FileOutputNode{}, DrivenSettings: []string{},
		}
		same(t, f, "scene", facts.Scene, want)
		same(t, f, "scenes", facts.SceneCount, 2)
		same(t, f, "libraries", len(facts.LinkedLibraries), 1)
		same(t, f, "library", facts.LinkedLibraries[0].Path, "//set.blend")
		same(t, f, "externals", len(facts.Externals), 1)
		same(t, f, "external", facts.Externals[0].Path, "/textures/wood.tga")
		same(t, f, "missing", facts.MissingFiles, []blendfile.MissingFile{}) // nothing uses them
		sameForm(t, f, facts)
	}
}

func TestFilesOf249HaveNoEngineAndNoStep(t *testing.T) {
	t.Parallel()
	for _, f := range forms(form{version: 249, bits: 32}, form{version: 249, bits: 32, big: true}, form{version: 249, bits: 64, big: true}) {
		facts := inspectBytes(t, era249(f).bytes())
		want := &blendfile.Scene{
			Name: "Shot", FrameEnd: 100, FrameStep: 1, ResolutionX: 800, ResolutionY: 600, ResolutionPercentage: 75,
			Border: &blendfile.Border{MinX: 0.25, MaxX: 0.75, MaxY: 0.5}, FPS: 30 / float64(float32(1.001)),
			Samples: 10, Denoiser: "OPENIMAGEDENOISE", OutputFormat: "FFMPEG", MovieOutput: true, ViewLayers: []string{"1 RenderLayer"},
			Views: []string{}, FileOutputNodes: []blendfile.FileOutputNode{{Name: "Out", Path: "//out/z"}}, DrivenSettings: []string{},
		}
		same(t, f, "scene", facts.Scene, want)
		same(t, f, "externals", facts.Externals, []blendfile.External{
			{Kind: blendfile.KindImage, Path: "//old.png", Normalised: "//old.png", Owner: "old.png"},
			{Kind: blendfile.KindImage, Path: "//in.png", Normalised: "//in.png", Packed: true, Owner: "in.png"},
			{Kind: blendfile.KindFont, Path: "//arial.ttf", Normalised: "//arial.ttf", Packed: true, Owner: "Arial"},
			{Kind: blendfile.KindSound, Path: `\\server\sounds\boom.wav`, Normalised: `\\server/sounds/boom.wav`, Owner: "boom"},
			{Kind: blendfile.KindMovie, Path: "//cuts/a.avi", Normalised: "//cuts/a.avi", Owner: "Shot"},
		})
		same(t, f, "texts", facts.Texts, []blendfile.Text{{Name: "gui.py", Registers: true}})
		sameForm(t, f, facts)
	}
}

func TestFilesOf279SquareSamplesAndDenoiseByLayer(t *testing.T) {
	t.Parallel()
	for _, f := range forms(form{version: 279, bits: 64}, form{version: 279, bits: 32}, form{version: 279, bits: 64, big: true}) {
		facts := inspectBytes(t, era279(f).bytes())
		want := &blendfile.Scene{
			Name: "Scene", Engine: "CYCLES", FrameStart: -5, FrameEnd: 10, FrameStep: 2, ResolutionX: 1920, ResolutionY: 1080,
			ResolutionPercentage: 100, FPS: 24, Samples: 400, Denoise: true, Denoiser: "OPENIMAGEDENOISE", Camera: "Far camera",
			OutputFormat: "OPEN_EXR", ViewLayers: []string{"Main"}, Views: []string{}, FileOutputNodes: []blendfile.FileOutputNode{}, DrivenSettings: []string{},
		}
		same(t, f, "scene", facts.Scene, want)
		same(t, f, "build hash", facts.BuildHash, "5bd8ac9")
		sameForm(t, f, facts)
	}
}

func TestFilesOf510KeepSettingsApartAndTheCompositorOutside(t *testing.T) {
	t.Parallel()
	for _, f := range forms(form{version: 510, bits: 64, large: true}, form{version: 510, bits: 64}) {
		facts := inspectBytes(t, era510(f).bytes())
		want := &blendfile.Scene{
			Name: "Scene", Engine: "CYCLES", FrameStart: 1, FrameEnd: 48, FrameStep: 1, ResolutionX: 4096, ResolutionY: 2160,
			ResolutionPercentage: 100, FPS: 24, Samples: 64, AdaptiveSampling: true, Denoiser: "OPENIMAGEDENOISE", Camera: "Camera",
			OutputFormat: "WEBP", ViewLayers: []string{"ViewLayer"}, DrivenSettings: []string{},
			Views: []string{}, FileOutputNodes: []blendfile.FileOutputNode{{Name: "Inner out", Path: "//inner/"}, {Name: "Off", Path: "//off/", Muted: true}},
		}
		same(t, f, "scene", facts.Scene, want)
		same(t, f, "libraries", facts.LinkedLibraries, []blendfile.Library{
			{Name: "props.blend", Path: "//props.blend", Normalised: "//props.blend", Packed: true},
			{Name: "both.blend", Path: "//both.blend", Normalised: "//both.blend"},
			{Name: "both.blend.001", Path: "//both.blend", Normalised: "//both.blend", Packed: true},
			{Name: "props.blend.001", Path: "//props.blend", Normalised: "//props.blend", Packed: true},
		})
		same(t, f, "build hash", facts.BuildHash, "")
		sameForm(t, f, facts)
	}
}

func inspectBytes(t *testing.T, b []byte) *blendfile.Facts {
	t.Helper()
	facts, err := blendfile.Inspect(bytes.NewReader(b), blendfile.Options{ReadAll: true})
	if err != nil {
		t.Fatal(err)
	}
	if facts.Unpacked < int64(len(b)) {
		t.Errorf("unpacked %d of %d bytes", facts.Unpacked, len(b))
	}
	return facts
}

func sameForm(t *testing.T, f form, facts *blendfile.Facts) {
	t.Helper()
	same(t, f, "version", facts.FileVersion, f.version)
	same(t, f, "pointer bits", facts.PointerBits, f.bits)
	same(t, f, "big endian", facts.BigEndian, f.big)
}

func same(t *testing.T, f form, what string, got, want any) {
	t.Helper()
	if g, w := encoded(t, got), encoded(t, want); !bytes.Equal(g, w) {
		t.Errorf("%s: %s:\n got %s\nwant %s", fmt.Sprint(f), what, g, w)
	}
}

// A baked cache is on disk; one that was only set up is made again by a render.
func TestOnlyBakedCachesAreWanted(t *testing.T) {
	t.Parallel()
	f := form{version: 401, bits: 64}
	s := newSynth(f, dna279+`
OceanModifierData: int resolution; char cachepath[1024]; char cached; char flag; short pad`)
	s.block("OB", "Object", 0x1000, values{"id.name": "OBsea"})
	s.block("DATA", "OceanModifierData", 0x1001, values{"cachepath": "//baked", "cached": 1})
	s.block("DATA", "OceanModifierData", 0x1002, values{"cachepath": "//planned"})
	same(t, f, "missing", inspectBytes(t, s.bytes()).MissingFiles, []blendfile.MissingFile{{Kind: blendfile.KindCache, Path: "//baked", Owner: "sea"}})
}
