// Package blender makes the archives of the add-on of this folder, and the listing by which
// Blender installs and updates it: an extension repository.
//
// What always holds: the same source and version give the same bytes, without a network,
// Python or Blender, so that the service serves what `make addon` writes. The Python SDK is
// put in from its own folder. Start reading at Packages.
package blender

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"svc.example/sdk"
)

//go:embed LICENSE svc_render_addon/*.py svc_render_addon/blender_manifest.toml
var source embed.FS

const (
	name = "svc_render_addon"
	// Listing is the file that Blender reads of a repository.
	Listing = "index.json"

	manifestFile = "blender_manifest.toml"
)

// Version is that of this program, as Blender writes versions: "0.0.0" of one without.
func Version() string {
	if built, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(built.Main.Version, "v") {
		return built.Main.Version[1:]
	}
	return "0.0.0"
}

// Packages returns the archives of the add-on at a version (semver without a v), with the
// address of the service that it asks until somebody names another, "" for none: the
// extension for Blender 4.2 and newer, the add-on for older ones; and the listing, in which
// the extension's size and hash stand.
func Packages(version, server string) ([]sdk.Package, error) {
	files, err := contents(version, server)
	if err != nil {
		return nil, fmt.Errorf("make the add-on for Blender: %w", err)
	}
	about, err := manifest(files[manifestFile])
	if err != nil {
		return nil, fmt.Errorf("make the add-on for Blender: %s: %w", manifestFile, err)
	}
	whole, err := archive(files, "")
	if err != nil {
		return nil, err
	}
	delete(files, manifestFile)
	legacy, err := archive(files, name+"/")
	if err != nil {
		return nil, err
	}
	// Semver's + would be an escape in the address.
	stem := name + "-" + strings.ReplaceAll(version, "+", ".")
	extension := sdk.NewPackage("Blender 4.2 and newer", stem+".zip", "application/zip", whole)
	about["archive_url"] = "./" + extension.Name
	about["archive_size"] = len(whole)
	about["archive_hash"] = "sha256:" + extension.SHA256
	listing, err := json.MarshalIndent(map[string]any{"version": "v1", "blocklist": []any{}, "data": []any{about}}, "", "  ")
	if err != nil {
		return nil, err
	}
	return []sdk.Package{
		extension,
		sdk.NewPackage("Blender 3.4 to 4.1", stem+"-legacy.zip", "application/zip", legacy),
		sdk.NewPackage("Blender's list of extensions", Listing, "application/json", append(listing, '\n')),
	}, nil
}

// contents returns the files of the add-on by their names in it.
func contents(version, server string) (map[string][]byte, error) {
	files := map[string][]byte{}
	entries, err := source.ReadDir(name)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if files[entry.Name()], err = source.ReadFile(path.Join(name, entry.Name())); err != nil {
			return nil, err
		}
	}
	if files["LICENSE"], err = source.ReadFile("LICENSE"); err != nil {
		return nil, err
	}
	module, err := sdk.PythonModule()
	if err != nil {
		return nil, err
	}
	for file, content := range module {
		files["svc_render/"+file] = content
	}
	return files, stamp(files, version, server)
}

var semver = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)([-+][0-9A-Za-z.+-]+)?$`)

// stamp writes the version where the source has 0.0.0. An add-on of older Blenders has
// three numbers alone.
func stamp(files map[string][]byte, version, server string) error {
	parts := semver.FindStringSubmatch(version)
	if parts == nil {
		return fmt.Errorf("%q is no version", version)
	}
	for _, place := range []struct{ file, from, to string }{
		{manifestFile, `version = "0.0.0"`, fmt.Sprintf("version = %q", version)},
		{"version.py", `VERSION = "0.0.0"`, fmt.Sprintf("VERSION = %q", version)},
		{"version.py", `SERVER = ""`, fmt.Sprintf("SERVER = %q", server)},
		{"__init__.py", `"version": (0, 0, 0)`, fmt.Sprintf(`"version": (%s, %s, %s)`, parts[1], parts[2], parts[3])},
	} {
		if bytes.Count(files[place.file], []byte(place.from)) != 1 {
			return fmt.Errorf("%s does not have %s once", place.file, place.from)
		}
		files[place.file] = bytes.Replace(files[place.file], []byte(place.from), []byte(place.to), 1)
	}
	return nil
}

// archive writes files into a ZIP, each below a folder.
func archive(files map[string][]byte, folder string) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, file := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: folder + file, Method: zip.Deflate}
		header.SetMode(0o644)
		entry, err := archive.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(files[file])
		}
		if err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}

var (
	tableLine = regexp.MustCompile(`^\[(\w+)\]$`)
	pairLine  = regexp.MustCompile(`^(\w+) = (".*"|\[.*\])$`)
)

// manifest returns what the listing takes of the manifest: texts, lists of texts and
// tables of them, which TOML writes as JSON does.
func manifest(text []byte) (map[string]any, error) {
	all := map[string]any{}
	table := all
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if head := tableLine.FindStringSubmatch(line); head != nil {
			table = map[string]any{}
			all[head[1]] = table
			continue
		}
		if line == "" {
			continue
		}
		pair := pairLine.FindStringSubmatch(line)
		if pair == nil {
			return nil, fmt.Errorf("%q is no text and no list", line)
		}
		var value any
		if err := json.Unmarshal([]byte(pair[2]), &value); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		table[pair[1]] = value
	}
	return all, nil
}
