package api_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
)

// packed is a .zip of files; names and contents come in turn.
func packed(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &zip.FileHeader{Name: files[i], Method: zip.Deflate}
		if strings.HasPrefix(files[i+1], "-> ") {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packedFolder is a .zip of a folder.
func packedFolder(t *testing.T, at string) []byte {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(at), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			content, err := fs.ReadFile(os.DirFS(at), name)
			files = append(files, "project/"+name, string(content))
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return packed(t, files...)
}

// inspectZIP inspects an archive; main is left out where it is "".
func (s *service) inspectZIP(data []byte, main string) answer {
	s.t.Helper()
	fields := map[string]string{}
	if main != "" {
		fields["main"] = main
	}
	return s.post("/node/v1/uploads/inspect", s.form(fields, "project.ZIP", data))
}

// blobs counts the files that the service keeps.
func (s *service) blobs() (n int) {
	s.t.Helper()
	err := s.app.Blobs.List(s.t.Context(), "uploads/", func(string, time.Time) error {
		n++
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestAnArchiveIsAProject(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url)
		whole := packedFolder(t, chainFolder)
		a := s.inspectZIP(whole, "") // its libraries link each other: one file is left
		if a.status != 200 || a.text("filename") != "shot.blend" || len(a.body["warnings"].([]any)) != 0 || s.blobs() != 4 {
			t.Fatalf("%d %v, %d files", a.status, a.body, s.blobs())
		}
		// Sent again it is stored once, by parts and by its hash too.
		files, parts := folder(t, chainFolder)
		for _, part := range parts {
			if len(part) < 50_000 {
				if sent := s.sendPart(part); sent.status > 201 {
					t.Errorf("a part: %d %v", sent.status, sent.body)
				}
			}
		}
		before := s.blobs()
		key := map[string]string{"Idempotency-Key": "upload-" + hashOf(whole)}
		again := s.callWith("POST", "/v1/uploads", s.account, key, s.form(map[string]string{"main": "project/shots/010/shot.blend"}, "a.zip", whole))
		if again.status != 200 || s.blobs() != before || again.text("input_sha256") != a.text("input_sha256") {
			t.Errorf("again: %d %v, %d files before, %d after", again.status, again.body, before, s.blobs())
		}
		if other := s.callWith("POST", "/v1/uploads", s.account, map[string]string{"Idempotency-Key": "upload-" + hashOf([]byte("x"))}, s.form(nil, "a.zip", whole)); other.code() != fault.ContentHashMismatch {
			t.Errorf("under another hash: %d %v", other.status, other.body)
		}
		if len(files) != 4 {
			t.Errorf("%d files", len(files))
		}
		s.sound()
	})
}

func TestTheMainFileOfAnArchiveIsChosenOrAskedFor(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url)
		scene := string(demo.Scene())
		two := packed(t, "a.blend", scene, "b/c.blend", scene)
		a := s.inspectZIP(two, "")
		e, _ := a.body["error"].(map[string]any)
		if a.status != 400 || a.code() != fault.MainFileAmbiguous || fmt.Sprint(e["detail"]) != "map[candidates:[a.blend b/c.blend]]" {
			t.Errorf("two: %d %v", a.status, a.body)
		}
		for main, want := range map[string]string{"a.blend": "a.blend", "b/c.blend": "c.blend"} {
			if a := s.inspectZIP(two, main); a.status != 200 || a.text("filename") != want {
				t.Errorf("%s: %d %v", main, a.status, a.body)
			}
		}
		if a := s.inspectZIP(two, "c.blend"); a.status != 400 || a.code() != fault.InvalidRequest {
			t.Errorf("one that is not there: %d %v", a.status, a.body)
		}
		if a := s.post("/node/v1/uploads/inspect", s.form(map[string]string{"main": "b.blend"}, "a.blend", demo.Scene())); a.status != 400 || a.code() != fault.InvalidRequest {
			t.Errorf("another than the file: %d %v", a.status, a.body)
		}
		// A library lies in a folder; others of that folder are no scenes to render.
		library := func(name string) string {
			content, err := os.ReadFile(chainFolder + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			return string(content)
		}
		links := packed(t, "shots/010/shot.blend", library("shots/010/shot.blend"), "lib/props/prop.blend", library("lib/props/prop.blend"),
			"lib/mat/materials.blend", library("lib/mat/materials.blend"), "lib/mat/tex/wood.png", "x", "lib/props/old/prop.blend", scene)
		if a := s.inspectZIP(links, ""); a.status != 200 || a.text("filename") != "shot.blend" {
			t.Errorf("next to libraries: %d %v", a.status, a.body)
		}
		s.sound()
	})
}

func TestHostileArchivesAreRefusedAndLeaveNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.ProjectSize, c.Unstarted = 64<<20, 32<<20 })
		scene := string(demo.Scene())
		with := func(name, content string) []byte { return packed(t, "scene.blend", scene, name, content) }
		large := strings.Repeat("\x00", 40<<20) // deflates to forty thousand bytes
		for name, c := range map[string]struct {
			data   []byte
			status int
			code   fault.Code
			names  string
		}{
			"no archive":                {[]byte("hello"), 400, fault.InvalidArchive, ""},
			"a .blend":                  {demo.Scene(), 400, fault.InvalidArchive, ""},
			"a cut archive":             {with("a", "x")[:1000], 400, fault.InvalidArchive, ""},
			"an empty archive":          {packed(t), 400, fault.InvalidArchive, ""},
			"no .blend":                 {packed(t, "a.png", "x"), 400, fault.UnsupportedFile, ".blend"},
			"a .blend of text":          {packed(t, "a.blend", "x"), 400, fault.UnsupportedFile, ""},
			"a way up":                  {with("../a", "x"), 400, fault.InvalidProjectPath, "../a"},
			"a way up within":           {with("a/../../b", "x"), 400, fault.InvalidProjectPath, "a/../../b"},
			"an absolute path":          {with("/etc/passwd", "x"), 400, fault.InvalidProjectPath, "/etc/passwd"},
			"twins":                     {with("Scene.blend", "x"), 400, fault.InvalidProjectPath, "Scene.blend"},
			"the same path twice":       {with("scene.blend", "x"), 400, fault.InvalidProjectPath, "scene.blend"},
			"twins by composed letters": {packed(t, "scene.blend", scene, "é.png", "x", "e\u0301.png", "y"), 400, fault.InvalidProjectPath, "é.png"},
			"a file that is a folder":   {packed(t, "scene.blend", scene, "a", "x", "a/b", "y"), 400, fault.InvalidProjectPath, "a/b"},
			"a name that is too long":   {with(strings.Repeat("n", 256), "x"), 400, fault.InvalidProjectPath, "255"},
			"an escape in a name":       {with("a\x1b[2J", "x"), 400, fault.InvalidProjectPath, "not text"},
			"a link":                    {with("a", "-> /etc/passwd"), 400, fault.InvalidArchive, "link"},
			"more than a project has":   {packed(t, "scene.blend", scene, "a", large, "b", large), 413, fault.UploadTooLarge, ""},
			"more than may be stored":   {with("a", large), 409, fault.StorageLimitReached, ""},
		} {
			a := s.inspectZIP(c.data, "")
			if a.status != c.status || a.code() != c.code || !strings.Contains(fmt.Sprint(a.body), c.names) {
				t.Errorf("%s: %d %v", name, a.status, a.body)
			}
			if n := s.blobs(); n != 0 {
				t.Fatalf("%s: %d files are left", name, n)
			}
		}
		if a := s.call("POST", "/v1/renders", s.account, s.form(nil, "a.zip", with("a", "x"))); a.status != 400 || a.code() != fault.UnsupportedFile {
			t.Errorf("the older flow takes one file: %d %v", a.status, a.body)
		}
		if a := s.inspectZIP(packed(t, "scene.blend", scene, "__MACOSX/._scene.blend", "x", "empty", "", "tex/", "", "tex/a.png", "y", `text\c.png`, "y"), ""); a.status != 200 || a.body["scene"].(map[string]any)["files"] == nil || s.blobs() != 2 {
			t.Errorf("a plain one: %d %v, %d files", a.status, a.body, s.blobs())
		}
		s.sound()
	})
}
