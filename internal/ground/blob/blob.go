// Package blob keeps files by key: uploads, frames, artifacts.
//
// What always holds: a key appears whole or not at all; Commit returns only
// after the file and its folder entry are on disk, or after the S3 service has
// taken the whole object, so what is acknowledged to a caller survives a power
// cut; a committed blob is never written again.
//
// Callers decide who may read a blob and when it is deleted. Start reading at
// Store. Disk keeps blobs in a folder, S3 in a bucket; Linker is a store that
// others can access directly.
package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// ErrNotFound says that there is no blob of that key.
var ErrNotFound = fs.ErrNotExist

// ErrExists says that a blob of that key has been committed already.
var ErrExists = errors.New("blob exists")

// Store keeps blobs. Keys are slash-separated words of [A-Za-z0-9._-], each of
// which begins with a letter or a digit; any other key is an error. A Store is safe
// for concurrent use.
type Store interface {
	// Create begins a blob. The caller ends it with Commit or Abort. That a blob of
	// this key exists already shows only in Commit, as ErrExists.
	Create(ctx context.Context, key string) (Writer, error)
	// Open opens a committed blob, which the caller closes. If it is deleted meanwhile, a
	// Read that has begun completes; later reads may fail with ErrNotFound. Error:
	// ErrNotFound, which means that the store works and has no such blob. Lost bytes are
	// then rendered again, or end a job.
	Open(ctx context.Context, key string) (Reader, error)
	// Delete removes a blob. A blob that does not exist is no error, so that a
	// delete can be repeated after a crash.
	Delete(ctx context.Context, key string) error
	// List calls visit for every blob whose key begins with prefix, in no promised
	// order, and stops at visit's first error, which it wraps. Blobs that come or
	// go meanwhile may be missing. modified is when the bytes were written.
	List(ctx context.Context, prefix string, visit func(key string, modified time.Time) error) error
}

// Writer takes the bytes of one blob. It is for one goroutine. A Writer that is
// neither committed nor aborted, because its process died, leaves nothing under the
// key.
type Writer interface {
	io.Writer
	// Commit makes the blob durable and visible under its key. After an error the
	// bytes are gone, and a new Create is needed. Error: ErrExists; the blob of
	// that key is then as it was.
	Commit() error
	// Abort discards what was written. After Commit it does nothing, so that it can
	// be deferred.
	Abort()
}

// Reader reads one blob, whose bytes never change. ReadAt is safe for concurrent
// use.
type Reader interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64 // bytes
	// Version changes when the stored bytes are replaced or written to, as far as the
	// store can detect. "" means that it cannot detect this.
	Version() string
}

// Probe writes a blob and deletes it, to see whether the store can be written.
func Probe(ctx context.Context, s Store) error {
	key := "probe/" + rand.Text()
	w, err := s.Create(ctx, key)
	if err == nil {
		defer w.Abort()
		if _, err = w.Write([]byte{1}); err == nil {
			err = w.Commit()
		}
	}
	if err == nil {
		err = s.Delete(ctx, key)
	}
	if err != nil {
		return fmt.Errorf("write a file: %w", err)
	}
	return nil
}
