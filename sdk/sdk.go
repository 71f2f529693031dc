// Package sdk makes the packages of the SDKs of this folder: what pip and npm install.
//
// What always holds: the same source gives the same bytes, without a network and without
// Python or Node, so that the service serves what `make sdks` writes. It leaves to
// scripts/build-typescript-sdk what becomes of src, and to the languages' own tools what
// is done with a package. Start reading at Packages.
package sdk

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed python/README.md python/LICENSE python/svc_render/*.py python/svc_render/py.typed
//go:embed typescript/README.md typescript/LICENSE typescript/package.json typescript/lib
var source embed.FS

// Package is a file that a program installs: a language's package manager, or Blender.
type Package struct {
	For    string // the language, or the versions of Blender, as people write them
	Name   string // the file's, with the version in it
	Type   string // the media type
	SHA256 string // in hex
	Bytes  []byte
}

// NewPackage returns a package with its hash.
func NewPackage(user, name, mediaType string, content []byte) Package {
	sum := sha256.Sum256(content)
	return Package{For: user, Name: name, Type: mediaType, SHA256: hex.EncodeToString(sum[:]), Bytes: content}
}

// Packages returns the packages of all SDKs, made at the first call. Callers must not
// change their bytes.
var Packages = sync.OnceValues(func() ([]Package, error) {
	var all []Package
	for _, build := range []func() (Package, error){wheel, tarball} {
		p, err := build()
		if err != nil {
			return nil, fmt.Errorf("make the package of an SDK: %w", err)
		}
		all = append(all, p)
	}
	return all, nil
})

// PythonModule returns the files of the Python SDK's module by name, and its licence, for
// programs that carry it with them.
func PythonModule() (map[string][]byte, error) {
	files, err := read("python/svc_render")
	if err != nil {
		return nil, err
	}
	files["LICENSE"], err = source.ReadFile("python/LICENSE")
	return files, err
}

// Write writes packages into a folder and lists them: SHA-256, path, size.
func Write(folder string, packages []Package, list io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, p := range packages {
		at := filepath.Join(folder, p.Name)
		if err := os.WriteFile(at, p.Bytes, 0o644); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(list, "%s  %s, %d bytes\n", p.SHA256, at, len(p.Bytes)); err != nil {
			return err
		}
	}
	return nil
}

// read returns the files below a folder of the source, by path there.
func read(folder string) (map[string][]byte, error) {
	found := map[string][]byte{}
	below, err := fs.Sub(source, folder)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(below, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found[name], err = fs.ReadFile(below, name)
		return err
	})
	return found, err
}

var versionLine = regexp.MustCompile(`(?m)^VERSION = "([^"]+)"$`)

// wheel makes the Python package (PEP 427): the bytes that python/build.py makes.
func wheel() (Package, error) {
	files, err := read("python")
	if err != nil {
		return Package{}, err
	}
	version := versionLine.FindSubmatch(files["svc_render/transport.py"])
	if version == nil {
		return Package{}, fmt.Errorf("transport.py names no version")
	}
	info := fmt.Sprintf("svc_render-%s.dist-info/", version[1])
	files[info+"METADATA"] = fmt.Appendf(nil, "Metadata-Version: 2.1\nName: svc-render\nVersion: %s\n"+
		"Summary: The Python SDK of svc, a render service for Blender files\n"+
		"Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n%s", version[1], files["README.md"])
	delete(files, "README.md")
	files[info+"LICENSE"] = files["LICENSE"]
	delete(files, "LICENSE")
	files[info+"WHEEL"] = []byte("Wheel-Version: 1.0\nGenerator: svc\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
	var record strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[name]))
	}
	files[info+"RECORD"] = []byte(record.String() + info + "RECORD,,\n")

	// The metadata comes last, as the standard recommends.
	names := slices.Sorted(maps.Keys(files))
	slices.SortStableFunc(names, func(a, b string) int {
		return strings.Count(path.Dir(a), ".dist-info") - strings.Count(path.Dir(b), ".dist-info")
	})
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range names {
		content := files[name]
		entry, err := archive.CreateRaw(&zip.FileHeader{
			Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(content),
			CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content)),
			//lint:ignore SA1019 a raw entry takes its date from here; 1980, whatever the clock says
			ModifiedDate:   1<<5 | 1,
			CreatorVersion: 3<<8 | 20, ReaderVersion: 20, ExternalAttrs: 0o644 << 16,
		})
		if err == nil {
			_, err = entry.Write(content)
		}
		if err != nil {
			return Package{}, err
		}
	}
	if err := archive.Close(); err != nil {
		return Package{}, err
	}
	return NewPackage("Python", fmt.Sprintf("svc_render-%s-py3-none-any.whl", version[1]), "application/zip", out.Bytes()), nil
}

// npmTime is the time that npm gives to every file of a package.
var npmTime = time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)

// tarball makes the npm package: the files that `npm pack` takes.
func tarball() (Package, error) {
	files, err := read("typescript")
	if err != nil {
		return Package{}, err
	}
	var manifest struct{ Name, Version string }
	if err := json.Unmarshal(files["package.json"], &manifest); err != nil {
		return Package{}, err
	}
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return Package{}, err
	}
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := archive.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(files[name])), ModTime: npmTime, Format: tar.FormatUSTAR})
		if err == nil {
			_, err = archive.Write(files[name])
		}
		if err != nil {
			return Package{}, err
		}
	}
	if err := archive.Close(); err != nil {
		return Package{}, err
	}
	if err := zipped.Close(); err != nil {
		return Package{}, err
	}
	return NewPackage("TypeScript", fmt.Sprintf("%s-%s.tgz", manifest.Name, manifest.Version), "application/gzip", out.Bytes()), nil
}
