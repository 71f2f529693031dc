// Package movie makes the movie of a completed job: an idle worker's Blender encodes the delivered
// frames, at once if the scene's output is a movie, otherwise for callers who ask for it.
//
// What always holds: a movie follows from the job's frames, and from its scene if that writes one,
// so no row names it (ADR 0061). It lies next to the overviews under a key that ends in the SHA-256 of its
// bytes, is removed with the job's ZIP, and can be made again. It costs nothing, and is no part of
// the receipt: the frames are the delivery. A job has one order at a time, a workspace mostWaiting.
// A worker takes an order only when no frame waits for it, and gives it back when one comes.
//
// The package owns no table: an order is a lease of Queue, whose subject is the job. Start reading
// at Movies.Find, then claim.go.
package movie

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/result"
)

// Queue is the lease engine's queue of movies to encode: the subject is the job, the item 0.
const Queue = job.MovieQueue

// MaxFailures is how many attempts fail until a job has no movie.
const MaxFailures = 3

// mostWaiting is how many movies of a workspace are ordered at once.
const mostWaiting = 4

// Type is the media type of a movie.
const Type = "video/mp4"

// Movies orders movies and carries out workers' reports. The fields are set once, before the
// first call; all methods are safe for concurrent use, also by several processes over one
// database.
type Movies struct {
	DB        *db.DB
	Blobs     blob.Store
	Whole     *blob.Whole   // what of Blobs was hashed, one for the process
	LeaseLife time.Duration // how long a worker keeps an order without a heartbeat
	Log       *slog.Logger  // failed attempts
}

// Leases defines how the lease engine treats orders. Failed ones wait a moment: another worker
// may do better.
func (m *Movies) Leases() lease.Queue {
	return lease.Queue{Name: Queue, Life: m.LeaseLife, LongestPause: 10 * time.Second, MaxFailures: MaxFailures, Remote: true, OnLapse: m.lapse}
}

// Movie is one that is made.
type Movie struct {
	Key, SHA256 string
	// Filename is what a browser saves it as.
	Filename string
}

// formats are the endings of the pictures that a movie is made of. Blender's sequencer reads no
// OpenEXR with layers; the worker's Blender then says so.
var formats = map[string]bool{".png": true, ".jpg": true, ".tif": true, ".tga": true, ".bmp": true, ".webp": true, ".exr": true, ".hdr": true}

// Find finds the movie of a job of a workspace, and orders it when there is none. Errors:
// render_not_found, render_not_completed, artifact_expired; movie_not_ready while it is made, or
// too many others of the workspace are; movie_unavailable when the frames cannot become one, or no online worker encodes.
func (m *Movies) Find(ctx context.Context, workspaceID, jobID string) (Movie, error) {
	return m.Await(ctx, workspaceID, jobID, 0)
}

// Await is Find that waits for the movie for so long.
func (m *Movies) Await(ctx context.Context, workspaceID, jobID string, patience time.Duration) (found Movie, err error) {
	record, err := m.record(ctx, workspaceID, jobID)
	if err != nil {
		return found, err
	}
	for end := time.Now().Add(patience); ; {
		if found, err = m.kept(ctx, record); err == nil && found.Key == "" {
			err = m.order(ctx, record)
		}
		if !fault.Is(err, fault.MovieNotReady) || time.Now().Add(look).After(end) {
			return found, err
		}
		select {
		case <-ctx.Done():
			return found, ctx.Err()
		case <-time.After(look):
		}
	}
}

// look is how often Await looks for a movie.
const look = time.Second

// record reads a completed job of which a movie can be made. Errors: those of Find but
// movie_not_ready.
func (m *Movies) record(ctx context.Context, workspaceID, jobID string) (record job.Record, err error) {
	var frames []result.Frame
	err = m.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if record, err = job.FindCompleted(ctx, tx, workspaceID, jobID); err == nil {
			frames, err = tx.FramesOf(ctx, jobID)
		}
		return err
	})
	if err == nil && record.ArtifactRemovedAt != 0 {
		err = result.Removed()
	}
	if err == nil {
		err = check(frames)
	}
	return record, err
}

// check refuses frames that no movie is made of. Error: movie_unavailable.
func check(frames []result.Frame) error {
	for _, f := range frames {
		switch first := frames[0]; {
		case !formats[path.Ext(f.File)]:
			return fault.New(fault.MovieUnavailable, "No movie is made of %s files.", strings.ToUpper(strings.TrimPrefix(path.Ext(f.File), ".")))
		case f.Width != first.Width || f.Height != first.Height:
			return fault.New(fault.MovieUnavailable, "The frames have different sizes: frame %d has %d x %d pixels, frame %d has %d x %d.", first.Frame, first.Width, first.Height, f.Frame, f.Width, f.Height)
		}
	}
	return nil
}

// prefix begins the key of a job's movie. The ZIP never changes.
func prefix(record job.Record) string {
	return result.OverviewsOf(record.JobID) + "movie-" + record.ArtifactSha256[:32] + "-"
}

// kept finds the stored movie; its Key is "" when there is none.
func (m *Movies) kept(ctx context.Context, record job.Record) (found Movie, err error) {
	err = m.Blobs.List(ctx, prefix(record), func(key string, _ time.Time) error {
		found = Movie{Key: key, SHA256: result.SumOf(key), Filename: strings.TrimSuffix(record.ArtifactFilename, path.Ext(record.ArtifactFilename)) + ".mp4"}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("look for the movie of %s: %w", record.JobID, err)
	}
	return found, nil
}

// order queues the encoding of a job's frames. It always returns an error: what the caller waits
// for, or why there is no movie.
func (m *Movies) order(ctx context.Context, record job.Record) error {
	var state query.MovieStateRow
	able := false
	err := m.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if state, err = tx.MovieState(ctx, record.JobID); err == nil {
			able, err = dispatch.Encodes(ctx, tx, record.WorkspaceID)
		}
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("read the order of a movie: %w", err)
	case state.Failed != 0:
		return fault.New(fault.MovieUnavailable, "The movie could not be encoded: %s", state.Reason)
	case state.Ordered == 0:
		err = m.DB.Write(ctx, func(tx *db.Tx) error {
			waiting, err := tx.MoviesWaiting(ctx, record.WorkspaceID)
			if err != nil {
				return fmt.Errorf("count movies: %w", err)
			}
			if waiting >= mostWaiting && !able {
				return fault.New(fault.MovieUnavailable, noEncoder)
			}
			if waiting >= mostWaiting {
				return notReady("%d other movies of this workspace are being encoded.", waiting)
			}
			return lease.AddOrAdvance(ctx, tx, Queue, record.JobID, 0, tx.Time())
		})
	}
	if err != nil {
		return err
	}
	if !able {
		return fault.New(fault.MovieUnavailable, noEncoder+" The movie is made when another one comes online.")
	}
	return notReady("The movie waits for an idle worker, or is being encoded.")
}

// noEncoder is why a movie waits on a farm whose Blenders lack FFmpeg or its encoders.
const noEncoder = "No online worker can encode movies."

// notReady asks the caller to come again.
func notReady(format string, args ...any) error {
	return fault.New(fault.MovieNotReady, format, args...).After(again)
}

// again is the pause before the next request that the answer asks for.
const again = 2 * time.Second

// Open opens a movie, which the caller closes. One that is damaged is removed, and made again at
// the next Find. Errors: movie_not_ready.
func (m *Movies) Open(ctx context.Context, found Movie) (blob.Reader, error) {
	r, err := m.Whole.Open(ctx, m.Blobs, found.Key, found.SHA256)
	if errors.Is(err, blob.ErrDamaged) {
		m.Log.Warn("a movie is damaged and is made again", "key", found.Key)
		err = errors.Join(m.Blobs.Delete(ctx, found.Key), notReady("The movie is being encoded again."))
	}
	if errors.Is(err, blob.ErrNotFound) {
		err = notReady("The movie is being encoded.")
	}
	return r, err
}
