package source

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/contentkey"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/reuse"
)

// order is what a workspace orders: frames of a project, with settings.
type order struct {
	workspaceID string
	project     project.Manifest
	keys        map[string]string // of blobs, by the hash of the part
	settings    settings.Settings
	frames      framelist.List
}

// earlier compares an order, whose scene was read, with the job before it. It is nil where there
// is none, or where that job's files cannot be read or compared: then the quote gives no
// reasons, and its price is the same.
func (r *Reader) earlier(ctx context.Context, o order, scene *contentkey.Scene) *reuse.Earlier {
	before, job, old, unlike, related, err := r.before(ctx, o)
	if err != nil || job.JobID == "" {
		return nil
	}
	e := &reuse.Earlier{Changes: reuse.Changes{JobID: job.JobID, Filename: job.Filename, Inseparable: scene.Whole}}
	var both, fresh framelist.List
	for _, frame := range o.frames {
		if old.Has(frame) {
			both = append(both, frame)
		} else {
			fresh = append(fresh, frame)
		}
	}
	if len(both) > 0 {
		was := scene
		if wholeOf(before.project) != wholeOf(o.project) || before.settings.Scene != "" || before.settings.OCIO != o.settings.OCIO {
			if was, err = r.scene(ctx, before); err != nil {
				return nil
			}
		}
		found := contentkey.Compare(was, scene, both)
		if !related && len(found.Unchanged) == 0 {
			return nil // another scene
		}
		e.Changes.Causes = CausesOf(found, both)
		chosen := differing(before.settings.Picture(), o.settings.Picture())
		if len(chosen) == 0 {
			e.Unchanged, e.Unlike = found.Unchanged, unlike
		}
		for _, name := range chosen {
			e.Add(reuse.Setting(name, both))
		}
	}
	if len(fresh) > 0 {
		e.Add(reuse.New(fresh))
	}
	return e
}

// before finds the job that an order is compared with, its frames, and what keeps some of them
// from being taken over. related says that the files have the same name.
func (r *Reader) before(ctx context.Context, o order) (before order, job query.JobsWithContentKeysRow, frames framelist.List, unlike map[int]string, related bool, err error) {
	before = order{workspaceID: o.workspaceID, keys: map[string]string{}}
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		jobs, err := reuse.Jobs(ctx, tx, o.workspaceID)
		if err != nil || len(jobs) == 0 {
			return err
		}
		job, related = newest(jobs, path.Base(o.project.Main))
		if before.project, err = project.ManifestOf(ctx, tx, job.UploadID); err != nil {
			return err
		}
		if before.settings, err = settings.Read(job.Settings); err != nil {
			return err
		}
		if frames, err = quote.ListOf(job.FrameStart, job.FrameEnd, job.FrameStep, job.FrameCount, job.Frames); err != nil {
			return err
		}
		if unlike, err = reuse.Unlike(ctx, tx, job.JobID); err != nil {
			return err
		}
		has, lacks, err := project.Stored(ctx, tx, o.workspaceID, before.project.Parts())
		if err == nil && len(lacks) > 0 {
			err = fmt.Errorf("%d parts of the project of %s are removed", len(lacks), job.JobID)
		}
		for sum, c := range has {
			before.keys[sum] = c.BlobKey
		}
		return err
	})
	return before, job, frames, unlike, related, err
}

// newest is the newest job of a file with a name; if there is none, the newest of another version
// of it, and if there is none, the newest of all. jobs are sorted, the newest first.
func newest(jobs []query.JobsWithContentKeysRow, filename string) (job query.JobsWithContentKeysRow, related bool) {
	for _, same := range []func(name string) bool{
		func(name string) bool { return name == filename },
		func(name string) bool { return unversioned(name) == unversioned(filename) },
	} {
		for _, j := range jobs {
			if same(path.Base(j.Filename)) {
				return j, true
			}
		}
	}
	return jobs[0], false
}

// version is the end of a file's name that says which version it is: _v012, -2 or v3.
var version = regexp.MustCompile(`(?i)[ _.-]*v?[0-9]+$`)

func unversioned(filename string) string {
	name := strings.TrimSuffix(filename, path.Ext(filename))
	return cmp.Or(version.ReplaceAllString(name, ""), name)
}

// differing lists the settings that two orders chose in different ways.
func differing(old, revised settings.Settings) (names []string) {
	was, is := old.Fields(), revised.Fields()
	for i, f := range is {
		if !reflect.DeepEqual(f.Text, was[i].Text) || !reflect.DeepEqual(f.Number, was[i].Number) {
			names = append(names, strings.ReplaceAll(f.Name, "_", " "))
		}
	}
	return names
}

// CausesOf lists what a comparison of frames found.
func CausesOf(found contentkey.Comparison, frames framelist.List) []reuse.Change {
	causes := []reuse.Change{}
	for _, c := range found.Causes {
		said := reuse.Change{Frames: c.Frames.String(), What: c.What, How: c.How, Keys: c.Keys}
		if c.Frames == nil {
			said.Frames, said.AllFrames = frames.String(), true
		}
		causes = append(causes, said)
	}
	return causes
}
