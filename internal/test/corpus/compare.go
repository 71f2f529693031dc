package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.example/client"
	"svc.example/internal/ground/sandbox"
)

// Config is what a comparison needs.
type Config struct {
	Blender string
	Threads int              // of each Blender
	Sandbox *sandbox.Sandbox // of the workers' Blenders; nil for none
	Folder  string           // for everything that is made; may be left from a run before
	Lanes   int              // scenes that are compared at the same time; 1 when 0
	// Report is called with each scene that is done, by one goroutine at a time. Its
	// error ends the comparison.
	Report func(Row) error
}

// SceneTime is how long the comparison of one scene may take.
const SceneTime = 20 * time.Minute

// Compare compares the scenes and reports a row for each, in no order. An error means
// that there is no result; what goes wrong with one scene is in its row.
//
// Each lane has two services of its own: with one worker, and with the farm whose workers
// fail. So no order meets the failures that are meant for another.
func (c Config) Compare(ctx context.Context, scenes []Scene) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	waiting := make(chan Scene, len(scenes))
	for _, s := range scenes {
		waiting <- s
	}
	close(waiting)
	var lanes sync.WaitGroup
	var reporting sync.Mutex
	for range max(c.Lanes, 1) {
		lanes.Go(func() {
			err := c.lane(ctx, waiting, func(r Row) error {
				reporting.Lock()
				defer reporting.Unlock()
				return c.Report(r)
			})
			if err != nil {
				end(err)
			}
		})
	}
	lanes.Wait()
	return context.Cause(ctx)
}

// lane compares scenes one after the other.
func (c Config) lane(ctx context.Context, waiting <-chan Scene, report func(Row) error) (err error) {
	var l *lane
	defer func() { err = errors.Join(err, l.close()) }()
	for scene := range waiting {
		row := Row{Scene: scene}
		if scene.Missing == "" {
			if l == nil {
				if l, err = c.openLane(ctx); err != nil {
					return err
				}
			}
			var late bool
			row, late = l.compareInTime(ctx, scene)
			if late { // its jobs may still be rendered
				err, l = l.close(), nil
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if err = errors.Join(err, report(row)); err != nil {
			return err
		}
	}
	return nil
}

func (l *lane) compareInTime(ctx context.Context, scene Scene) (r Row, late bool) {
	ctx, end := context.WithTimeout(ctx, SceneTime)
	defer end()
	if r = l.compare(ctx, scene); ctx.Err() != nil {
		r.Problem, late = fmt.Sprintf("it took longer than %v", SceneTime), true
	}
	return r, late
}

// lane is what compares one scene at a time.
type lane struct {
	cfg    Config
	folder string
	one    *service // with one worker
	many   *service // with the farm
	farm   *farm
	end    func() error // ends the one worker
}

func (c Config) openLane(ctx context.Context) (_ *lane, err error) {
	l := &lane{cfg: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return nil, err
	}
	if l.folder, err = os.MkdirTemp(c.Folder, "lane-"); err != nil {
		return nil, err
	}
	if l.one, err = openService(ctx, c, filepath.Join(l.folder, "one")); err != nil {
		return nil, err
	}
	if l.many, err = openService(ctx, c, filepath.Join(l.folder, "many")); err != nil {
		return nil, err
	}
	if l.end, err = l.one.worker(ctx); err != nil {
		return nil, err
	}
	l.farm = l.many.openFarm()
	return l, nil
}

// close ends the workers, and audits what the services leave.
func (l *lane) close() (err error) {
	if l == nil {
		return nil
	}
	if l.end != nil {
		err = l.end()
	}
	if l.farm != nil {
		l.farm.stop()
	}
	for _, s := range []*service{l.one, l.many} {
		if s != nil {
			err = errors.Join(err, s.stop())
		}
	}
	return err
}

// Where a project has files under other names than Blender looks for, Blender in that folder
// goes without; the service puts them there.
const (
	remapped   = "paths_remapped"
	otherNames = "the service finds files that Blender in their folder does not (`paths_remapped`); once they have the names that the .blend has, Blender's pictures are the same"
)

// compare compares one scene. What goes wrong is in its row.
func (l *lane) compare(ctx context.Context, scene Scene) Row {
	r := Row{Scene: scene, Outcomes: map[string]Outcome{}}
	began := time.Now()
	quote, err := l.one.upload(ctx, scene)
	if err != nil {
		r.Problem = err.Error()
		return r
	}
	for _, w := range quote.Warnings {
		r.Warnings = append(r.Warnings, w.Code)
	}
	if slices.Contains(r.Warnings, remapped) {
		r.Scene.Why = otherNames
	}
	orders := map[string]ordered{}
	var byHand, cut ordered
	var others sync.WaitGroup
	others.Go(func() { byHand = l.byHand(ctx, r, false) })
	var kills int
	others.Go(func() { cut, kills = l.cut(ctx, scene) })
	orders[Whole] = l.order(ctx, quote.UploadID, []string{quote.FrameList})
	orders[Alone] = l.order(ctx, quote.UploadID, alone(scene))
	orders[Ranges] = l.order(ctx, quote.UploadID, halves(scene))
	others.Wait()
	orders[Cut], r.Kills = cut, kills
	if byHand.err != nil {
		r.Problem = byHand.err.Error()
		return r
	}
	err = l.judge(ctx, &r, byHand.pictures, orders)
	r.Seconds = time.Since(began).Round(time.Second).Seconds()
	if r.Equal() { // otherwise a person may want to look
		err = errors.Join(err, l.sweep())
	}
	if err != nil {
		r.Problem = err.Error()
	}
	return r
}

// judge compares an order's pictures with those by hand. If some differ, Blender
// renders by hand again: twice the same, and without the files next to the .blend,
// which are not sent.
func (l *lane) judge(ctx context.Context, r *Row, byHand pictures, orders map[string]ordered) error {
	hashes, err := l.hash(ctx, byHand, orders)
	if err != nil || r.judge(hashes, byHand, orders) {
		return err
	}
	again := l.byHand(ctx, *r, false)
	if again.err != nil {
		r.Problem = again.err.Error()
		return nil
	}
	alone := ordered{pictures: pictures{}}
	if hasNeighbours(r.Scene.File) {
		if alone = l.byHand(ctx, *r, true); alone.err != nil {
			r.Problem = alone.err.Error()
			return nil
		}
	}
	more, err := l.hash(ctx, again.pictures, map[string]ordered{"": alone})
	if err != nil {
		return err
	}
	maps.Copy(hashes, more)
	r.Unsteady = differing(hashes, byHand, again.pictures)
	if without := (Row{Scene: r.Scene, Outcomes: map[string]Outcome{}}); len(alone.pictures) > 0 && without.judge(hashes, alone.pictures, orders) {
		r.Outcomes, r.Beside = without.Outcomes, differing(hashes, byHand, alone.pictures)
	}
	return nil
}

func (l *lane) hash(ctx context.Context, byHand pictures, orders map[string]ordered) (map[string]string, error) {
	files := byHand.files()
	for _, o := range orders {
		files = append(files, o.pictures.files()...)
	}
	folder, err := l.one.place("hashes")
	if err != nil {
		return nil, err
	}
	return l.cfg.hash(ctx, folder, files)
}

// sweep removes the pictures of a scene that need no inspection.
func (l *lane) sweep() (err error) {
	for _, s := range []*service{l.one, l.many} {
		for _, kind := range []string{"job-*", "by-hand-*", "hashes-*"} {
			found, _ := filepath.Glob(filepath.Join(s.folder, kind)) // the pattern is well-formed
			for _, folder := range found {
				err = errors.Join(err, os.RemoveAll(folder))
			}
		}
	}
	return err
}

// byHand renders a scene's reference, with or without the files next to it.
func (l *lane) byHand(ctx context.Context, r Row, alone bool) ordered {
	folder, err := l.one.place("by-hand")
	if err != nil {
		return ordered{err: err}
	}
	got, err := l.cfg.reference(ctx, r.Scene, slices.Contains(r.Warnings, "movie_output_as_png"), alone, folder)
	return ordered{got, err}
}

// order renders ranges of an upload with one worker.
func (l *lane) order(ctx context.Context, uploadID string, ranges []string) ordered {
	o := ordered{pictures: pictures{}}
	for _, part := range ranges {
		quote, err := l.one.client.Quote(ctx, uploadID, part)
		if err != nil {
			return ordered{err: err}
		}
		got, err := l.one.render(ctx, quote)
		if err != nil {
			return ordered{err: err}
		}
		maps.Copy(o.pictures, got)
	}
	return o
}

// cut renders a scene with three workers of which two fail, and counts those that did.
func (l *lane) cut(ctx context.Context, scene Scene) (o ordered, kills int) {
	if o.err = l.farm.arm(ctx); o.err != nil {
		return o, 0
	}
	before := l.farm.fates.Load()
	o.pictures, o.err = l.farm.render(ctx, func(ctx context.Context) (pictures, error) {
		quote, err := l.many.upload(ctx, scene)
		if err != nil {
			return nil, err
		}
		return l.many.render(ctx, quote)
	})
	return o, int(l.farm.fates.Load() - before)
}

// ordered is what an order brought.
type ordered struct {
	pictures pictures
	err      error
}

// files lists all files of pictures.
func (p pictures) files() (files []string) {
	for _, all := range p {
		for _, one := range all {
			files = append(files, one.path)
		}
	}
	return files
}

// hash is that of a frame's files: all views, and what nodes wrote, with the names.
func (p pictures) hash(n int, hashes map[string]string) string {
	var all strings.Builder
	sorted := slices.SortedFunc(slices.Values(p[n]), func(a, b picture) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.path, b.path)) })
	for _, one := range sorted {
		fmt.Fprintf(&all, "%s %s\n", hashes[one.path], one.name)
	}
	return all.String()
}

// written counts the files that nodes wrote.
func (p pictures) written() (count int) {
	for _, all := range p {
		for _, one := range all {
			if one.name != "" {
				count++
			}
		}
	}
	return count
}

// differing lists the frames of which two renders made two pictures.
func differing(hashes map[string]string, a, b pictures) (frames []int) {
	for _, n := range slices.Sorted(maps.Keys(a)) {
		if a.hash(n, hashes) != b.hash(n, hashes) {
			frames = append(frames, n)
		}
	}
	return frames
}

// hasNeighbours reports whether a .blend's folder holds anything else.
func hasNeighbours(file string) (found bool) {
	_ = filepath.WalkDir(filepath.Dir(file), func(path string, e fs.DirEntry, err error) error {
		found = found || err == nil && !e.IsDir() && path != file
		return nil
	})
	return found
}

// alone is the one frame that is ordered alone.
func alone(s Scene) []string {
	frames := s.frames()
	if len(frames) == 0 {
		return nil
	}
	n := frames[len(frames)/2]
	if s.Alone != 0 {
		n = s.Alone
	}
	return []string{client.Frames(n)}
}

// halves cuts a scene's frames into two ranges, or one where it has one frame.
func halves(s Scene) (ranges []string) {
	frames := s.frames()
	if len(frames) == 0 {
		return nil
	}
	for part := range slices.Chunk(frames, (len(frames)+1)/2) {
		ranges = append(ranges, client.Frames(part...))
	}
	return ranges
}
