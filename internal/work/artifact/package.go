package artifact

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/result"
)

// patience is the number of failed packings after which a frame that cannot be read counts as
// lost, where the store works otherwise. Their pauses outlast a short outage.
const patience = 5

// Queue defines how the lease engine treats packing. Packing never becomes a dead letter: a
// failure is retried until it succeeds, since an outage of the store, the database or a
// signing program is not the job's fault.
func Queue() lease.Queue {
	return lease.Queue{Name: job.PackageQueue, LongestPause: time.Minute, LongestDelay: 2 * time.Minute}
}

// Package packs the frames of l's job and completes the job. It is the work of a lease of
// job.PackageQueue. A job with frames whose files are lost goes back to rendering; only a frame
// that is lost again and again ends its job. It may run again at any point: after a crash, or
// when its lease lapses while a large ZIP is written. Each attempt writes a key of its own, and
// only one can complete the job.
func (a *Artifacts) Package(ctx context.Context, l lease.Lease) error {
	var record job.Record
	var frames []result.Frame
	var also details
	err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if record, err = job.Read(ctx, tx, l.Subject); err != nil {
			return err
		}
		if frames, err = tx.FramesOf(ctx, l.Subject); err != nil {
			return fmt.Errorf("read frames: %w", err)
		}
		also, err = detailsOf(ctx, tx, l.Subject, frames)
		return err
	})
	if err != nil {
		return err
	}
	// The attempt is part of the key: a packer whose lease has lapsed never writes the file
	// of its successor.
	key := fmt.Sprintf("artifacts/%s-%d.zip", record.JobID, l.Attempt)
	file, err := a.pack(ctx, key, record, frames, also.outputs)
	if err != nil {
		err = fmt.Errorf("pack %s: %w", record.JobID, err)
		if errors.Is(err, errFrameLost) || l.Failures >= patience {
			return a.renderLost(ctx, l, frames, also.outputs, key, err)
		}
		return err
	}
	done := summarize(key, file, frames, also)
	done.Keys = a.keysOf(ctx, record, frames)
	err = a.Jobs.Complete(ctx, l, done)
	if err != nil && !errors.Is(err, db.ErrUnknown) {
		// No row names the blob yet. If this fails too, Sweep removes it. After ErrUnknown
		// the commit may have happened, so the blob stays.
		_ = a.Blobs.Delete(context.WithoutCancel(ctx), key)
	}
	return err
}

// pack streams the frames into a ZIP blob. Entries are stored: deflating pictures gains
// nothing. Memory does not grow with the bytes of the job. Entries carry times of
// acceptance, not of packing.
func (a *Artifacts) pack(ctx context.Context, key string, record job.Record, frames []result.Frame, outputs outputs) (file receipt.File, err error) {
	// A process that died between Commit and Complete leaves a blob with this key.
	if err := a.Blobs.Delete(ctx, key); err != nil {
		return file, err
	}
	w, err := a.Blobs.Create(ctx, key)
	if err != nil {
		return file, err
	}
	defer w.Abort()
	out := &hashWriter{w: w, sum: sha256.New()}
	z := zip.NewWriter(out)
	origins := a.origins()
	defer func() { err = errors.Join(err, origins.Close()) }()
	for _, f := range frames {
		if err := a.packFrame(ctx, z, origins, f); err != nil {
			return file, err
		}
		if err := a.packOutputs(ctx, z, origins, f, outputs[f.Frame]); err != nil {
			return file, err
		}
	}
	manifest, err := json.MarshalIndent(manifestOf(record, frames, outputs), "", "  ")
	if err != nil {
		return file, err
	}
	finished := db.Time(frames[len(frames)-1].AcceptedAt)
	if err := store(z, receipt.ManifestEntry, finished, strings.NewReader(string(manifest)+"\n")); err != nil {
		return file, err
	}
	log, err := create(z, receipt.RenderLogEntry, finished)
	if err != nil {
		return file, err
	}
	if err := a.writeLog(ctx, record.JobID, log); err != nil {
		return file, err
	}
	if err := z.Close(); err != nil {
		return file, err
	}
	file = receipt.File{
		Filename: strings.TrimSuffix(record.Filename, path.Ext(record.Filename)) + "-" + record.JobID + contract.OutputExtension,
		SHA256:   hex.EncodeToString(out.sum.Sum(nil)), SizeBytes: out.size,
	}
	return file, w.Commit()
}

// errFrameLost means that the file of an accepted frame is gone, or not what was accepted.
var errFrameLost = errors.New("a stored frame is lost")

// renderLost has all frames rendered again whose files are lost. It reads every file, so
// that a job of many lost frames goes back once, and not once for each of them. What cannot be
// read counts as lost only once packing has failed for long, in a store that works before and
// after: else it is an outage. Where nothing is lost, it returns why.
func (a *Artifacts) renderLost(ctx context.Context, l lease.Lease, frames []result.Frame, outputs outputs, key string, why error) (err error) {
	unreadable := l.Failures >= patience && a.works(ctx, key) == nil
	doubtful := false
	origins := a.origins()
	defer func() { err = errors.Join(err, origins.Close()) }()
	var lost []int64
	for _, f := range frames {
		err := a.copyFrame(ctx, io.Discard, origins, f)
		if err == nil {
			err = a.readOutputs(ctx, origins, f, outputs[f.Frame])
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, errFrameLost):
		case unreadable:
			doubtful = true
		default:
			return err
		}
		lost = append(lost, f.Frame)
	}
	if len(lost) == 0 {
		return why // it was lost a moment ago, or something else is wrong
	}
	if doubtful {
		if err := a.works(ctx, key); err != nil {
			return err
		}
	}
	return a.Frames.RenderAgain(ctx, l, lost)
}

// works tries the store: a blob next to the ZIP is written, read and removed. The sweep
// removes one that is left.
func (a *Artifacts) works(ctx context.Context, key string) (err error) {
	key += ".trial"
	if err := a.Blobs.Delete(ctx, key); err != nil { // of a process that died
		return err
	}
	w, err := a.Blobs.Create(ctx, key)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.WriteString(w, key); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	r, err := a.Blobs.Open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err == nil && string(text) != key {
		err = errors.New("the store gives back other bytes than it took")
	}
	return errors.Join(err, a.Blobs.Delete(ctx, key))
}

// packFrame copies one frame into the ZIP. Errors are those of copyFrame.
func (a *Artifacts) packFrame(ctx context.Context, z *zip.Writer, origins *result.Origins, f result.Frame) error {
	w, err := create(z, receipt.FrameEntry(f.File), db.Time(f.AcceptedAt))
	if err == nil {
		err = a.copyFrame(ctx, w, origins, f)
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", f.File, err)
	}
	return nil
}

// copyFrame copies the file of a frame and compares its hash on the way: a file that
// changed on disk after its acceptance must not be delivered. Errors: errFrameLost, which
// has frames rendered again; others fail this packing.
func (a *Artifacts) copyFrame(ctx context.Context, to io.Writer, origins *result.Origins, f result.Frame) error {
	r, err := a.openFrame(ctx, origins, f)
	return copyHashed(to, r, err, f.Frame, f.Sha256)
}

// copyHashed copies what a frame has, which was opened with an error or none, and closes it.
// Error: errFrameLost for a file that is gone, or has other bytes than those that were accepted.
func copyHashed(to io.Writer, r io.ReadCloser, opened error, frame int64, accepted string) error {
	switch {
	case errors.Is(opened, blob.ErrNotFound), fault.Is(opened, fault.ArtifactExpired), fault.Is(opened, fault.ResultDamaged):
		return fmt.Errorf("%w: frame %d: %w", errFrameLost, frame, opened)
	case opened != nil:
		return opened
	}
	defer func() { _ = r.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(to, io.TeeReader(r, sum)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != accepted {
		return fmt.Errorf("%w: frame %d on disk has hash %s, accepted was %s", errFrameLost, frame, got, accepted)
	}
	return nil
}

// store copies content into an entry.
func store(z *zip.Writer, name string, modified time.Time, content io.Reader) error {
	w, err := create(z, name, modified)
	if err == nil {
		_, err = io.Copy(w, content)
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}

// create begins an entry. Every entry is stored, so that result.OpenFrame can read a frame from
// the middle of the ZIP.
func create(z *zip.Writer, name string, modified time.Time) (io.Writer, error) {
	return z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: modified})
}

// hashWriter counts and hashes the bytes on their way to w, so that the ZIP is not read
// again for its hash.
type hashWriter struct {
	w    blob.Writer
	sum  hash.Hash
	size int64
}

// It hashes what w has taken, so that a short write is not counted.
func (h *hashWriter) Write(p []byte) (int, error) {
	n, err := h.w.Write(p)
	h.sum.Write(p[:n]) // never fails
	h.size += int64(n)
	return n, err
}

// writeLog writes the log of the ZIP: frames by their numbers, then failed attempts. It
// reads one batch at a time, since all logs of a large job are 160 MB.
func (a *Artifacts) writeLog(ctx context.Context, jobID string, w io.Writer) error {
	after := int64(-1 << 62) // frame numbers may be negative
	for {
		var rows []query.FrameLogsOfRow
		err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
			rows, err = tx.FrameLogsOf(ctx, query.FrameLogsOfParams{JobID: jobID, Frame: after, Max: result.LogBatch})
			return err
		})
		if err != nil {
			return fmt.Errorf("read the logs of frames: %w", err)
		}
		if err := result.WriteFrameLogs(w, rows); err != nil {
			return err
		}
		if len(rows) < result.LogBatch {
			return result.WriteFailedAttempts(ctx, a.DB, jobID, w)
		}
		after = rows[len(rows)-1].Frame
	}
}
