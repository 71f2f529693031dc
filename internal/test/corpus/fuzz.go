package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Fuzz compares kept data with none in random scenes (scenes/fuzz.py).
type Fuzz struct {
	Blender string // the program
	Rules   string // the folder of kept.py, by which workers decide
	Folder  string // for scenes and pictures
	Results string // a file with a line for each batch: see FuzzBatch
	Report  func(FuzzBatch)
}

// FuzzBatch is what became of random scenes with consecutive numbers. Only those that the
// rules keep data of have to be equal.
type FuzzBatch struct {
	Blender  string `json:"blender"` // its version
	First    int    `json:"first"`
	Scenes   int    `json:"scenes"`             // that were compared
	Kept     int    `json:"kept"`               // of which a worker keeps data
	Lively   int    `json:"lively"`             // of those, the ones in which something moves
	Differ   []int  `json:"differ,omitempty"`   // numbers of those that differ
	Others   int    `json:"others"`             // that differ, and of which no data is kept
	Ordered  int    `json:"ordered,omitempty"`  // in which a frame follows from those before, with and without kept data
	Unsteady int    `json:"unsteady,omitempty"` // of which Blender makes two pictures
	Ended    []int  `json:"ended,omitempty"`    // numbers of those in which Blender ended
}

// fuzzSaid is a line of fuzz.py: what it found.
type fuzzSaid struct {
	Blender  string `json:"blender"`
	Number   int    `json:"number"`
	Doubt    string `json:"doubt"`
	Lively   bool   `json:"lively"`
	Unsteady bool   `json:"unsteady"`
	Ordered  bool   `json:"ordered"`
	Differ   []int  `json:"differ"`
}

// add counts a scene.
func (b *FuzzBatch) add(said fuzzSaid) {
	b.Blender = said.Blender
	b.Scenes++
	if said.Doubt == "" {
		b.Kept++
		if said.Lively {
			b.Lively++
		}
	}
	switch {
	case said.Unsteady:
		b.Unsteady++
	case said.Ordered:
		b.Ordered++
	case len(said.Differ) == 0:
	case said.Doubt == "":
		b.Differ = append(b.Differ, said.Number)
	default:
		b.Others++
	}
}

// batchSize is how many scenes one Blender compares at most.
const batchSize = 50

// Run compares the scenes first to first+count-1, a batch at a time. A scene in which Blender
// ends is noted, and the next ones get another Blender.
func (f Fuzz) Run(ctx context.Context, first, count int) error {
	scripts, err := writeScripts(f.Folder)
	if err != nil {
		return err
	}
	for end := first + count; first < end; first += batchSize {
		batch := FuzzBatch{First: first}
		for at, behind := first, min(first+batchSize, end); at < behind; {
			if at, err = f.compare(ctx, scripts, at, behind, &batch); err != nil {
				return err
			}
		}
		if err := appendLine(f.Results, batch); err != nil {
			return err
		}
		f.Report(batch)
	}
	return nil
}

// compare runs one Blender from scene at on, and returns the scene to continue with.
func (f Fuzz) compare(ctx context.Context, scripts string, at, behind int, batch *FuzzBatch) (next int, err error) {
	run := numbered{blender: f.Blender, script: filepath.Join(scripts, "fuzz.py"), before: []string{f.Rules}, after: []string{f.Folder}}
	next, ended, err := run.from(ctx, at, behind, func(text []byte) (number int, err error) {
		var one fuzzSaid
		if err := json.Unmarshal(text, &one); err != nil {
			return 0, err
		}
		batch.add(one)
		return one.Number, nil
	})
	batch.Ended = append(batch.Ended, ended...)
	return next, err
}

// numbered is a script that Blender runs for consecutive numbers. It prints a line before each,
// and one with what came of it.
type numbered struct {
	blender, script string
	before, after   []string // arguments around the first number and their count
}

// said begins the lines of such a script that count.
const said = "svc: said "

// from runs one Blender from number at on, shows each result, and returns the number to
// continue with: the one after that in which Blender ended.
func (n numbered) from(ctx context.Context, at, behind int, take func(text []byte) (number int, err error)) (next int, ended []int, err error) {
	args := append([]string{"--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", n.script, "--"}, n.before...)
	args = append(append(args, fmt.Sprint(at), fmt.Sprint(behind-at)), n.after...)
	output, failed := exec.CommandContext(ctx, n.blender, args...).Output()
	if err := ctx.Err(); err != nil {
		return at, nil, err
	}
	begun := at - 1
	done := begun
	for line := range bytes.Lines(output) {
		_, rest, _ := bytes.Cut(line, []byte(said))
		var text json.RawMessage
		if json.NewDecoder(bytes.NewReader(rest)).Decode(&text) != nil || text[0] != '{' { // another line, or the script's own in an error
			continue
		}
		var begins struct {
			Begins *int `json:"begins"`
		}
		if json.Unmarshal(text, &begins) == nil && begins.Begins != nil {
			begun = *begins.Begins
			continue
		}
		if done, err = take(text); err != nil {
			return at, nil, err
		}
	}
	switch {
	case failed == nil && done == behind-1:
		return behind, nil, nil
	case begun < at: // it did not come to a number
		return at, nil, fmt.Errorf("run %s in Blender: %w\n%s", filepath.Base(n.script), failed, lastLines(string(output), 20))
	case done < begun:
		return begun + 1, []int{begun}, nil
	}
	return begun + 1, nil, nil
}

// Version is the version of a Blender, such as "3.4.1".
func Version(ctx context.Context, blender string) (string, error) {
	said, err := exec.CommandContext(ctx, blender, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask Blender for its version: %w", err)
	}
	for line := range strings.Lines(string(said)) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "Blender "); ok {
			return version, nil
		}
	}
	return "", fmt.Errorf("no version in what Blender says: %s", said)
}

// FuzzResults reads a file of batches. A missing file has none.
func FuzzResults(path string) ([]FuzzBatch, error) { return readLines[FuzzBatch](path) }

// FuzzPage prints batches as a section of the page, a line for each version.
func FuzzPage(batches []FuzzBatch) string {
	var b strings.Builder
	b.WriteString(`
## Random scenes

` + "`make corpus`" + ` makes random scenes too (` + "`internal/test/corpus/scenes/fuzz.py`" + `), animates up to three random properties of each, and compares what Blender renders with kept data with what it renders without. **Kept** are the scenes of which a worker keeps data ([when](frames.md#when-data-is-kept)): none of them may differ. The others show what the rules are for.

| Blender | scenes | kept | of those moving | of those different | others that differ | depend on the frames before, also without kept data | Blender itself makes two pictures | Blender ends |
|---|---|---|---|---|---|---|---|---|
`)
	var versions []FuzzBatch
	for _, one := range batches {
		at := 0
		for at < len(versions) && versions[at].Blender != one.Blender {
			at++
		}
		if at == len(versions) {
			versions = append(versions, FuzzBatch{Blender: one.Blender})
		}
		sum := &versions[at]
		sum.Scenes, sum.Kept, sum.Lively, sum.Others = sum.Scenes+one.Scenes, sum.Kept+one.Kept, sum.Lively+one.Lively, sum.Others+one.Others
		sum.Ordered, sum.Unsteady = sum.Ordered+one.Ordered, sum.Unsteady+one.Unsteady
		sum.Differ, sum.Ended = append(sum.Differ, one.Differ...), append(sum.Ended, one.Ended...)
	}
	for _, v := range versions {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", v.Blender, v.Scenes, v.Kept, v.Lively, len(v.Differ), v.Others, v.Ordered, v.Unsteady, len(v.Ended))
	}
	return b.String()
}
