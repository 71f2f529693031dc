package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/farmapi"
)

// isPart reports whether a lease is of a strip, or of a frame that is finished of strips.
func isPart(l farmapi.Lease) bool { return l.Strip != nil || l.Finish != nil }

// renderPart renders a strip of a frame, or makes the frame of its strips.
func (l *slot) renderPart(ctx context.Context, a *openJob, t *task) (blender.Frame, error) {
	stripper, ok := a.Session.(Stripper)
	if !ok { // it did not register as one
		return blender.Frame{}, errUnable
	}
	if s := t.lease.Strip; s != nil {
		return stripper.RenderStrip(ctx, t.lease.Frame, stripOf(*s), t.advance)
	}
	dir, err := os.MkdirTemp(l.dirs.projects, "strips-")
	if err != nil {
		return blender.Frame{}, errors.Join(errUnable, err)
	}
	defer os.RemoveAll(dir)
	var parts []strips.Strip
	for i, r := range t.lease.Finish.Strips {
		part := stripOf(r.Strip)
		part.Path = filepath.Join(dir, fmt.Sprintf("strip_%d.exr", i))
		err := l.persist(ctx, "strip", func(workerID string) error { return l.fetchStrip(ctx, workerID, t.job.JobID, r, part.Path) })
		if err != nil {
			return blender.Frame{}, fmt.Errorf("fetch the strips of frame %d: %w", t.lease.Frame, err)
		}
		parts = append(parts, part)
	}
	return stripper.Finish(ctx, t.lease.Frame, parts, t.advance)
}

func stripOf(s farmapi.Strip) strips.Strip {
	rows := strips.Rows{From: s.From, To: s.To}
	return strips.Strip{Rows: rows, Held: rows.Wider(s.Overlap, s.Height)}
}

// fetchStrip receives a strip and verifies it. Errors: a refusal, errDamaged, errUnable.
func (l *slot) fetchStrip(ctx context.Context, workerID, jobID string, r farmapi.RenderedStrip, path string) error {
	in, err := l.cfg.Farm.Strip(ctx, workerID, jobID, r.SHA256, r.SizeBytes)
	if err != nil {
		return err
	}
	defer in.Close()
	file, err := os.Create(path)
	if err != nil {
		return errors.Join(errUnable, err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(in, r.SizeBytes+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != r.SHA256 {
		return fmt.Errorf("%w: %d bytes of SHA-256 %s, not %d of %s", errDamaged, n, got, r.SizeBytes, r.SHA256)
	}
	return nil
}
