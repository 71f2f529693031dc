package scenefiles_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"svc.example/internal/render/scenefiles"
	"svc.example/internal/test/alone"
	"svc.example/internal/test/packed"
)

func TestNoLinkLeadsOutOfTheTree(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret.png")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/kinds")); err != nil {
		t.Fatal(err)
	}
	replace := func(name, target string) {
		at := filepath.Join(folder, name)
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
	}
	relative, err := filepath.Rel(filepath.Join(folder, "tex"), secret)
	if err != nil {
		t.Fatal(err)
	}
	replace("tex/back.png", relative)
	replace("tex/case.png", "case.png")     // a circle
	replace("tex/missing.png", "drive.png") // stays inside
	replace("tex/unused.png", "no-such-file")
	replace("vdb", filepath.Dir(secret)) // a folder elsewhere
	replace("blendcache_main", ".")      // a folder that holds itself
	found := findIn(t, folder, "main.blend", scenefiles.Options{})
	for stored, want := range map[string]scenefiles.Status{
		`//tex\sub\..\back.png`: scenefiles.StatusOutside, "//tex/missing.png": scenefiles.StatusFound, "//tex/unused.png": scenefiles.StatusMissing,
		"//vdb/cloud.v2.0001.vdb": scenefiles.StatusOutside,
	} {
		if f := fileOf(t, found, stored); f.Status != want {
			t.Errorf("%s is %s, want %s", stored, f.Status, want)
		}
	}
	for _, f := range found.Files {
		for _, n := range f.Names {
			if n.Bytes == int64(len("secret")) {
				t.Errorf("%s was read", n.Path)
			}
		}
	}
}

// A chain is a tree of libraries each of which uses the next: a prop a material, and that the
// next prop. It is made when it is read.
type chain struct {
	shot, prop, material []byte // unpacked
	links                int
}

// newChain unpacks the files of the project chain.
func newChain(t testing.TB, links int) *chain {
	t.Helper()
	return &chain{
		shot: packed.Read(t, "testdata/chain/shots/010/shot.blend"), prop: packed.Read(t, "testdata/chain/lib/props/prop.blend"),
		material: packed.Read(t, "testdata/chain/lib/mat/materials.blend"), links: links,
	}
}

var chainName = regexp.MustCompile(`^lib/(props/prop|mat/materials)(\d*)\.blend$`)

func (c *chain) Open(name string) (fs.File, error) {
	data := c.shot
	if m := chainName.FindStringSubmatch(name); m != nil {
		number, _ := strconv.Atoi(m[2])
		if number > c.links {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		next := fmt.Sprintf("%d.blend", number+1)
		if m[1] == "props/prop" {
			data = written(c.prop, "//../mat/materials.blend", "//../mat/materials"+m[2]+".blend")
		} else {
			data = written(c.material, "//../props/prop.blend", "//../props/prop"+next)
		}
	} else if name != "shots/010/shot.blend" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return fstest.MapFS{path.Base(name): &fstest.MapFile{Data: data}}.Open(path.Base(name))
}

func TestAChainOfLibrariesIsFollowedInBoundedMemory(t *testing.T) {
	alone.Run(t, aChainOfLibrariesIsFollowedInBoundedMemory)
}

func aChainOfLibrariesIsFollowedInBoundedMemory(t *testing.T) {
	const links = 60
	tree := newChain(t, links)
	var found *scenefiles.Found
	most := heapDuring(t, func() (err error) {
		found, err = scenefiles.Find(t.Context(), tree, "shots/010/shot.blend", scenefiles.Options{})
		return err
	})
	libraries := 0
	for _, f := range found.Files {
		if f.Kind == scenefiles.KindLibrary && f.Status == scenefiles.StatusFound {
			libraries++
		}
	}
	if libraries < 2*links || found.Partial {
		t.Errorf("%d libraries, partial %v", libraries, found.Partial)
	}
	t.Logf("%d libraries, %.1f MiB of heap", libraries, float64(most)/(1<<20))
	if most > heapBound {
		t.Errorf("%d bytes of heap", most)
	}
}

// heapBound is what a search may take: the answer, the names and the files that are open,
// garbage included.
const heapBound = 64 << 20

func TestFoldersOfManyNamesStayWithinTheMemoryBound(t *testing.T) {
	alone.Run(t, foldersOfManyNamesStayWithinTheMemoryBound)
}

func foldersOfManyNamesStayWithinTheMemoryBound(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/kinds")); err != nil {
		t.Fatal(err)
	}
	tree := crowded{os.DirFS(folder), 2_000_000}
	var found *scenefiles.Found
	most := heapDuring(t, func() (err error) {
		found, err = scenefiles.Find(t.Context(), tree, "main.blend", scenefiles.Options{})
		return err
	})
	t.Logf("%.1f MiB of heap", float64(most)/(1<<20))
	if most > heapBound {
		t.Errorf("%d bytes of heap", most)
	}
	if f := fileOf(t, found, `//tex\sub\..\back.png`); f.Status != scenefiles.StatusFound || !found.Partial {
		t.Errorf("%s, partial %v", f.Status, found.Partial)
	}
}

// crowded is a tree whose folder seq claims to have many names.
type crowded struct {
	fs.FS
	names int
}

func (c crowded) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if name == "seq" && err == nil {
		return &manyNames{File: f, left: c.names}, nil
	}
	return f, err
}

type manyNames struct {
	fs.File
	left int
}

func (m *manyNames) ReadDir(n int) (all []fs.DirEntry, err error) {
	for ; n > 0 && m.left > 0; n, m.left = n-1, m.left-1 {
		all = append(all, entryName(fmt.Sprintf("plate%d.png", m.left)))
	}
	if m.left == 0 {
		err = io.EOF
	}
	return all, err
}

// entryName is a regular file of a name.
type entryName string

func (e entryName) Name() string               { return string(e) }
func (e entryName) IsDir() bool                { return false }
func (e entryName) Type() fs.FileMode          { return 0 }
func (e entryName) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// heapDuring is the most that the heap grows while something runs.
func heapDuring(t *testing.T, run func() error) uint64 {
	t.Helper()
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan error, 1)
	go func() { done <- run() }()
	most := uint64(0)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return most
		case <-tick.C:
			runtime.ReadMemStats(&now)
			if now.HeapAlloc > before.HeapAlloc {
				most = max(most, now.HeapAlloc-before.HeapAlloc)
			}
		}
	}
}

// FuzzFind writes any path over those of a scene, in place of images, sets and libraries.
func FuzzFind(f *testing.F) {
	kinds, shot := packed.Read(f, "testdata/kinds/main.blend"), packed.Read(f, "testdata/chain/shots/010/shot.blend")
	tree := fstest.MapFS{}
	for _, name := range []string{"a.png", "tex/a.png", "tex/A.PNG", "seq/a0001.png", "seq/a10000.png", "shots/b.blend", "tex/wall.1001.png", "lib/x.vdb"} {
		tree[name] = &fstest.MapFile{Data: []byte(name)}
	}
	for _, seed := range []string{
		"//a.png", "//../../a.png", `//tex\..\..\a.png`, `C:\film\tex\a.png`, `\\nas\tex\a.png`, "/tex/a.png", "//tex/wall.<UDIM>.png", "//seq/a0001.png",
		"//main.blend", "//shots/main.blend", "//", "", ".", "//.", "//..", "C:", "tex/a.png", "//seq/", "//tex/a.png/..", "<UDIM>", "//\xff/a.png", "//tex//.//a.png", "/", `\\`, "//TEX/a.PNG", "//a\x01.png",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, image, library string) {
		files := fstest.MapFS{}
		for name, file := range tree {
			files[name] = file
		}
		main := kinds
		for _, old := range []string{"//tex/missing.png", "//tex/wall.<UDIM>.png", "//seq/plate98.png", "//vdb/cloud.v2.0001.vdb", "//moved.mdd"} {
			main = written(main, old, image)
		}
		files["shots/main.blend"] = &fstest.MapFile{Data: main}
		files["main.blend"] = &fstest.MapFile{Data: written(shot, "//../../lib/props/prop.blend", library)}
		for _, name := range []string{"main.blend", "shots/main.blend"} {
			found, err := scenefiles.Find(t.Context(), files, name, scenefiles.Options{Base: "/tex"})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, file := range found.Files {
				if file.There() == (len(file.Names) == 0) {
					t.Errorf("%+v", file)
				}
				for _, n := range file.Names {
					if there, ok := files[n.Path]; !ok || int64(len(there.Data)) != n.Bytes {
						t.Errorf("%s is not of the tree: %+v", n.Path, file)
					}
				}
			}
		}
	})
}

// written writes a path, as long as a .blend can hold it, over another one.
func written(blend []byte, path, with string) []byte {
	const room = 512
	at := bytes.Index(blend, append([]byte(path), 0))
	if with = strings.ReplaceAll(with, "\x00", ""); at < 0 || len(with) >= room {
		return blend
	}
	blend = bytes.Clone(blend)
	copy(blend[at:at+room], append([]byte(with), make([]byte, room-len(with))...))
	return blend
}
