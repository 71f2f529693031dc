package project

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a manifest (decisions 16).
const (
	MaxFiles     = 10_000
	MaxPathBytes = 1024
)

// Manifest lists the files of a project.
type Manifest struct {
	Main  string `json:"main"` // path of the .blend to render, one of Files
	Files []File `json:"files"`
}

// File is one file of a project. Its bytes are its parts in order.
type File struct {
	Path      string   `json:"path"` // relative, with "/" between folders
	SHA256    string   `json:"sha256"`
	SizeBytes int64    `json:"size_bytes"`
	Parts     []string `json:"parts"` // SHA-256 of each
}

// Lone is the project of a .blend that comes alone. The file is one part, however
// large it is: it was hashed once, while it came.
func Lone(filename, sha256 string, size int64) Manifest {
	return Manifest{Main: filename, Files: []File{{Path: filename, SHA256: sha256, SizeBytes: size, Parts: []string{sha256}}}}
}

// parts are the hashes of all content that the project needs, each once, sorted.
func (m Manifest) parts() []string {
	var all []string
	for _, f := range m.Files {
		all = append(all, f.Parts...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Check refuses a manifest that breaks a rule; the error names the first.
func (m Manifest) Check() error {
	if len(m.Files) == 0 || len(m.Files) > MaxFiles {
		return fmt.Errorf("a project has 1 to %d files, not %d", MaxFiles, len(m.Files))
	}
	taken := map[string]string{} // paths, and the folders above them, by their folded form
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
	return nil
}

func (f File) check() error {
	if err := CheckPath(f.Path); err != nil {
		return err
	}
	if f.SizeBytes < 0 || len(f.Parts) == 0 {
		return fmt.Errorf("the file %q has %d bytes in %d parts", f.Path, f.SizeBytes, len(f.Parts))
	}
	for _, sum := range append([]string{f.SHA256}, f.Parts...) {
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || hex.EncodeToString(raw) != sum {
			return fmt.Errorf("the file %q: %q is not a SHA-256", f.Path, sum)
		}
	}
	return nil
}

// CheckPath refuses a path that is not plain on every system. A manifest's paths
// become names on a worker's disk, so none may leave the project's folder.
func CheckPath(path string) error {
	switch {
	case !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl):
		return fmt.Errorf("the path %q holds what is not text", path)
	case len(path) > MaxPathBytes:
		return fmt.Errorf("the path %q has more than %d bytes", path, MaxPathBytes)
	case strings.Contains(path, `\`):
		return fmt.Errorf("the path %q holds a backslash", path)
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." {
			return fmt.Errorf("the path %q has a part %q", path, name)
		}
	}
	return nil
}

// claim takes a path. Two that differ only by case are one file on some systems;
// a file cannot also be a folder.
func claim(taken map[string]string, path string) error {
	if other, ok := taken[fold(path)]; ok {
		return fmt.Errorf("the paths %q and %q are the same where case does not count", other, path)
	}
	taken[fold(path)] = path
	for at, r := range path {
		if r != '/' {
			continue
		}
		folder := path[:at]
		other, ok := taken[fold(folder)]
		if ok && other != folder+"/" {
			return fmt.Errorf("the paths %q and %q do not go together", strings.TrimSuffix(other, "/"), path)
		}
		taken[fold(folder)] = folder + "/"
	}
	return nil
}

// fold makes equal what differs only by case: each letter becomes the smallest of
// its forms.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, text)
}

// encode writes the one form of a manifest: files sorted by path, members in the
// order of the types, nothing escaped but what JSON demands.
func (m Manifest) encode() (string, error) {
	m.Files = slices.SortedFunc(slices.Values(m.Files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return "", fmt.Errorf("write a manifest: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func decode(text string) (m Manifest, err error) {
	if err = json.Unmarshal([]byte(text), &m); err == nil && len(m.Files) == 0 {
		err = errors.New("it has no files")
	}
	if err != nil {
		return m, fmt.Errorf("read a manifest: %w", err)
	}
	return m, nil
}
