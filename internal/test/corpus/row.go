package corpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// The orders of a scene, in the order of the table.
const (
	Whole  = "whole"
	Alone  = "alone"
	Ranges = "ranges"
	Cut    = "cut, kills"
)

// Orders lists them.
var Orders = [...]string{Whole, Alone, Ranges, Cut}

// Outcome compares an order's frames with those by hand.
type Outcome struct {
	Frames  int    `json:"frames"`            // that were ordered
	Differ  []int  `json:"differ,omitempty"`  // those of them whose pixels are others
	Problem string `json:"problem,omitempty"` // why there are none
}

// Equal reports whether all frames were rendered as by hand.
func (o Outcome) Equal() bool { return o.Problem == "" && o.Frames > 0 && len(o.Differ) == 0 }

// Row is one scene's comparison, a line of the file of results.
type Row struct {
	Scene    Scene    `json:"scene"`
	Blender  string   `json:"blender,omitempty"`  // the version, where it is not that of most rows
	Problem  string   `json:"problem,omitempty"`  // why there is no comparison
	Unsteady []int    `json:"unsteady,omitempty"` // frames of which Blender by hand made two pictures; checked if an order differs
	Lively   bool     `json:"lively"`             // by hand there are at least two pictures that differ
	Warnings []string `json:"warnings,omitempty"`
	// The frames that need files next to the .blend. Where there are
	// some, the outcomes compare with the .blend alone, which is what was sent.
	Beside   []int              `json:"beside,omitempty"`
	Outcomes map[string]Outcome `json:"outcomes,omitempty"`
	Written  int                `json:"written,omitempty"` // files that File Output nodes wrote by hand
	Kills    int                `json:"kills"`             // workers and Blenders that were killed for the last order
	Seconds  float64            `json:"seconds"`
}

// Equal reports whether every order was rendered as by hand.
func (r Row) Equal() bool { return r.Problem == "" && len(r.Beside) == 0 && r.ordersEqual() }

func (r Row) ordersEqual() bool {
	for _, order := range Orders {
		if !r.Outcomes[order].Equal() {
			return false
		}
	}
	return true
}

// Sound reports whether the row is as it should be: equal, or not and it is known why, or
// only for want of files of which the price's warnings told.
func (r Row) Sound() bool {
	switch {
	case r.Scene.Missing != "":
		return true
	case r.Problem != "":
		return false
	case len(r.Beside) > 0:
		return r.ordersEqual() && slices.ContainsFunc(r.Warnings, func(code string) bool {
			return code == "missing_files" || code == "linked_libraries" || code == "missing_cache"
		})
	}
	return r.Equal() || r.Scene.Why != ""
}

// judge fills in what the hashes of pictures say, and reports whether all are equal.
func (r *Row) judge(hashes map[string]string, byHand pictures, orders map[string]ordered) (equal bool) {
	different := map[string]bool{}
	for n := range byHand {
		different[byHand.hash(n, hashes)] = true
	}
	r.Lively, r.Written = len(different) > 1, byHand.written()
	wanted := r.Scene.frames()
	if len(wanted) == 0 {
		r.Problem = "the scene has no frame of 1 or above"
		return true
	}
	for _, n := range wanted {
		if len(byHand[n]) == 0 {
			r.Problem = fmt.Sprintf("no frame %d was written by Blender", n)
			return true
		}
	}
	for name, got := range orders {
		o := Outcome{Frames: len(got.pictures)}
		switch {
		case got.err != nil:
			o.Problem = got.err.Error()
		case name != Alone && len(got.pictures) != len(wanted):
			o.Problem = fmt.Sprintf("%d frames came, not %d", len(got.pictures), len(wanted))
		default:
			o.Differ = differing(hashes, got.pictures, byHand)
		}
		r.Outcomes[name] = o
	}
	return r.ordersEqual()
}

// Results reads a file of results: the last row of each scene and Blender, in the order in which the
// scenes came first. A missing file has none; a last line that was not written to its
// end does not count.
func Results(path string) (rows []Row, err error) {
	all, err := readLines[Row](path)
	for _, r := range all {
		if i := slices.IndexFunc(rows, func(other Row) bool { return other.Scene.Name == r.Scene.Name && other.Blender == r.Blender }); i >= 0 {
			rows[i] = r
		} else {
			rows = append(rows, r)
		}
	}
	return rows, err
}

// readLines reads a file with a JSON object on each line. A missing file has none; a line that
// was not written to its end does not count.
func readLines[T any](path string) (all []T, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one T
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			all = append(all, one)
		}
	}
	return all, lines.Err()
}

// Append adds a row to a file of results.
func Append(path string, r Row) error {
	r.Scene.File, r.Scene.Root = "", ""
	return appendLine(path, r)
}

func appendLine(path string, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}
