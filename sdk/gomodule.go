package sdk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	svc "svc.example"
)

// GoProxy is what the go command asks a module proxy for (https://go.dev/ref/mod#goproxy-protocol):
// the Go SDK as a module of its own, of the packages that it needs.
type GoProxy struct {
	Module  string
	Version string            // its source has a version of its own, since the go command keeps sums
	Files   map[string][]byte // by path below the proxy's address
}

// goModules are the modules that the Go SDK needs, on any system.
var goModules = []string{
	"github.com/klauspost/compress", "github.com/rogpeppe/go-internal", "github.com/secure-systems-lab/go-securesystemslib",
	"golang.org/x/crypto", "golang.org/x/image", "golang.org/x/mod", "golang.org/x/sync", "golang.org/x/sys", "golang.org/x/text",
}

// Go returns the proxy's files, made at the first call. Callers must not change them.
var Go = sync.OnceValues(func() (*GoProxy, error) {
	p, err := goProxy(svc.GoSDK)
	if err != nil {
		return nil, fmt.Errorf("make the module of the Go SDK: %w", err)
	}
	return p, nil
})

// goFile is a file of the module's zip.
type goFile struct {
	path    string
	content []byte
}

func (f goFile) Path() string                 { return f.path }
func (f goFile) Lstat() (os.FileInfo, error)  { return goFileInfo{f}, nil }
func (f goFile) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.content)), nil }

type goFileInfo struct{ goFile }

func (i goFileInfo) Name() string     { return path.Base(i.path) }
func (i goFileInfo) Size() int64      { return int64(len(i.content)) }
func (goFileInfo) Mode() fs.FileMode  { return 0o644 }
func (goFileInfo) ModTime() time.Time { return time.Time{} }
func (goFileInfo) IsDir() bool        { return false }
func (goFileInfo) Sys() any           { return nil }

// goProxy makes the files of a proxy with one version.
func goProxy(from fs.FS) (*GoProxy, error) {
	files, err := goFiles(from)
	if err != nil {
		return nil, err
	}
	whole, mod, err := goMod(files)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	var contents []modzip.File
	for i, f := range files {
		if f.path == "go.mod" {
			f.content, files[i].content = mod, mod
		}
		fmt.Fprintf(sum, "%d %s %d\n%s", i, f.path, len(f.content), f.content)
		contents = append(contents, f)
	}
	p := &GoProxy{Module: whole.Module.Mod.Path, Version: "v0.1.0-h" + hex.EncodeToString(sum.Sum(nil))[:12]}
	var archive bytes.Buffer
	if err := modzip.Create(&archive, module.Version{Path: p.Module, Version: p.Version}, contents); err != nil {
		return nil, err
	}
	info, err := json.Marshal(struct{ Version string }{p.Version})
	if err != nil {
		return nil, err
	}
	at := p.Module + "/@v/"
	p.Files = map[string][]byte{
		at + "list": []byte(p.Version + "\n"), p.Module + "/@latest": info,
		at + p.Version + ".info": info, at + p.Version + ".mod": mod, at + p.Version + ".zip": archive.Bytes(),
	}
	return p, nil
}

// goFiles are the files of the module, in order. Tests stay out: they need more than the SDK.
func goFiles(from fs.FS) (files []goFile, err error) {
	err = fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		content, err := fs.ReadFile(from, name)
		files = append(files, goFile{name, content})
		return err
	})
	return files, err
}

// goMod returns svc's own go.mod, and one that asks for goModules alone.
func goMod(files []goFile) (whole *modfile.File, own []byte, err error) {
	i := slices.IndexFunc(files, func(f goFile) bool { return f.path == "go.mod" })
	if i < 0 {
		return nil, nil, fmt.Errorf("there is no go.mod")
	}
	if whole, err = modfile.Parse("go.mod", files[i].content, nil); err != nil {
		return nil, nil, err
	}
	var mod modfile.File
	if err := mod.AddModuleStmt(whole.Module.Mod.Path); err != nil {
		return nil, nil, err
	}
	if err := mod.AddGoStmt(whole.Go.Version); err != nil {
		return nil, nil, err
	}
	for _, require := range whole.Require {
		if slices.Contains(goModules, require.Mod.Path) {
			mod.AddNewRequire(require.Mod.Path, require.Mod.Version, false)
		}
	}
	own, err = mod.Format()
	return whole, own, err
}
