package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// partSize is how many bytes of a blob are sent at once. A writer keeps at most two parts
// in memory: one that fills, and one that is being sent.
const partSize = 8 << 20

// mostParts is the protocol's bound: a blob has at most 78 GiB.
const mostParts = 10_000

// writerName is the member of an object's metadata that says which writer wrote it.
const writerName = "Svc-Writer"

// Create implements Store. The writer's requests end with ctx.
func (s *S3) Create(ctx context.Context, key string) (Writer, error) {
	object, err := s.object(key)
	if err != nil {
		return nil, err
	}
	return &s3Writer{ctx: ctx, store: s, object: object, name: rand.Text()}, nil
}

// s3Writer is one unfinished blob. A small one is sent by Commit in one request, a larger
// one in parts. Only the goroutine that sends a part runs concurrently with the caller.
type s3Writer struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the blob is written
	store  *S3
	object string
	name   string // of this writer: it knows its own object again

	filling []byte // the part that fills
	spare   []byte // the memory of the part that was sent before
	upload  string // the id of the upload in parts; "" before the first
	parts   []minio.CompletePart
	sending chan sentPart // nil when no part is under way
	err     error         // of an earlier part: nothing more is sent
	ended   bool
}

type sentPart struct {
	part   minio.CompletePart
	memory []byte
	err    error
}

// Write implements Writer.
func (w *s3Writer) Write(p []byte) (n int, err error) {
	for len(p) > 0 && w.err == nil {
		took := min(len(p), partSize-len(w.filling))
		w.filling = append(w.filling, p[:took]...)
		n, p = n+took, p[took:]
		if len(w.filling) == partSize {
			w.err = w.send()
		}
	}
	return n, w.err
}

// send waits for the part under way, and puts the filled one on its way.
func (w *s3Writer) send() error {
	if err := w.wait(); err != nil {
		return err
	}
	if w.upload == "" {
		err := asked(w.ctx, 1, func() (err error) {
			w.upload, err = w.store.core.NewMultipartUpload(w.ctx, w.store.bucket, w.object, w.options())
			return err
		})
		if err != nil {
			return err
		}
	}
	number, memory := len(w.parts)+1, w.filling
	if number > mostParts {
		return fmt.Errorf("the blob is larger than %d parts of %d bytes", mostParts, partSize)
	}
	w.filling, w.spare = w.spare[:0], nil
	done := make(chan sentPart, 1)
	w.sending = done
	go func() {
		sum := sha256.Sum256(memory)
		var sent minio.ObjectPart
		asks := 0
		err := asked(w.ctx, 1, func() (err error) {
			asks++
			sent, err = w.store.core.PutObjectPart(w.ctx, w.store.bucket, w.object, w.upload, number, bytes.NewReader(memory), int64(len(memory)),
				minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(sum[:]), DisableContentSha256: true})
			return err
		})
		if asks > 1 {
			memory = nil // the connection of a try that failed may still read it
		}
		done <- sentPart{part: minio.CompletePart{PartNumber: number, ETag: sent.ETag}, memory: memory, err: err}
	}()
	return nil
}

// wait waits for the part under way.
func (w *s3Writer) wait() error {
	if w.sending == nil {
		return nil
	}
	sent := <-w.sending
	w.sending, w.spare = nil, sent.memory
	if sent.err != nil {
		return fmt.Errorf("send part %d: %w", sent.part.PartNumber, sent.err)
	}
	w.parts = append(w.parts, sent.part)
	return nil
}

func (w *s3Writer) options() minio.PutObjectOptions {
	return minio.PutObjectOptions{ContentType: "application/octet-stream", UserMetadata: map[string]string{writerName: w.name}}
}

// Commit implements Writer.
func (w *s3Writer) Commit() error {
	err := w.err
	if err == nil && w.upload == "" {
		err = w.settle(func() error { return w.store.put(w.ctx, w.object, w.filling, w.options()) })
	} else if err == nil {
		err = w.commitParts()
	}
	if err != nil {
		w.Abort()
		return fmt.Errorf("commit blob %s: %w", w.object, err)
	}
	w.ended = true
	return nil
}

// commitParts sends the last part, and has the store put them together.
func (w *s3Writer) commitParts() error {
	if len(w.filling) > 0 {
		if err := w.send(); err != nil {
			return err
		}
	}
	if err := w.wait(); err != nil {
		return err
	}
	return w.settle(func() error {
		return asked(w.ctx, 0, func() error {
			_, err := w.store.composer.CompleteMultipartUpload(w.ctx, w.store.bucket, w.object, w.upload, w.parts, onlyNew(minio.PutObjectOptions{}))
			return err
		})
	})
}

// commitTries is how often a commit is retried while the store says that another
// request about the same object is under way.
const commitTries = 5

// settle commits, and finds out what an answer means that may be one to a second try: a
// request whose answer was lost is repeated, and the store then refuses it because of the
// object that the first one has made.
func (w *s3Writer) settle(commit func() error) (err error) {
	for try := range commitTries {
		err = commit()
		if err == nil {
			return nil
		}
		conflict := minio.ToErrorResponse(err).StatusCode == http.StatusConflict
		if !conflict && !isRefused(err) && !isMissing(err) {
			return err
		}
		there, failed := w.store.stat(w.ctx, w.object)
		switch {
		case failed == nil && there.UserMetadata[writerName] == w.name:
			return nil
		case failed == nil:
			return ErrExists
		case !isMissing(failed):
			return errors.Join(err, failed)
		case !conflict:
			return err
		}
		if err := pause(w.ctx, try+1); err != nil {
			return err
		}
	}
	return err
}

// abortTime is how long an abort may take; OpenS3 clears what stays.
const abortTime = 30 * time.Second

// Abort implements Writer. It does not wait for the store.
func (w *s3Writer) Abort() {
	if w.ended {
		return
	}
	w.ended, w.filling, w.spare = true, nil, nil
	if w.upload == "" {
		return
	}
	go func() {
		if w.sending != nil {
			<-w.sending
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), abortTime)
		defer cancel()
		_ = w.store.core.AbortMultipartUpload(ctx, w.store.bucket, w.object, w.upload)
	}()
}
