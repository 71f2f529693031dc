package ocio

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Found is a configuration in a tree, with its files.
type Found struct {
	*Config
	Path   string // of the configuration in the tree
	Bytes  int64
	SHA256 string
	Files  []File // in the order of Sources
}

// File is a file that a configuration needs.
type File struct {
	Source
	// Path is where it is in the tree. Of a file that is not there it is where it is looked for
	// first: one that begins with "/" or "../" leads out of the tree.
	Path  string
	Bytes int64
	There bool
}

// Find reads the configuration at a path of a tree and looks for its files there, as OpenColorIO
// does: in each folder of search_path, which count from the configuration's own. What is outside
// the tree is not looked for. A link in the tree that leads out of it must not open. hold grants
// the memory. Errors: *Error, also where the path names no file; ErrBusy; and those of the tree.
func Find(tree fs.FS, name string, hold Hold) (*Found, error) {
	if !fs.ValidPath(name) {
		return nil, refuse("is not a file of the project")
	}
	info, err := fs.Stat(tree, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, refuse("is not a file of the project")
	}
	if err != nil {
		return nil, fmt.Errorf("look for the OpenColorIO configuration: %w", err)
	}
	file, err := tree.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the OpenColorIO configuration: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	config, err := read(io.TeeReader(file, sum), hold)
	if err != nil {
		return nil, err
	}
	found := &Found{Config: config, Path: name, Bytes: info.Size(), SHA256: hex.EncodeToString(sum.Sum(nil))}
	for _, source := range config.Sources {
		f, err := config.locate(tree, path.Dir(name), source)
		if err != nil {
			return nil, err
		}
		found.Files = append(found.Files, f)
	}
	return found, nil
}

// locate looks for a file.
func (c *Config) locate(tree fs.FS, folder string, source Source) (File, error) {
	f := File{Source: source}
	for _, place := range c.places(folder, source.Name) {
		if f.Path == "" {
			f.Path = place
		}
		if !fs.ValidPath(place) {
			continue
		}
		info, err := fs.Stat(tree, place)
		if err == nil && info.Mode().IsRegular() {
			f.Path, f.Bytes, f.There = place, info.Size(), true
			return f, nil
		}
		if _, nowhere := errors.AsType[*fs.PathError](err); err != nil && !nowhere {
			return f, fmt.Errorf("look for a file of the OpenColorIO configuration: %w", err)
		}
	}
	return f, nil
}

// places are the paths at which a file is looked for, in the form of File.Path.
func (c *Config) places(folder, name string) []string {
	name = c.expand(name)
	if path.IsAbs(name) {
		return []string{path.Clean(name)}
	}
	if len(c.paths) == 0 {
		return []string{path.Join(folder, name)}
	}
	places := make([]string, 0, len(c.paths))
	for _, p := range c.paths {
		if path.IsAbs(p) {
			places = append(places, path.Join(p, name))
			continue
		}
		places = append(places, path.Join(folder, p, name))
	}
	return places
}

// variable is one of OpenColorIO's context, such as $SHOT, ${SHOT} or %SHOT%.
var variable = regexp.MustCompile(`\$\{\w+\}|\$\w+|%\w+%`)

// expand puts the defaults of variables in. Workers have no others: what has no default stays, as
// does a text with more variables than a path has, or one that would get longer than a path can be.
func (c *Config) expand(text string) string {
	if strings.Count(text, "$")+strings.Count(text, "%") > maxVariables {
		return text
	}
	grown := len(text)
	longer := variable.ReplaceAllStringFunc(text, func(v string) string {
		value, ok := c.variables[strings.Trim(v, "${}%")]
		if grown += len(value); !ok || grown > longestPath {
			return v
		}
		return value
	})
	if grown > longestPath {
		return text
	}
	return longer
}

const (
	maxVariables = 32   // of one path
	longestPath  = 4096 // with the values of its variables, as systems bound it
)
