package worker

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"svc.example/internal/ground/digest"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/worker/outbox"
)

// movieTime bounds the encoding of a movie: 10,000 frames of 4K take about an hour.
const movieTime = 100 * time.Minute

// encodeMovie encodes the frames of a job in a process of its own and puts the movie into the
// outbox. Errors: those of fetch and of MovieMaker, errUnable.
func (l *slot) encodeMovie(ctx context.Context, t *task) error {
	files, err := l.fetch(ctx, t.job)
	if err != nil {
		return err
	}
	defer files.remove()
	pictures, first, err := unpack(ctx, files.input.Files[0].Path, files.dir, t.job.Movie.Frames)
	if err != nil {
		return err
	}
	order := t.job.Movie
	encode := blender.Movie{Frames: pictures, FPS: order.FPS, Width: order.Width, Height: order.Height}
	if order.Main != "" {
		own := files.input
		own.Main, own.Scene, own.Files = order.Main, order.Scene, own.Files[1:]
		encode.Own, encode.First = &own, first
	}
	session, err := l.pool.take(ctx)
	if err != nil {
		return errors.Join(errUnable, err)
	}
	defer l.pool.left.Go(func() { _ = session.Close() }) // the next run empties its folder too
	maker, ok := session.(MovieMaker)
	if !ok {
		return &blender.Error{Code: blender.EncoderUnavailable, Message: "this renderer encodes no movies"}
	}
	limited, cancel := context.WithTimeout(ctx, movieTime)
	defer cancel()
	begun := time.Now()
	path, err := maker.Movie(limited, encode)
	if err != nil {
		return err
	}
	if path, err = l.out.MoveIn(t.lease, blender.Frame{Path: path}); err != nil {
		return errors.Join(errUnable, err)
	}
	info, err1 := os.Stat(path)
	sum, err2 := digest.OfFile(path)
	if err := errors.Join(err1, err2); err != nil {
		return errors.Join(errUnable, err)
	}
	l.log.Info("movie encoded", "id", t.job.JobID, "frames", order.Frames, "seconds", time.Since(begun).Seconds(), "bytes", info.Size())
	err = l.out.Put(outbox.Report{Frame: &farmapi.FrameResult{
		WorkerID: l.id(), LeaseID: t.lease.LeaseID, Attempt: t.lease.Attempt, JobID: t.job.JobID, File: "movie.mp4", SHA256: sum, SizeBytes: info.Size(),
	}})
	if err != nil {
		return errors.Join(errUnable, err)
	}
	return nil
}

// lacksEncoder reports whether a movie failed because this machine's Blender encodes none.
func lacksEncoder(err error) bool {
	failed := (*blender.Error)(nil)
	return errors.As(err, &failed) && failed.Code == blender.EncoderUnavailable
}

// unpack takes the frames out of a job's ZIP, in the order of its manifest. Nothing of the ZIP
// becomes a path: the files are called by their number. first is the number of the first frame if
// the others follow it one by one, otherwise 0.
func unpack(ctx context.Context, path, dir string, frames int) (out []blender.File, first int, err error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errDamaged, err)
	}
	defer z.Close()
	var manifest receipt.Manifest
	file, err := z.Open(receipt.ManifestEntry)
	if err == nil {
		err = errors.Join(json.NewDecoder(file).Decode(&manifest), file.Close())
	}
	if err != nil || len(manifest.Frames) != frames {
		return nil, 0, fmt.Errorf("%w: its manifest lists %d frames, not %d: %w", errDamaged, len(manifest.Frames), frames, err)
	}
	consecutive := true
	for i, f := range manifest.Frames {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		consecutive = consecutive && f.Frame == manifest.Frames[0].Frame+i
		name := fmt.Sprintf("%06d%s", i+1, filepath.Ext(f.File))
		if err := unpackOne(z, receipt.FrameEntry(f.File), filepath.Join(dir, name)); err != nil {
			return nil, 0, err
		}
		out = append(out, blender.File{Name: name, Path: filepath.Join(dir, name)})
	}
	if consecutive {
		first = manifest.Frames[0].Frame
	}
	return out, first, nil
}

// unpackOne takes one file out of a ZIP.
func unpackOne(z *zip.ReadCloser, name, path string) error {
	from, err := z.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	defer from.Close()
	to, err := os.Create(path)
	if err != nil {
		return errors.Join(errUnable, err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return errors.Join(errUnable, err)
	}
	return nil
}
