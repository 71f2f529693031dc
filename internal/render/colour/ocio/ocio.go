// Package ocio reads OpenColorIO configurations of strangers, without OpenColorIO: which
// displays, views, looks and colour spaces one has, and which files it needs.
//
// What always holds: reading takes bounded time and memory, whatever the bytes are. No file is
// looked for outside the tree that the configuration is in. Names are printable text.
//
// Only what a picture of Blender can depend on is read. Whether OpenColorIO accepts the rest is
// known when Blender starts with the configuration. Start reading at Read, then Find in files.go.
package ocio

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"svc.example/internal/render/colour"
)

// Bounds of a configuration. That of ACES 1.2, one of the largest, has about 600 KiB, 500 colour
// spaces and 400 files.
const (
	MaxBytes = 2 << 20
	MaxNames = 10_000 // displays, views, looks and colour spaces
	MaxFiles = 5_000  // names of files

	// maxMarks bounds the characters that separate values. YAML needs one for each.
	maxMarks   = 400_000
	valueBytes = 220          // of memory
	maxValues  = 4 * maxMarks // with those that aliases repeat
	maxDepth   = 100
	maxPaths   = 64       // of search_path
	maxLooks   = 100_000  // files times paths
	maxPlaces  = 16 << 20 // bytes of the paths of all looks
	maxName    = 255
	maxSource  = 1024
)

// Error is why a configuration cannot be used. Its text continues "the configuration ...".
type Error struct{ Why string }

func (e *Error) Error() string { return e.Why }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Config is what a configuration has.
type Config struct {
	Version string // of the format, such as "2.1"
	// Offer is what Blender finds in it: active displays and views in their order, and names of
	// colour spaces with their aliases.
	Offer colour.Offer
	Roles map[string]string // colour spaces by role
	// Sources are the files that its transforms read, each once, in the order of the text.
	Sources []Source

	sourced   map[string]bool   // names in Sources
	paths     []string          // of search_path, with the variables' defaults
	variables map[string]string // defaults of its environment
}

// Source is the name of a file in a configuration.
type Source struct {
	Name   string // as it is written
	UsedBy string // what has the transform, such as "look Warm"; "" where that has no name
}

// ErrBusy reports that there is no memory for a configuration now.
var ErrBusy = errors.New("too many large files are being read at once")

// Hold makes sure of so many bytes of memory, and reports false when there are not as many. nil
// makes sure of any number.
type Hold func(bytes int) bool

// Read reads a configuration. Errors: *Error and those of r.
func Read(r io.Reader) (*Config, error) { return read(r, nil) }

// read is Read with the memory that hold grants. Error: also ErrBusy.
func read(r io.Reader, hold Hold) (c *Config, err error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the OpenColorIO configuration: %w", err)
	}
	marks, err := readable(text)
	if err != nil {
		return nil, err
	}
	if hold != nil && !hold(2*len(text)+marks*valueBytes) {
		return nil, ErrBusy
	}
	defer func() { // the parser is not ours, and the text is a stranger's
		if recover() != nil {
			c, err = nil, refuse("is not valid YAML")
		}
	}()
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, refuse("is not valid YAML: %s", plain(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	if document.Kind != yaml.DocumentNode || document.Content[0].Kind != yaml.MappingNode {
		return nil, refuse("is not an OpenColorIO configuration")
	}
	if stands(&document, map[*yaml.Node]int{}) > maxValues {
		return nil, refuse("has aliases that stand for too many values")
	}
	return configOf(document.Content[0])
}

// readable refuses what is not worth parsing, and counts the characters that separate values.
func readable(text []byte) (marks int, err error) {
	for _, b := range text {
		switch b {
		case '\n', ',', ':', '[', '{', '-', '?':
			marks++
		}
	}
	switch {
	case len(text) > MaxBytes:
		return 0, refuse("is larger than %d MiB", MaxBytes>>20)
	case strings.HasPrefix(string(text), "PK"):
		return 0, refuse("is an archive (.ocioz); unpack it and name its config.ocio")
	case !utf8.Valid(text):
		return 0, refuse("is not text")
	case marks > maxMarks:
		return 0, refuse("has too many values")
	}
	return marks, nil
}

// plain is text of a stranger in one short line.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}

// configOf reads the members of the top level.
func configOf(top *yaml.Node) (*Config, error) {
	c := &Config{Roles: map[string]string{}, sourced: map[string]bool{}, variables: map[string]string{}}
	if c.Version = scalar(member(top, "ocio_profile_version")); c.Version == "" {
		return nil, refuse("is not an OpenColorIO configuration: it has no ocio_profile_version")
	}
	if major, _, _ := strings.Cut(c.Version, "."); major != "1" && major != "2" {
		return nil, refuse("has the version %s; versions 1 and 2 can be used", plain(strconv.Quote(c.Version)))
	}
	for role, space := range pairs(member(top, "roles")) {
		c.Roles[role] = scalar(space)
	}
	for name, value := range pairs(member(top, "environment")) {
		if c.variables[name] = scalar(value); len(c.variables[name]) > maxSource {
			return nil, refuse("has a variable of more than %d bytes", maxSource)
		}
	}
	for _, p := range pathsOf(member(top, "search_path")) {
		if len(p) > maxSource {
			return nil, refuse("has a path of more than %d bytes", maxSource)
		}
		c.paths = append(c.paths, c.expand(p))
	}
	if err := c.collect(top, "", 0); err != nil {
		return nil, err
	}
	if err := c.fewLooks(); err != nil {
		return nil, err
	}
	if err := c.offer(top); err != nil {
		return nil, err
	}
	if c.Roles["scene_linear"] == "" {
		return nil, refuse("has no role scene_linear, which Blender needs")
	}
	return c, nil
}

// fewLooks refuses more looks for files than a few, and paths that are longer in all than those of
// any real configuration: ACES 1.2 has 30 KiB of them.
func (c *Config) fewLooks() error {
	if len(c.paths)*len(c.Sources) > maxLooks {
		return refuse("has %d files to look for in %d folders each, which are too many", len(c.Sources), len(c.paths))
	}
	folders, names := 0, 0
	for _, p := range c.paths {
		folders += len(p)
	}
	for _, s := range c.Sources {
		names += len(c.expand(s.Name))
	}
	if folders*len(c.Sources)+names*max(1, len(c.paths)) > maxPlaces {
		return refuse("has files to look for under paths that are too long")
	}
	return nil
}

// pathsOf are the folders of search_path: a list, or a text with colons between them.
func pathsOf(node *yaml.Node) (paths []string) {
	if node == nil {
		return nil
	}
	if node = target(node); node.Kind == yaml.SequenceNode {
		paths = texts(node)
	} else {
		paths = strings.Split(scalar(node), ":")
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == "" })
	return paths[:min(len(paths), maxPaths)]
}

// offer reads what Blender shows of the configuration.
func (c *Config) offer(top *yaml.Node) error {
	c.Offer = colour.Offer{Looks: []string{}, Spaces: []string{}}
	inactive := map[string]bool{}
	for _, name := range texts(member(top, "inactive_colorspaces")) {
		inactive[name] = true
	}
	for _, list := range []string{"colorspaces", "display_colorspaces"} {
		for space := range items(member(top, list)) {
			name := scalar(member(space, "name"))
			if name == "" || inactive[name] {
				continue
			}
			c.Offer.Spaces = append(append(c.Offer.Spaces, name), texts(member(space, "aliases"))...)
		}
	}
	for look := range items(member(top, "looks")) {
		c.Offer.Looks = append(c.Offer.Looks, scalar(member(look, "name")))
	}
	views := texts(member(top, "active_views"))
	views = views[:min(len(views), MaxNames)]
	names := len(c.Offer.Spaces) + len(c.Offer.Looks)
	for name, of := range pairs(member(top, "displays")) {
		d := colour.Display{Name: name}
		for view := range items(of) {
			if view.Kind == yaml.SequenceNode { // !<Views>: names of shared ones
				d.Views = append(d.Views, texts(view)...)
				continue
			}
			d.Views = append(d.Views, scalar(member(view, "name")))
		}
		if names += 1 + len(d.Views); names > MaxNames {
			break
		}
		if d.Views = active(d.Views, views, itself); len(d.Views) > 0 {
			c.Offer.Displays = append(c.Offer.Displays, d)
		}
	}
	if names > MaxNames {
		return refuse("has more than %d displays, views, looks and colour spaces", MaxNames)
	}
	c.Offer.Displays = active(c.Offer.Displays, texts(member(top, "active_displays")), func(d colour.Display) string { return d.Name })
	if len(c.Offer.Displays) == 0 {
		return refuse("has no display with a view")
	}
	return c.named()
}

// named refuses names that are not printable text.
func (c *Config) named() error {
	all := slices.Concat(c.Offer.Spaces, c.Offer.Looks)
	for _, d := range c.Offer.Displays {
		all = append(append(all, d.Name), d.Views...)
	}
	for _, name := range all {
		if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return refuse("has the name %s, which is empty, too long or not printable", plain(strconv.Quote(name)))
		}
	}
	return nil
}

func itself(name string) string { return name }

// active are those of all that are named, in the order of the names; all of them if none is.
func active[T any](all []T, names []string, name func(T) string) []T {
	places := make(map[string]int, len(all))
	for i, one := range all {
		if _, twice := places[name(one)]; !twice {
			places[name(one)] = i
		}
	}
	var some []T
	for _, n := range names {
		if at, ok := places[n]; ok {
			some = append(some, all[at])
			delete(places, n)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// collect finds the files of all transforms below a node. Each is found where its text is, so
// links of the text to it are not followed.
func (c *Config) collect(node *yaml.Node, owner string, depth int) error {
	if depth > maxDepth {
		return refuse("is nested too deep")
	}
	if node.Kind == yaml.MappingNode {
		if kind := kinds[strings.TrimPrefix(node.Tag, "!")]; kind != "" {
			owner = strings.TrimSpace(kind + " " + plain(scalar(member(node, "name"))))
		}
		if strings.TrimPrefix(node.Tag, "!") == "FileTransform" {
			if err := c.add(Source{scalar(member(node, "src")), owner}); err != nil {
				return err
			}
		}
	}
	for _, child := range node.Content {
		if err := c.collect(child, owner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// kinds are what has transforms, in words.
var kinds = map[string]string{"ColorSpace": "colour space", "Look": "look", "ViewTransform": "view transform", "NamedTransform": "named transform"}

func (c *Config) add(s Source) error {
	switch {
	case s.Name == "" || c.sourced[s.Name]:
		return nil
	case len(s.Name) > maxSource || strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return refuse("names the file %s, which is too long or not printable", plain(strconv.Quote(s.Name)))
	case len(c.Sources) == MaxFiles:
		return refuse("names more than %d files", MaxFiles)
	}
	c.Sources, c.sourced[s.Name] = append(c.Sources, s), true
	return nil
}
