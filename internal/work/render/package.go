package render

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
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/receipt"
)

// artifact is a finished ZIP.
type artifact struct {
	key      string
	filename string
	sha256   string
	size     int64
}

// Package packs the frames of the job that l is about and completes the job. It
// is the work of a lease of PackageQueue. After packageTries failures the job
// fails with packaging_failed.
func (j *Jobs) Package(ctx context.Context, l lease.Lease) error {
	var job query.Job
	var frames []query.Frame
	var failed []query.FailedTry
	err := j.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if job, err = tx.JobGet(ctx, l.Subject); err != nil {
			return fmt.Errorf("read job: %w", err)
		}
		if frames, err = tx.FramesOf(ctx, l.Subject); err != nil {
			return fmt.Errorf("read frames: %w", err)
		}
		failed, err = failedTries(ctx, tx, l.Subject)
		return err
	})
	if err != nil {
		return err
	}
	if l.Failures >= packageTries {
		return j.giveUpPackaging(ctx, l)
	}
	packed, err := j.pack(ctx, job, frames, renderLog(frames)+failureLog(failed), l.Attempt)
	if err != nil {
		return fmt.Errorf("pack %s: %w", job.JobID, err)
	}
	err = j.complete(ctx, l, job, frames, packed)
	if err != nil && !errors.Is(err, db.ErrUnknown) {
		// Not a promise to anyone yet; the sweep finds it if this fails.
		_ = j.Blobs.Delete(context.WithoutCancel(ctx), packed.key)
	}
	return err
}

func (j *Jobs) giveUpPackaging(ctx context.Context, l lease.Lease) error {
	return j.DB.Write(ctx, func(tx *db.Tx) error {
		job, err := lock(ctx, tx, l.Subject)
		if err != nil {
			return err
		}
		if err := lease.Finish(ctx, tx, l.Ref()); err != nil {
			return err
		}
		return j.fail(ctx, tx, job, fault.PackagingFailed, "The frames could not be packed.")
	})
}

// pack streams the frames into a ZIP blob. Entries are stored: deflating
// pictures gains nothing.
func (j *Jobs) pack(ctx context.Context, job query.Job, frames []query.Frame, log string, attempt int64) (a artifact, err error) {
	a = artifact{
		key:      fmt.Sprintf("artifacts/%s-%d.zip", job.JobID, attempt),
		filename: strings.TrimSuffix(job.Filename, path.Ext(job.Filename)) + "-" + job.JobID + contract.OutputExtension,
	}
	// A try that died between commit and completion may have left one.
	if err := j.Blobs.Delete(ctx, a.key); err != nil {
		return a, err
	}
	w, err := j.Blobs.Create(ctx, a.key)
	if err != nil {
		return a, err
	}
	defer w.Abort()
	out := &hashed{w: w, sum: sha256.New()}
	z := zip.NewWriter(out)
	for _, f := range frames {
		if err := j.packFrame(ctx, z, f); err != nil {
			return a, err
		}
	}
	manifest, err := json.MarshalIndent(manifestOf(job, frames), "", "  ")
	if err != nil {
		return a, err
	}
	finished := db.Time(frames[len(frames)-1].AcceptedAt)
	if err := store(z, receipt.ManifestEntry, finished, strings.NewReader(string(manifest)+"\n")); err != nil {
		return a, err
	}
	if err := store(z, receipt.RenderLogEntry, finished, strings.NewReader(log)); err != nil {
		return a, err
	}
	if err := z.Close(); err != nil {
		return a, err
	}
	a.sha256, a.size = hex.EncodeToString(out.sum.Sum(nil)), out.size
	return a, w.Commit()
}

func (j *Jobs) packFrame(ctx context.Context, z *zip.Writer, f query.Frame) error {
	r, err := j.Blobs.Open(ctx, f.BlobKey)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	sum := sha256.New()
	if err := store(z, receipt.FrameEntry(f.File), db.Time(f.AcceptedAt), io.TeeReader(r, sum)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.Sha256 {
		return fmt.Errorf("frame %d on disk has hash %s, accepted was %s", f.Frame, got, f.Sha256)
	}
	return nil
}

func store(z *zip.Writer, name string, modified time.Time, content io.Reader) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: modified})
	if err == nil {
		_, err = io.Copy(w, content)
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}

// hashed counts and hashes what is written.
type hashed struct {
	w    blob.Writer
	sum  hash.Hash
	size int64
}

func (h *hashed) Write(p []byte) (int, error) {
	n, err := h.w.Write(p)
	h.sum.Write(p[:n]) // never fails
	h.size += int64(n)
	return n, err
}

func manifestOf(job query.Job, frames []query.Frame) receipt.Manifest {
	m := receipt.Manifest{
		JobID: job.JobID, FrameStart: int(job.FrameStart), FrameEnd: int(job.FrameEnd), FrameStep: int(job.FrameStep), FrameCount: int(job.FrameCount),
		Renderer: rendererOf(frames),
		Input:    receipt.File{Filename: job.Filename, SHA256: job.InputSha256, SizeBytes: job.InputSizeBytes},
	}
	for _, f := range frames {
		m.Frames = append(m.Frames, receipt.ManifestFrame{
			Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, PixelSHA256: f.PixelSha256, SizeBytes: f.SizeBytes,
			Width: int(f.Width), Height: int(f.Height), RenderSeconds: seconds(f.RenderUs),
		})
	}
	return m
}

func renderLog(frames []query.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		by := contract.Application + " " + f.BlenderVersion
		if f.Renderer == contract.SyntheticRenderer {
			by = contract.SyntheticApplication
		}
		found := ""
		if f.Finding != "" {
			found = ", found " + f.Finding
		}
		fmt.Fprintf(&b, "== frame %d: %s, %dx%d, %.3f s on %s (%s), %s, attempt %d%s\n%s\n",
			f.Frame, f.File, f.Width, f.Height, seconds(f.RenderUs), f.Device, f.DeviceName, by, f.Attempt, found, strings.TrimRight(f.Log, "\n"))
	}
	return b.String()
}

// rendererOf names what really rendered the frames; several workers may differ.
func rendererOf(frames []query.Frame) receipt.Renderer {
	r := receipt.Renderer{
		ID: contract.RendererID, Application: contract.Application, Engine: contract.Engine,
		Version:   several(frames, func(f query.Frame) string { return f.BlenderVersion }),
		BuildHash: several(frames, func(f query.Frame) string { return f.BuildHash }),
	}
	if slices.ContainsFunc(frames, func(f query.Frame) bool { return f.Renderer == contract.SyntheticRenderer }) {
		r.ID, r.Application, r.Engine = contract.SyntheticRenderer, contract.SyntheticApplication, contract.SyntheticEngine
	}
	return r
}

// several joins the different values that frames have.
func several(frames []query.Frame, of func(query.Frame) string) string {
	return strings.Join(distinct(frames, func(f query.Frame) []string { return []string{of(f)} }), ", ")
}

func distinct(frames []query.Frame, of func(query.Frame) []string) []string {
	out := []string{}
	for _, f := range frames {
		for _, v := range of(f) {
			if v != "" && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	slices.Sort(out)
	return out
}

// deviceOf is GPU only when every frame was rendered on one: a CPU frame is
// never called anything else.
func deviceOf(frames []query.Frame) string {
	for _, f := range frames {
		if f.Device != contract.RenderDevice {
			return f.Device
		}
	}
	return contract.RenderDevice
}

// errPackedTwice says that another process completed the job meanwhile.
var errPackedTwice = errors.New("the job is no longer in packaging")
