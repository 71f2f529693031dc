package quote

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/sequence"
)

// Sequence is numbered files of which some are not there that the scene can show.
type Sequence struct {
	Path   string             `json:"path" doc:"Where its first file is in the project."`
	Kind   string             `json:"kind" doc:"As in files."`
	Owner  string             `json:"owner" doc:"The data-block that wants it."`
	UsedBy string             `json:"used_by,omitempty" doc:"What uses that data-block, such as \"material Floor\"."`
	From   string             `json:"from,omitempty" doc:"The library that names it; absent for the main file."`
	Uses   []sequence.Use     `json:"uses" doc:"How the picture shows it."`
	Lacks  []sequence.Numbers `json:"lacks" doc:"The numbers that are not there, of those that can be shown."`
}

// Gap is the numbers of a sequence that chosen frames show and that are not there.
type Gap struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Owner   string `json:"owner"`
	UsedBy  string `json:"used_by,omitempty"`
	From    string `json:"from,omitempty"`
	Numbers string `json:"numbers"` // such as "3-4,6"; the first mostNumbers
	Count   int    `json:"count"`   // of all numbers
}

const mostNumbers = 100

// gaps lists what sequences lack of the chosen frames.
func (in *inspected) gaps() (all []Gap) {
	for _, s := range in.Sequences {
		numbers := map[int]bool{}
		for _, u := range s.Uses {
			for frame := range in.framesOf(u) {
				if n, ok := u.Number(frame); ok && sequence.In(s.Lacks, n) {
					numbers[n] = true
				}
			}
		}
		if len(numbers) > 0 {
			list := framelist.List(slices.Sorted(maps.Keys(numbers)))
			all = append(all, Gap{s.Path, s.Kind, s.Owner, s.UsedBy, s.From, first(list, mostNumbers).String(), len(list)})
		}
	}
	return all
}

// framesOf yields the frames in which a sequence can be shown: the chosen ones. Where strips
// make the picture, they show scenes at other frames, and all pictures count.
func (in *inspected) framesOf(u sequence.Use) iter.Seq[int] {
	if !in.Sequenced {
		return in.selected.each
	}
	return Selection{Frames: Frames{u.Start, u.Start + min(u.Frames, contract.MaxFrames) - 1, 1}}.each
}

// each yields the chosen frames.
func (s Selection) each(yield func(int) bool) {
	if s.List != nil {
		slices.Values(s.List)(yield)
		return
	}
	for i := range s.Frames.Count() {
		if !yield(s.Frames.Start + i*s.Frames.Step) {
			return
		}
	}
}

// gapText names what is missing, as in "3-4 of seq/plate_0001.png (sequence plate, used by
// material Wall)".
func gapText(g Gap) string {
	numbers := g.Numbers
	if g.Count > mostNamed && strings.Count(numbers, ",") >= mostNamed {
		numbers = fmt.Sprintf("%d numbers", g.Count)
	}
	return fmt.Sprintf("%s of %s", numbers, fileText(MissingFile{Kind: g.Kind, Path: g.Path, Owner: g.Owner, UsedBy: g.UsedBy, From: g.From}))
}
