package blendfile

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"strings"
)

// Inspect reads a .blend from r in one forward pass and returns its facts. It stops
// at the end mark unless o.ReadAll is set, though it may have read up to two
// buffers of 64 KiB beyond. It keeps no reference to r, and may be called
// concurrently.
//
// Errors: [ErrNotBlend], [TruncatedError], [DamagedError], [TooLargeError],
// [UnsupportedError], each with the place and the reason; [ErrBusy]; or the error of r,
// wrapped, so that a broken connection is never taken for a damaged file.
func Inspect(r io.Reader, o Options) (*Facts, error) {
	s, err := openStream(r, o.withDefaults())
	if err != nil {
		return nil, err
	}
	defer s.close()
	h, err := readHeader(s)
	if err != nil {
		return nil, err
	}
	blocks := newScan(s, h, o.Memory)
	defer blocks.keep.memory.End()
	if err := blocks.run(); err != nil {
		return nil, err
	}
	facts, err := newFile(blocks).gather()
	if err != nil {
		return nil, err
	}
	if o.ReadAll {
		if err := s.drain(); err != nil {
			return nil, err
		}
	}
	facts.Compression, facts.Unpacked, facts.Thumbnail = s.compression, s.pos, blocks.thumb
	return facts, nil
}

// withDefaults replaces each limit that is 0.
func (o Options) withDefaults() Options {
	o.MaxUnpacked = cmp.Or(o.MaxUnpacked, DefaultMaxUnpacked)
	o.MaxRatio = cmp.Or(o.MaxRatio, DefaultMaxRatio)
	o.MaxWindow = cmp.Or(o.MaxWindow, DefaultMaxWindow)
	return o
}

// gather puts the facts together. Whatever a member's reader found wrong is
// returned at the end.
func (f *file) gather() (*Facts, error) {
	active, found := f.activeScene()
	if found {
		f.reach = f.reached(active, f.graph(f.links))
	}
	facts := &Facts{
		FileVersion:     f.header.version,
		FileSubversion:  f.subversion(),
		BuildHash:       buildHash(f.global),
		PointerBits:     8 * f.header.pointer,
		BigEndian:       f.header.order == binary.BigEndian,
		SceneCount:      f.sceneCount(),
		LinkedLibraries: f.libraries(),
		Externals:       f.externals(),
		Texts:           f.texts(),
		PythonDrivers:   f.pythonDrivers(),
		Scripted:        f.scripted(),
	}
	facts.MissingFiles = missing(facts.LinkedLibraries, facts.Externals)
	if found {
		facts.Scene = f.scene(active)
	}
	facts.Partial = f.partial()
	return facts, f.err
}

// buildHash is the commit that the saving Blender was built from. Builds that
// do not know it write "unknown".
func buildHash(global record) string {
	if h := strings.TrimSpace(global.text("build_hash")); h != "unknown" {
		return h
	}
	return ""
}

// sceneCount counts the scenes of the file and those it links.
func (f *file) sceneCount() int {
	n := 0
	for range f.facts("SC", "Scene") {
		n++
	}
	for r := range f.facts("ID", "ID") {
		if strings.HasPrefix(r.text("name"), "SC") {
			n++
		}
	}
	return n
}

// partial names the lists that lost entries to the memory bound.
func (f *file) partial() []string {
	lists := []string{}
	for lost := range f.lost {
		list := "externals"
		switch lost {
		case "ChannelDriver", "FCurve", "DriverVar":
			list = "python_drivers"
		case "Library":
			list = "linked_libraries"
		case "Text":
			list = "texts"
		}
		if !slices.Contains(lists, list) {
			lists = append(lists, list)
		}
	}
	slices.Sort(lists)
	return lists
}
