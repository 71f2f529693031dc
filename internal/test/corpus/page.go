package corpus

import (
	"cmp"
	"slices"
	"strings"
)

const head = `# Frames compared with Blender's

Printed from ` + "`scripts/corpus/results.jsonl`" + ` by ` + "`make generate`" + `; do not edit.

` + "`make corpus`" + ` orders each scene four times, and compares the pixels of every frame with those that one run of ` + "`blender -b FILE -s START -e END -a`" + ` writes, START to END being the scene's own range: **whole**; its middle frame **alone**; in two **ranges**; and whole again by three workers, one of which is killed while it renders and another loses its Blender (**cut, kills**). Where a frame differs, Blender renders by hand once more, and of the .blend alone. [What a frame shows](../frames.md) says how it is done.
`

// Page prints rows as a page: the made scenes with a line for each, and a summary of the
// files of other people.
func Page(all []Row) string {
	var b strings.Builder
	rows := slices.DeleteFunc(slices.Clone(all), func(r Row) bool { return r.Blender != "" })
	b.WriteString(head)
	for _, part := range []struct{ title, about, kind string }{
		{"Simulations", "Scenes with state that runs from frame to frame.", "simulation"},
		{"Animation", "Scenes in which something else changes from frame to frame.", "animation"},
		{"Compositor", "Scenes whose compositor writes files, or makes the picture. Each file of a frame is compared: that it is there and no other, its name, its pixels, and the layers and channels of OpenEXR.", "compositor"},
		{"Pictures", "Scenes about what becomes of a rendered picture: files, colour, size, stamps, views.", "picture"},
	} {
		if of := ofKind(rows, part.kind); len(of) > 0 {
			b.WriteString("\n## " + part.title + "\n\n" + part.about + " " + Summary(of) + "\n" + Table(of))
		}
	}
	for _, version := range versions(all) {
		of := ofKind(slices.DeleteFunc(slices.Clone(all), func(r Row) bool { return r.Blender != version }), "compositor")
		b.WriteString("\n## Compositor with Blender " + version + "\n\nThe scenes of Compositor. " + Summary(of) + "\n" + Table(of))
	}
	if of := ofKind(rows, "file"); len(of) > 0 {
		b.WriteString("\n## Files of other people\n\nAt most 96 pixels, 2 samples and 4 frames, on both sides. " + Summary(of))
	}
	if of := ofKind(rows, "project"); len(of) > 0 {
		b.WriteString("\n## Projects of other people\n\nScenes that are sent with their files, as [files](../files.md) finds them, and compared with Blender's in their folder; made small as above, and rendered with Cycles whatever their own engine is. " + Summary(of) + "\n" + Table(of))
	}
	return b.String()
}

// versions are those of the rows that name one.
func versions(rows []Row) (all []string) {
	for _, r := range rows {
		if r.Blender != "" {
			all = append(all, r.Blender)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ofKind picks the rows of a kind, by name.
func ofKind(rows []Row, kind string) (of []Row) {
	for _, r := range rows {
		if r.Scene.Kind == kind {
			of = append(of, r)
		}
	}
	slices.SortFunc(of, func(a, b Row) int { return cmp.Compare(a.Scene.Name, b.Scene.Name) })
	return of
}
