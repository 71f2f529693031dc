package overview

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/work/result"
)

// errDamaged says that a kept overview has changed.
var errDamaged = errors.New("its bytes are not those of its name")

// kept returns the kept overview; nil when there is none. One whose bytes are not those of
// its name is removed, and made again.
func (o *Overviews) kept(ctx context.Context, v Overview) []byte {
	if !v.Kept {
		return nil
	}
	key := ""
	err := o.Blobs.List(ctx, v.prefix()+v.Tag+"-", func(found string, _ time.Time) error { key = found; return nil })
	if err != nil || key == "" {
		return nil
	}
	content, err := o.read(ctx, key)
	if errors.Is(err, errDamaged) {
		o.Log.Warn("a kept overview is damaged and is made again", "key", key)
		err = o.Blobs.Delete(ctx, key)
	}
	if err != nil && !errors.Is(err, blob.ErrNotFound) && ctx.Err() == nil {
		o.Log.Error("cannot read a kept overview", "key", key, "err", err)
	}
	return content
}

// read reads a kept overview. Errors: blob.ErrNotFound, errDamaged.
func (o *Overviews) read(ctx context.Context, key string) ([]byte, error) {
	r, err := o.Blobs.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	content, err := io.ReadAll(io.LimitReader(r, contract.OverviewBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != result.SumOf(key) {
		return nil, errDamaged
	}
	return content, nil
}

// keep stores an overview of a completed job in place of those of its kind that another
// version or other limits have made. A failure to keep it is not an error: the overview
// exists, and the next call makes it again.
func (o *Overviews) keep(ctx context.Context, v Overview, content []byte) {
	sum := sha256.Sum256(content)
	key := v.prefix() + v.Tag + "-" + hex.EncodeToString(sum[:]) + v.Kind.extension()
	err := o.store(ctx, key, content)
	if err == nil {
		err = o.Blobs.List(ctx, v.prefix(), func(found string, _ time.Time) error {
			if found == key {
				return nil
			}
			return o.Blobs.Delete(ctx, found)
		})
	}
	if err != nil {
		o.Log.Error("cannot keep an overview", "key", key, "err", err)
	}
}

// store writes an overview. One that is there is the same.
func (o *Overviews) store(ctx context.Context, key string, content []byte) error {
	w, err := o.Blobs.Create(ctx, key)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.Copy(w, bytes.NewReader(content)); err != nil {
		return err
	}
	if err := w.Commit(); !errors.Is(err, blob.ErrExists) {
		return err
	}
	return nil
}

// prefix begins the keys of a job's overviews of a kind.
func (v *Overview) prefix() string {
	return result.OverviewsOf(v.record.JobID) + string(v.Kind) + "-"
}
