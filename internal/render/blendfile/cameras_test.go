package blendfile_test

import "testing"

// Blender takes the camera of a marker, also before the first one, unless it is hidden.
func TestAMarkerBringsItsCamera(t *testing.T) {
	t.Parallel()
	if got := inspectFile(t, "testdata/marked.blend").Rendering.NoCamera; got != "" {
		t.Errorf("the scene %q is said to have no camera", got)
	}
	for name, c := range map[string]struct {
		marker values
		want   string
	}{
		"no camera":          {values{}, "Scene"},
		"a camera":           {values{"camera": addr(0x20000)}, ""},
		"a hidden camera":    {values{"camera": addr(0x21000)}, "Scene"},
		"a camera that went": {values{"camera": addr(0x29000)}, "Scene"},
	} {
		s := newSynth(form{version: 401, bits: 64}, `raw_data: char empty
ListBase: void *first; void *last
ID: void *next; void *prev; char name[66]; char pad[6]
RenderData: int sfra; int efra; char engine[32]
Object: ID id; int visibility_flag; int pad
TimeMarker: TimeMarker *next; TimeMarker *prev; int frame; int pad; Object *camera
Scene: ID id; Object *camera; RenderData r; ListBase markers; ListBase view_layers
FileGlobal: void *curscene; int subversion; int pad`)
		s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x10000)})
		s.block("SC", "Scene", 0x10000, values{"id.name": "SCScene", "r.engine": "CYCLES", "markers.first": addr(0x11000)})
		s.block("DATA", "TimeMarker", 0x11000, c.marker)
		s.block("OB", "Object", 0x20000, values{"id.name": "OBSeen"})
		s.block("OB", "Object", 0x21000, values{"id.name": "OBHidden", "visibility_flag": 1 << 2})
		if got := inspectBytes(t, s.bytes()).Rendering.NoCamera; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
