package corpus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"svc.example/client"
	"svc.example/internal/ground/sandbox"
)

// Config is what a comparison needs.
type Config struct {
	Blender string
	Threads int              // of each Blender
	Sandbox *sandbox.Sandbox // of the workers' Blenders; nil for none
	Folder  string           // for everything that is made; empty or missing
	Report  func(Row)        // called with each scene that is done; may be nil
}

// The orders of a scene, in the order of the table.
const (
	Whole  = "whole"
	Alone  = "alone"
	Ranges = "ranges"
	Cut    = "cut, kills"
)

// Orders lists them.
var Orders = [...]string{Whole, Alone, Ranges, Cut}

// Outcome compares an order's frames with the reference.
type Outcome struct {
	Frames  int   // that were ordered
	Differ  []int // those of them whose pixels are not the reference's
	Problem error // why there are none
}

// Equal reports whether all frames were rendered as by hand.
func (o Outcome) Equal() bool { return o.Problem == nil && o.Frames > 0 && len(o.Differ) == 0 }

// Row is one scene's comparison.
type Row struct {
	Scene      Scene
	Problem    error // why there is no comparison
	Unsteady   []int // frames of which Blender by hand made two pictures
	Lively     bool  // the reference has at least two pictures that differ
	Warnings   []string
	Outcomes   map[string]Outcome
	Took       time.Duration
	references [2]pictures
	orders     map[string]pictures
}

// Equal reports whether every order was rendered as by hand.
func (r Row) Equal() bool {
	for _, order := range Orders {
		if !r.Outcomes[order].Equal() {
			return false
		}
	}
	return r.Problem == nil
}

// Sound reports whether the row is as it should be: equal, or not and it is known why.
func (r Row) Sound() bool {
	return r.Scene.Missing != "" || r.Problem == nil && (r.Equal() || r.Scene.Why != "")
}

// Compare compares all scenes: first by hand and with one worker, at the same time, then
// with the farm. It returns a row for each, in order. An error means that nothing can be
// said; what goes wrong with one scene is in its row.
func (c Config) Compare(ctx context.Context, scenes []Scene) ([]Row, error) {
	s, err := openService(ctx, c, filepath.Join(c.Folder, "service"))
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(scenes))
	for i, scene := range scenes {
		rows[i] = Row{Scene: scene, Outcomes: map[string]Outcome{}, orders: map[string]pictures{}}
	}
	if err = s.withOne(ctx, rows); err == nil {
		err = s.withFarm(ctx, rows)
	}
	if err := errors.Join(err, s.stop()); err != nil {
		return nil, err
	}
	return rows, c.judge(ctx, rows)
}

// withOne renders the orders of one worker, and the references beside them.
func (s *service) withOne(ctx context.Context, rows []Row) error {
	stop, err := s.worker(ctx)
	if err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		if r.Scene.Missing != "" || ctx.Err() != nil {
			continue
		}
		began := time.Now()
		quote, err := s.upload(ctx, r.Scene)
		if err != nil {
			r.Problem = err
			continue
		}
		for _, w := range quote.Warnings {
			r.Warnings = append(r.Warnings, w.Code)
		}
		byHand := make(chan error, 1)
		go func() { byHand <- s.byHand(ctx, r, slices.Contains(r.Warnings, "movie_output_as_png")) }()
		whole := client.Range{Start: quote.FrameStart, End: quote.FrameEnd, Step: quote.FrameStep}
		s.order(ctx, r, Whole, quote.UploadID, []client.Range{whole})
		s.order(ctx, r, Alone, quote.UploadID, alone(r.Scene))
		s.order(ctx, r, Ranges, quote.UploadID, thirds(r.Scene))
		r.Problem = <-byHand
		r.Took = time.Since(began)
		if s.cfg.Report != nil {
			s.cfg.Report(*r)
		}
	}
	return errors.Join(stop(), ctx.Err())
}

// byHand renders a scene's references.
func (s *service) byHand(ctx context.Context, r *Row, movie bool) error {
	for i := range r.references {
		folder, err := s.place("by-hand")
		if err != nil {
			return err
		}
		if r.references[i], err = s.cfg.reference(ctx, r.Scene, movie, folder); err != nil {
			return err
		}
	}
	return nil
}

// order renders ranges of a scene, and keeps their pictures in its row.
func (s *service) order(ctx context.Context, r *Row, name string, uploadID string, ranges []client.Range) {
	r.orders[name] = pictures{}
	for _, part := range ranges {
		got, err := s.renderRange(ctx, uploadID, part)
		if err != nil {
			r.Outcomes[name] = Outcome{Problem: err}
			return
		}
		maps.Copy(r.orders[name], got)
	}
}

func (s *service) renderRange(ctx context.Context, uploadID string, part client.Range) (pictures, error) {
	quote, err := s.client.Quote(ctx, uploadID, part)
	if err != nil {
		return nil, err
	}
	return s.render(ctx, quote)
}

// withFarm renders each scene once more, with three workers of which two fail.
func (s *service) withFarm(ctx context.Context, rows []Row) error {
	f, err := s.openFarm(ctx)
	if err != nil {
		return err
	}
	defer f.stop()
	for i := range rows {
		r := &rows[i]
		if r.Scene.Missing != "" || r.Problem != nil {
			continue
		}
		if err := f.renew(ctx); err != nil {
			return err
		}
		got, err := f.render(ctx, func(ctx context.Context) (pictures, error) {
			quote, err := s.upload(ctx, r.Scene)
			if err != nil {
				return nil, err
			}
			return s.render(ctx, quote)
		})
		r.orders[Cut] = got
		if err != nil {
			r.Outcomes[Cut] = Outcome{Problem: err}
		}
		if s.cfg.Report != nil {
			s.cfg.Report(*r)
		}
	}
	return ctx.Err()
}

// alone is the one frame that is ordered alone.
func alone(s Scene) []client.Range {
	frames := s.frames()
	n := frames[len(frames)/2]
	if s.Alone != 0 {
		n = s.Alone
	}
	return []client.Range{{Start: n, End: n}}
}

// thirds cuts a scene's frames into three ranges, or as many as it has frames.
func thirds(s Scene) (ranges []client.Range) {
	frames := s.frames()
	for part := range slices.Chunk(frames, (len(frames)+2)/3) {
		ranges = append(ranges, client.Range{Start: part[0], End: part[len(part)-1], Step: s.Step})
	}
	return ranges
}

// judge compares the pixels of all pictures.
func (c Config) judge(ctx context.Context, rows []Row) error {
	var files []string
	for _, r := range rows {
		for _, all := range append(slices.Collect(maps.Values(r.orders)), r.references[0], r.references[1]) {
			for _, views := range all {
				files = append(files, views...)
			}
		}
	}
	folder := filepath.Join(c.Folder, "hashes")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	hashes, err := c.hash(ctx, folder, files)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].judge(hashes)
	}
	return nil
}

func (r *Row) judge(hashes map[string]string) {
	if r.Scene.Missing != "" || r.Problem != nil {
		return
	}
	first, second := r.references[0], r.references[1]
	of := func(files []string) string {
		var all strings.Builder
		for _, path := range files {
			all.WriteString(hashes[path])
		}
		return all.String()
	}
	different := map[string]bool{}
	for _, n := range slices.Sorted(maps.Keys(first)) {
		different[of(first[n])] = true
		if of(first[n]) != of(second[n]) {
			r.Unsteady = append(r.Unsteady, n)
		}
	}
	r.Lively = len(different) > 1
	wanted := r.Scene.frames()
	if len(wanted) == 0 {
		r.Problem = errors.New("the scene has no frame of 1 or above")
		return
	}
	for _, n := range wanted {
		if len(first[n]) == 0 {
			r.Problem = fmt.Errorf("no frame %d was written by Blender", n)
			return
		}
	}
	for order, got := range r.orders {
		if r.Outcomes[order].Problem != nil {
			continue
		}
		o := Outcome{Frames: len(got)}
		if order != Alone && len(got) != len(wanted) {
			o.Problem = fmt.Errorf("%d frames came, not %d", len(got), len(wanted))
		}
		for _, n := range slices.Sorted(maps.Keys(got)) {
			if of(got[n]) != of(first[n]) {
				o.Differ = append(o.Differ, n)
			}
		}
		r.Outcomes[order] = o
	}
}
