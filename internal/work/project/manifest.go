package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/plainjson"
)

// Bounds of a manifest, which is one row and is sent to every worker of a job as a
// whole.
const (
	MaxFiles     = 10_000
	MaxPathBytes = 1024
)

// Manifest lists the files of a project. Its JSON is stored, so members keep their
// names.
type Manifest struct {
	Main  string `json:"main"` // path of the .blend to render, one of Files
	Files []File `json:"files"`
	// Aliases are further names of files; nil for none.
	Aliases []Alias `json:"aliases,omitempty"`
}

// File is one file of a project. Its bytes are its parts, one after the other; SHA256
// is the hash of all of them, in lower-case hex.
type File struct {
	Path      string   `json:"path"` // relative, with "/" between folders
	SHA256    string   `json:"sha256"`
	SizeBytes int64    `json:"size_bytes"`
	Parts     []string `json:"parts"` // SHA-256 of each
}

// SingleFile is the project of a .blend without further files. The file is one part,
// of any size, because it was hashed once while it arrived.
func SingleFile(filename, sha256 string, size int64) Manifest {
	return Manifest{Main: filename, Files: []File{{Path: filename, SHA256: sha256, SizeBytes: size, Parts: []string{sha256}}}}
}

// Parts returns the hash of each content of the project once, sorted. Sorting fixes
// the order of locks.
func (m Manifest) Parts() []string {
	var all []string
	for _, f := range m.Files {
		all = append(all, f.Parts...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Check refuses a manifest that breaks a rule; the error names the first one. It looks
// at the text only: Create's statements find out whether the parts are stored.
func (m Manifest) Check() error {
	if len(m.Files) == 0 || len(m.Files) > MaxFiles {
		return fmt.Errorf("a project has 1 to %d files, not %d", MaxFiles, len(m.Files))
	}
	taken := map[string]string{} // paths and their parent folders, by folded form
	for _, f := range m.Files {
		if err := f.check(); err != nil {
			return err
		}
		if err := claim(taken, f.Path); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(m.Files, func(f File) bool { return f.Path == m.Main }) {
		return fmt.Errorf("the main file %q is not in the project", m.Main)
	}
	return m.checkAliases()
}

// check looks at one file alone. A file of 0 bytes may have no parts.
func (f File) check() error {
	if err := CheckPath(f.Path); err != nil {
		return err
	}
	if f.SizeBytes < 0 || f.SizeBytes > 0 && len(f.Parts) == 0 {
		return fmt.Errorf("the file %q has %d bytes in %d parts", f.Path, f.SizeBytes, len(f.Parts))
	}
	for _, sum := range append([]string{f.SHA256}, f.Parts...) {
		if !digest.Is(sum) {
			return fmt.Errorf("the file %q: %q is not a SHA-256", f.Path, sum)
		}
	}
	return nil
}

// CheckPath refuses a path that some system would treat specially. Paths become names
// on a worker's disk, so none may leave the project's folder: no absolute path, no "."
// or "..", no empty name, no backslash, which Windows reads as a separator, no control
// characters. At most MaxPathBytes bytes of UTF-8.
func CheckPath(path string) error {
	switch {
	case !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl):
		return fmt.Errorf("the path %q contains characters that are not text", path)
	case len(path) > MaxPathBytes:
		return fmt.Errorf("the path %q has more than %d bytes", path, MaxPathBytes)
	case strings.Contains(path, `\`):
		return fmt.Errorf("the path %q contains a backslash", path)
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." {
			return fmt.Errorf("the path %q contains the segment %q", path, name)
		}
	}
	return nil
}

// claim registers a path and its folders. Two paths that differ only by case are one
// file on some systems, and a file cannot also be a folder. A folder is registered with
// a slash at its end, which distinguishes it from a file.
func claim(taken map[string]string, path string) error {
	switch other, ok := taken[fold(path)]; {
	case ok && other == path:
		return fmt.Errorf("the path %q is there twice", path)
	case ok && strings.HasSuffix(other, "/"):
		return fmt.Errorf("the paths %q and %q conflict: they use one name for a folder and a file", other, path)
	case ok:
		return fmt.Errorf("the paths %q and %q differ only by case", other, path)
	}
	taken[fold(path)] = path
	for at, r := range path {
		if r != '/' {
			continue
		}
		folder := path[:at]
		other, ok := taken[fold(folder)]
		if ok && other != folder+"/" {
			return fmt.Errorf("the paths %q and %q conflict: they use one name for two things", strings.TrimSuffix(other, "/"), path)
		}
		taken[fold(folder)] = folder + "/"
	}
	return nil
}

// fold maps each letter to the smallest of its case variants, so that paths that
// differ only by case become equal.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, text)
}

// encode writes the canonical form of a manifest: files and aliases sorted, members in
// the order of the types, no escapes beyond JSON's own. Equal projects then have
// equal texts.
func (m Manifest) encode() (string, error) {
	sorted := Manifest{
		Main: m.Main, Aliases: m.sortedAliases(),
		Files: slices.SortedFunc(slices.Values(m.Files), func(a, b File) int { return strings.Compare(a.Path, b.Path) }),
	}
	text, err := plainjson.Marshal(sorted)
	if err != nil {
		return "", fmt.Errorf("write a manifest: %w", err)
	}
	return string(text), nil
}

// decode reads what encode has written. An empty manifest is an error: it would render
// nothing, and no project was ever stored like that.
func decode(text string) (m Manifest, err error) {
	if err = json.Unmarshal([]byte(text), &m); err == nil && len(m.Files) == 0 {
		err = errors.New("it has no files")
	}
	if err != nil {
		return m, fmt.Errorf("read a manifest: %w", err)
	}
	return m, nil
}
