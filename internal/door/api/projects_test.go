package api_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
)

// A project with files of most kinds, and one whose libraries link each other in circles.
const (
	kindsFolder = "../../render/scenefiles/testdata/kinds"
	chainFolder = "../../render/scenefiles/testdata/chain"
)

// sentFile is a file of a project as callers list it.
type sentFile struct {
	Path  string   `json:"path"`
	Size  int64    `json:"size_bytes"`
	Parts []string `json:"parts"`
}

// listed lists a project; more is appended, such as `,"frame_end":2`.
func listed(main string, files []sentFile, more string) body {
	text, err := json.Marshal(files)
	if err != nil {
		panic(err)
	}
	return jsonBody(fmt.Sprintf(`{"main":%q,"files":%s%s}`, main, text, more))
}

// cut lists a file in parts of so many bytes.
func cut(path string, content []byte, most int) (f sentFile, parts [][]byte) {
	f = sentFile{Path: path, Size: int64(len(content)), Parts: []string{}}
	for part := range slices.Chunk(content, most) {
		f.Parts, parts = append(f.Parts, hashOf(part)), append(parts, part)
	}
	return f, parts
}

// folder reads a project's files, in parts of 50,000 bytes.
func folder(t *testing.T, at string) (files []sentFile, parts map[string][]byte) {
	t.Helper()
	parts = map[string][]byte{}
	err := fs.WalkDir(os.DirFS(at), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(at, name))
		f, of := cut(name, content, 50_000)
		files = append(files, f)
		for i, part := range of {
			parts[f.Parts[i]] = part
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, parts
}

// missing is what an answer says has to be sent.
func (a answer) missing() (all []string) {
	e, _ := a.body["error"].(map[string]any)
	detail, _ := e["detail"].(map[string]any)
	list, _ := detail["missing"].([]any)
	for _, sum := range list {
		all = append(all, fmt.Sprint(sum))
	}
	return all
}

// sendProject sends a project as callers do: what is missing, then the project.
func (s *service) sendProject(main string, files []sentFile, parts map[string][]byte) answer {
	s.t.Helper()
	a := s.post("/node/v1/projects", listed(main, files, ""))
	if a.code() != fault.PartsMissing {
		return a
	}
	for _, sum := range a.missing() {
		if a := s.sendPart(parts[sum]); a.status != 201 {
			s.t.Fatalf("%d %v", a.status, a.body)
		}
	}
	return s.post("/node/v1/projects", listed(main, files, ""))
}

// sound audits the service.
func (s *service) sound() {
	s.t.Helper()
	apptest.Audit(s.t, s.app)
}

func TestAProjectIsInspectedWithItsFiles(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url)
		files, parts := folder(t, kindsFolder)
		a := s.sendProject("main.blend", files, parts)
		if a.status != 200 || a.text("filename") != "main.blend" || a.text("input_sha256") == "" || a.text("quote_id") == "" {
			t.Fatalf("%d %v", a.status, a.body)
		}
		got := map[string]string{}
		for _, one := range a.body["scene"].(map[string]any)["files"].([]any) {
			f := one.(map[string]any)
			got[f["stored"].(string)] = fmt.Sprint(f["kind"], " ", f["status"], " ", f["path"])
			if f["from"] != "main.blend" {
				t.Errorf("%v names another .blend", f)
			}
		}
		for stored, want := range map[string]string{
			"//../above.png": "image missing ../above.png", `//tex\sub\..\back.png`: "image found tex/back.png",
			"//Tex/CASE.PNG": "image remapped tex/case.png", `C:\Users\Anna\shot\tex\drive.png`: "image remapped tex/drive.png",
			"//tex/missing.png": "image missing tex/missing.png", "//tex/wall.<UDIM>.png": "udim found tex/wall.<UDIM>.png",
			"//vdb/cloud.v2.0001.vdb": "volume found vdb/cloud.v2.0001.vdb", "//blendcache_main": "simulation found blendcache_main",
		} {
			if got[stored] != want {
				t.Errorf("%s: %q, want %q", stored, got[stored], want)
			}
		}
		warned := map[string]string{}
		for _, one := range a.body["warnings"].([]any) {
			w := one.(map[string]any)
			warned[w["code"].(string)] = w["message"].(string)
		}
		if m := warned["missing_files"]; !strings.Contains(m, "//../above.png (image above") || !strings.Contains(m, "//tex/missing.png") || !strings.Contains(m, "tex/wall.1002.png") || strings.Contains(m, "back.png") {
			t.Errorf("what is missing: %q", m)
		}
		if m := warned["paths_remapped"]; !strings.Contains(m, "tex/case.png (wanted as //Tex/CASE.PNG)") {
			t.Errorf("what is elsewhere: %q", m)
		}
		if m, there := warned["missing_cache"]; there {
			t.Errorf("the cache came along: %q", m)
		}
		// It is an upload like others.
		upload := "/node/v1/uploads/" + a.text("upload_id")
		if again := s.call("GET", upload, s.agent, body{}); again.status != 200 || len(again.body["scene"].(map[string]any)["files"].([]any)) != len(got) {
			t.Errorf("read again: %d %v", again.status, again.body)
		}
		if other := s.post(upload+"/quote", jsonBody(`{"frame_start":2,"frame_end":2}`)); other.status != 200 || other.body["price_cents"] != 1.0 {
			t.Errorf("another quote: %d %v", other.status, other.body)
		}
		s.sound()
		if gone := s.call("DELETE", upload, s.agent, body{}); gone.status != 200 {
			t.Errorf("deleted: %d %v", gone.status, gone.body)
		}
		if again := s.post("/node/v1/projects", listed("main.blend", files, "")); len(again.missing()) != len(parts) {
			t.Errorf("after the deletion: %d %v", again.status, again.body)
		}
		s.sound()
	})
}

func TestLibrariesAreFollowedToAnyDepth(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url)
		files, parts := folder(t, chainFolder)
		a := s.sendProject("shots/010/shot.blend", files, parts)
		if a.status != 200 || len(a.body["warnings"].([]any)) != 0 {
			t.Fatalf("%d %v", a.status, a.body)
		}
		text := fmt.Sprint(a.body["scene"].(map[string]any)["files"])
		for _, path := range []string{"lib/props/prop.blend", "lib/mat/materials.blend", "lib/mat/tex/wood.png"} {
			if !strings.Contains(text, path) {
				t.Errorf("%s is not in %s", path, text)
			}
		}
		// Without the last of the chain.
		files = slices.DeleteFunc(files, func(f sentFile) bool { return strings.HasSuffix(f.Path, "wood.png") })
		a = s.sendProject("shots/010/shot.blend", files, parts)
		if w := fmt.Sprint(a.body["warnings"]); a.status != 200 || !strings.Contains(w, "missing_files") || !strings.Contains(w, "wood.png") {
			t.Errorf("without a texture: %d %s", a.status, w)
		}
		// A library that is no .blend: Blender renders without it.
		broken, of := cut("lib/props/prop.blend", []byte("BLENDER-"), 100)
		parts[broken.Parts[0]] = of[0]
		files[slices.IndexFunc(files, func(f sentFile) bool { return f.Path == broken.Path })] = broken
		a = s.sendProject("shots/010/shot.blend", files, parts)
		if w := fmt.Sprint(a.body["warnings"]); a.status != 200 || !strings.Contains(w, "unreadable_files") || !strings.Contains(w, broken.Path) {
			t.Errorf("a broken library: %d %s", a.status, w)
		}
	})
}

func TestBadProjectsMeetTheirCode(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.ProjectSize = 10 << 20 })
		scene, parts := cut("scene.blend", demo.Scene(), 32<<20)
		text, of := cut("notes.blend", []byte("no blend"), 100)
		s.sendPart(parts[0])
		s.sendPart(of[0])
		other := sentFile{"a.png", 1, []string{hashOf([]byte("x"))}}
		for name, c := range map[string]struct {
			request body
			status  int
			code    fault.Code
			names   string
		}{
			"as it should be":          {listed("scene.blend", []sentFile{scene}, ""), 200, "", ""},
			"with frames":              {listed("scene.blend", []sentFile{scene}, `,"frame_start":1,"frame_end":2,"frame_step":1`), 200, "", ""},
			"with an empty file":       {listed("scene.blend", []sentFile{scene, {"empty", 0, []string{}}}, ""), 200, "", ""},
			"a missing part":           {listed("scene.blend", []sentFile{scene, other}, ""), 409, fault.PartsMissing, other.Parts[0]},
			"a way out":                {listed("scene.blend", []sentFile{scene, {"../a", 1, other.Parts}}, ""), 400, fault.InvalidProjectPath, "../a"},
			"a backslash":              {listed("scene.blend", []sentFile{scene, {`tex\a`, 1, other.Parts}}, ""), 400, fault.InvalidProjectPath, "backslash"},
			"letters taken apart":      {listed("scene.blend", []sentFile{scene, {"e\u0301", 1, other.Parts}}, ""), 400, fault.InvalidProjectPath, "NFC"},
			"twins":                    {listed("scene.blend", []sentFile{scene, {"Scene.blend", 1, other.Parts}}, ""), 400, fault.InvalidProjectPath, "Scene.blend"},
			"another size":             {listed("scene.blend", []sentFile{{scene.Path, scene.Size + 1, scene.Parts}}, ""), 400, fault.InvalidRequest, "size_bytes"},
			"more bytes than may be":   {listed("scene.blend", []sentFile{scene, {"a", 10 << 20, other.Parts}}, ""), 413, fault.UploadTooLarge, ""},
			"another main file":        {listed("other.blend", []sentFile{scene}, ""), 400, fault.InvalidRequest, "body.main"},
			"a main file of text":      {listed("notes.blend", []sentFile{text}, ""), 400, fault.UnsupportedFile, ""},
			"a main file without end":  {listed("scene", []sentFile{{"scene", scene.Size, scene.Parts}}, ""), 400, fault.UnsupportedFile, ".blend"},
			"frames backwards":         {listed("scene.blend", []sentFile{scene}, `,"frame_start":3,"frame_end":2`), 400, fault.InvalidFrameRange, ""},
			"an unknown member":        {listed("scene.blend", []sentFile{scene}, `,"price_cents":1`), 400, fault.InvalidRequest, "price_cents"},
			"no files":                 {listed("scene.blend", []sentFile{}, ""), 400, fault.InvalidRequest, "files"},
			"null for files":           {jsonBody(`{"main":"a","files":null}`), 400, fault.InvalidRequest, "files"},
			"null for parts":           {jsonBody(`{"main":"a","files":[{"path":"a","size_bytes":0,"parts":null}]}`), 400, fault.InvalidRequest, "parts"},
			"a word for a size":        {jsonBody(`{"main":"a","files":[{"path":"a","size_bytes":"1","parts":[]}]}`), 400, fault.InvalidRequest, "size_bytes"},
			"broken JSON":              {jsonBody(`{"main":"a","files":[{`), 400, fault.InvalidRequest, ""},
			"a form":                   {s.form(nil, "scene.blend", demo.Scene()), 415, fault.UnsupportedMedia, ""},
			"a body without an end":    {jsonBody(`{"main":"` + strings.Repeat("a", 8<<20) + `"}`), 413, fault.BodyTooLarge, ""},
			"a NUL in a path":          {listed("scene.blend", []sentFile{scene, {"a\x00", 1, other.Parts}}, ""), 400, fault.InvalidRequest, ""},
			"an escape in a path":      {listed("scene.blend", []sentFile{scene, {"a\x1b", 1, other.Parts}}, ""), 400, fault.InvalidProjectPath, "not text"},
			"a path that is no UTF-8":  {jsonBody("{\"main\":\"a\",\"files\":[{\"path\":\"a\xff\",\"size_bytes\":0,\"parts\":[]}]}"), 400, fault.InvalidRequest, ""},
			"the parts of a neighbour": {listed("scene.blend", []sentFile{scene}, ""), 200, "", ""},
		} {
			a := s.post("/node/v1/projects", c.request)
			if a.status != c.status || a.code() != c.code || !strings.Contains(fmt.Sprint(a.body), c.names) {
				t.Errorf("%s: %d %v", name, a.status, a.body)
			}
		}
		// What another workspace has sent is missing here.
		if a := s.call("POST", "/node/v1/projects", s.stranger, listed("scene.blend", []sentFile{scene}, "")); a.code() != fault.PartsMissing || len(a.missing()) != 1 {
			t.Errorf("another workspace: %d %v", a.status, a.body)
		}
		s.sound()
	})
}

func TestAProjectSentAgainIsAnsweredAlike(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url)
		scene, parts := cut("scene.blend", demo.Scene(), 32<<20)
		s.sendPart(parts[0])
		s.sendPart([]byte("x"))
		files := []sentFile{scene}
		for i := range 10_000 - 1 { // more than other JSON may have
			files = append(files, sentFile{fmt.Sprintf("textures/%0100d.png", i), 1, []string{hashOf([]byte("x"))}})
		}
		key := map[string]string{"Idempotency-Key": "a project"}
		first := s.callWith("POST", "/node/v1/projects", s.agent, key, listed("scene.blend", files, ""))
		again := s.callWith("POST", "/node/v1/projects", s.agent, key, listed("scene.blend", files, ""))
		if first.status != 200 || again.status != 200 || first.text("upload_id") != again.text("upload_id") {
			t.Errorf("%d %v, then %d %v", first.status, first.body["error"], again.status, again.body["error"])
		}
		if a := s.callWith("POST", "/node/v1/projects", s.agent, key, listed("scene.blend", files[:1], "")); a.code() != fault.IdempotencyKeyReused {
			t.Errorf("another project: %d %v", a.status, a.body)
		}
		s.sound()
	})
}
