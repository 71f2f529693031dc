package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/minio/minio-go/v7"
)

// aheadSize is how much ReadAt fetches at least. A caller that reads a little usually
// reads on from there, and each request is a round trip.
const aheadSize = 1 << 20

// keptBlocks is how many such blocks a reader keeps.
const keptBlocks = 4

// Open implements Store. The reader's requests end with ctx.
func (s *S3) Open(ctx context.Context, key string) (Reader, error) {
	object, err := s.object(key)
	if err != nil {
		return nil, err
	}
	there, err := s.stat(ctx, object)
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", key, s.readError(ctx, err))
	}
	return &s3Reader{ctx: ctx, store: s, key: key, object: object, size: there.Size, etag: there.ETag}, nil
}

// stat asks what the store knows of an object.
func (s *S3) stat(ctx context.Context, object string) (there minio.ObjectInfo, err error) {
	err = asked(ctx, 1, func() (err error) {
		there, err = s.core.StatObject(ctx, s.bucket, object, minio.StatObjectOptions{})
		return err
	})
	return there, err
}

// readError translates the store's error. The store reports a missing object and a
// missing bucket alike, and in a missing bucket every object would be missing.
func (s *S3) readError(ctx context.Context, err error) error {
	switch minio.ToErrorResponse(err).StatusCode {
	case http.StatusNotFound:
		there, unknown := s.core.BucketExists(ctx, s.bucket)
		if unknown != nil {
			return fmt.Errorf("look for the bucket %s: %w", s.bucket, unknown)
		}
		if !there {
			return fmt.Errorf("%w: the bucket %s is not there", errAway, s.bucket)
		}
		return ErrNotFound
	case http.StatusPreconditionFailed:
		return fmt.Errorf("%w: somebody has written over it", ErrDamaged)
	}
	return err
}

// s3Reader reads one object, in the version that was opened. Read streams it from one
// place on; ReadAt fetches blocks and keeps the last ones.
type s3Reader struct {
	ctx         context.Context //nolint:containedctx // it lives as long as the blob is read
	store       *S3
	key, object string
	size        int64
	etag        string

	place int64         // of the next Read
	body  io.ReadCloser // the stream from place on; nil when there is none

	mu     sync.Mutex
	blocks []block // most recently used last
}

type block struct {
	at    int64
	bytes []byte
}

// Size implements Reader.
func (r *s3Reader) Size() int64 { return r.size }

// Version implements Reader: the tag that the store gives to an object's bytes.
func (r *s3Reader) Version() string { return r.etag }

// Close implements io.Closer.
func (r *s3Reader) Close() error {
	r.drop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocks = nil
	return nil
}

// drop ends the stream.
func (r *s3Reader) drop() {
	if r.body != nil {
		_ = r.body.Close() // its bytes were read, or are not needed
		r.body = nil
	}
}

// Seek implements io.Seeker.
func (r *s3Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.place
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, fmt.Errorf("seek in blob %s: no such place", r.key)
	}
	if offset != r.place {
		r.drop()
		r.place = offset
	}
	return offset, nil
}

// Read implements io.Reader. A broken stream is reopened where it broke.
func (r *s3Reader) Read(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case r.place >= r.size:
		return 0, io.EOF
	}
	var n int
	err := asked(r.ctx, 1, func() (err error) {
		n, err = r.stream(p)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read blob %s: %w", r.key, err)
	}
	return n, nil
}

// stream reads one or more bytes.
func (r *s3Reader) stream(p []byte) (n int, err error) {
	if r.body == nil {
		if r.body, err = r.get(r.place, r.size); err != nil {
			return 0, err
		}
	}
	n, err = r.body.Read(p)
	r.place += int64(n)
	if err != nil {
		r.drop()
	}
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, io.EOF):
		return 0, io.ErrUnexpectedEOF // the store has sent less than it has promised
	}
	return 0, err
}

// get begins a stream of the bytes from at until end, which is beyond the last.
func (r *s3Reader) get(at, end int64) (io.ReadCloser, error) {
	var o minio.GetObjectOptions
	if err := errors.Join(o.SetRange(at, end-1), o.SetMatchETag(r.etag)); err != nil {
		return nil, err
	}
	body, _, _, err := r.store.core.GetObject(r.ctx, r.store.bucket, r.object, o)
	if err != nil {
		return nil, r.store.readError(r.ctx, err)
	}
	return body, nil
}

// ReadAt implements io.ReaderAt.
func (r *s3Reader) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, fmt.Errorf("read blob %s: no such place", r.key)
	}
	for n < len(p) {
		if at >= r.size {
			return n, io.EOF
		}
		b, err := r.block(at, int64(len(p)-n))
		if err != nil {
			return n, fmt.Errorf("read blob %s: %w", r.key, err)
		}
		took := copy(p[n:], b.bytes[at-b.at:])
		n, at = n+took, at+int64(took)
	}
	return n, nil
}

// block returns a block that has the byte at a place, and is fetched, with as many more as
// are wanted, where none is kept.
func (r *s3Reader) block(at, wanted int64) (block, error) {
	if b, ok := r.kept(at); ok {
		return b, nil
	}
	b := block{at: at}
	err := asked(r.ctx, 1, func() (err error) {
		b.bytes, err = r.fetch(at, min(at+max(wanted, aheadSize), r.size))
		return err
	})
	if err != nil {
		return b, err
	}
	r.keep(b)
	return b, nil
}

func (r *s3Reader) fetch(at, end int64) ([]byte, error) {
	body, err := r.get(at, end)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	bytes := make([]byte, end-at)
	_, err = io.ReadFull(body, bytes)
	return bytes, err
}

func (r *s3Reader) kept(at int64) (block, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, b := range r.blocks {
		if b.at <= at && at < b.at+int64(len(b.bytes)) {
			r.blocks = append(append(r.blocks[:i:i], r.blocks[i+1:]...), b)
			return b, true
		}
	}
	return block{}, false
}

// keep remembers a block. Large ones are not kept: a caller that asks for that
// much already has it.
func (r *s3Reader) keep(b block) {
	if len(b.bytes) > aheadSize {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.blocks) == keptBlocks {
		r.blocks = r.blocks[1:]
	}
	r.blocks = append(r.blocks, b)
}
