package corpus

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc.example/internal/render/contentkey"
	"svc.example/internal/render/framelist"
)

// Revisions compares what package contentkey says of pairs of revisions with what Blender
// renders of them (scenes/revisions.py).
type Revisions struct {
	Blender string // the program
	Folder  string // for scenes and pictures
	// Edits are those to choose from, by their names in revisions.py; nil for all.
	Edits []string
	// Keep leaves the scenes of pairs with a stale frame in Folder.
	Keep bool
	// Compare says which frames did not change; nil for package contentkey.
	Compare func(ctx context.Context, before, after string, frames framelist.List) (unchanged framelist.List, err error)
	Report  func(Pair)
}

// Pair is what became of a pair of revisions.
type Pair struct {
	Blender  string   `json:"blender"` // its version
	Number   int      `json:"number"`
	Parts    []string `json:"parts"`
	Edit     string   `json:"edit"`
	Frames   int      `json:"frames"`
	Equal    int      `json:"equal"`              // frames of equal pictures
	Found    int      `json:"found"`              // of those, the ones that were called unchanged
	Stale    []int    `json:"stale,omitempty"`    // frames that were called unchanged, and differ
	Unsteady bool     `json:"unsteady,omitempty"` // Blender makes two pictures of one scene
	Ended    bool     `json:"ended,omitempty"`    // Blender ended in it
}

// pairSaid is a line of revisions.py.
type pairSaid struct {
	Pair
	Differ []int `json:"differ"`
}

// pairsAtOnce is how many pairs one Blender makes at most.
const pairsAtOnce = 10

// Run compares the pairs first to first+count-1.
func (r Revisions) Run(ctx context.Context, first, count int) error {
	scripts, err := writeScripts(r.Folder)
	if err != nil {
		return err
	}
	version, err := Version(ctx, r.Blender)
	if err != nil {
		return err
	}
	for at, end := first, first+count; at < end; {
		run := numbered{blender: r.Blender, script: filepath.Join(scripts, "revisions.py"), after: append([]string{r.Folder}, r.Edits...)}
		next, ended, err := run.from(ctx, at, min(at+pairsAtOnce, end), func(text []byte) (int, error) {
			var one pairSaid
			if err := json.Unmarshal(text, &one); err != nil {
				return 0, err
			}
			return one.Number, r.judge(ctx, one)
		})
		if err != nil {
			return err
		}
		for _, number := range ended {
			r.Report(Pair{Blender: version, Number: number, Ended: true})
			if err := os.RemoveAll(filepath.Join(r.Folder, fmt.Sprint(number))); err != nil {
				return err
			}
		}
		at = next
	}
	return nil
}

// judge compares one pair, and removes its files.
func (r Revisions) judge(ctx context.Context, one pairSaid) error {
	folder := filepath.Join(r.Folder, fmt.Sprint(one.Number))
	frames := framelist.Range{First: 1, Last: one.Frames, Step: 1}.List()
	compare := r.Compare
	if compare == nil {
		compare = Unchanged
	}
	unchanged, err := compare(ctx, filepath.Join(folder, "before", "scene.blend"), filepath.Join(folder, "after", "scene.blend"), frames)
	if err != nil {
		return fmt.Errorf("pair %d: %w", one.Number, err)
	}
	p := one.Pair
	for _, frame := range frames {
		same, called := !slices.Contains(one.Differ, frame), unchanged.Has(frame)
		switch {
		case same && called:
			p.Found++
			p.Equal++
		case same:
			p.Equal++
		case called:
			p.Stale = append(p.Stale, frame)
		}
	}
	if p.Unsteady {
		p.Equal, p.Found, p.Stale = 0, 0, nil
	}
	r.Report(p)
	if len(p.Stale) > 0 && r.Keep {
		return nil
	}
	return os.RemoveAll(folder)
}

// Unchanged says by package contentkey which frames did not change.
func Unchanged(ctx context.Context, before, after string, frames framelist.List) (framelist.List, error) {
	old, err := contentkey.OnDisk(ctx, before, "")
	if err != nil {
		return nil, err
	}
	revised, err := contentkey.OnDisk(ctx, after, "")
	if err != nil {
		return nil, err
	}
	return contentkey.Compare(old, revised, frames).Unchanged, nil
}

// Pairs reads a file of pairs. A missing file has none.
func Pairs(path string) ([]Pair, error) { return readLines[Pair](path) }

// AppendPair adds a pair to a file of pairs.
func AppendPair(path string, p Pair) error { return appendLine(path, p) }

// shares counts pairs.
type shares struct{ pairs, stale, unsteady, ended, equal, found, partly, partEqual, partFound int }

func (s *shares) add(p Pair) {
	s.pairs++
	switch {
	case p.Ended:
		s.ended++
		return
	case p.Unsteady:
		s.unsteady++
		return
	}
	s.stale += len(p.Stale)
	s.equal += p.Equal
	s.found += p.Found
	if p.Equal > 0 && p.Equal < p.Frames {
		s.partly++
		s.partEqual += p.Equal
		s.partFound += p.Found
	}
}

// share is part of whole in percent.
func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d (%d %%)", part, whole, 100*part/whole)
}

// RevisionsPage prints pairs as a section of the page: a line for each version, and one for
// each edit.
func RevisionsPage(pairs []Pair) string {
	var b strings.Builder
	b.WriteString(`
## Revisions

` + "`make corpus`" + ` also makes pairs of revisions (` + "`internal/test/corpus/scenes/revisions.py`" + `): a random scene, and the same scene after a random edit. Blender renders every frame of both. **Stale** frames are those that [svc diff](../revisions.md) calls unchanged and whose pictures, or files of File Output nodes, differ: there must be none. **Found** frames are those with equal pictures that it calls unchanged.

| Blender | pairs | stale frames | equal frames found | of pairs in which some frames differ and some are equal | Blender itself makes two pictures | Blender ends |
|---|---|---|---|---|---|---|
`)
	versions, edits := map[string]*shares{}, map[string]*shares{}
	for _, p := range pairs {
		for key, of := range map[string]map[string]*shares{p.Blender: versions, strings.ReplaceAll(p.Edit, "_", " "): edits} {
			if key == "" {
				continue // Blender ended before it said the edit
			}
			if of[key] == nil {
				of[key] = &shares{}
			}
			of[key].add(p)
		}
	}
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		s := versions[version]
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s in %d pairs | %d | %d |\n", version, s.pairs, s.stale, share(s.found, s.equal), share(s.partFound, s.partEqual), s.partly, s.unsteady, s.ended)
	}
	b.WriteString("\n| edit | pairs | stale frames | equal frames found |\n|---|---|---|---|\n")
	for _, edit := range slices.Sorted(maps.Keys(edits)) {
		s := edits[edit]
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", edit, s.pairs, s.stale, share(s.found, s.equal))
	}
	return b.String()
}
