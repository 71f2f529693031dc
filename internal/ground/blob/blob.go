// Package blob keeps files by key: uploads, frames, artifacts.
//
// What always holds: a key appears whole or not at all; Commit returns only
// after the file and its folder entry are on disk, so what is acknowledged to
// a caller survives a power cut; a committed blob is never written again.
//
// Who may read what, and when a blob goes, is left to the callers. Start
// reading at Store; Disk is the one implementation so far.
package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// ErrNotFound says that there is no blob of that key.
var ErrNotFound = fs.ErrNotExist

// ErrExists says that a blob of that key has been committed already.
var ErrExists = errors.New("blob exists")

// Store keeps blobs. Keys are slash-separated words of [A-Za-z0-9._-].
type Store interface {
	// Create begins a blob. End it with Commit or Abort.
	Create(ctx context.Context, key string) (Writer, error)
	// Open reads a blob.
	Open(ctx context.Context, key string) (Reader, error)
	// Delete removes a blob; one that is not there is no error.
	Delete(ctx context.Context, key string) error
	// List calls visit for every blob whose key begins with prefix.
	List(ctx context.Context, prefix string, visit func(key string, modified time.Time) error) error
}

// Writer takes the bytes of one blob.
type Writer interface {
	io.Writer
	// Commit makes the blob durable and visible under its key.
	Commit() error
	// Abort forgets it. After Commit it does nothing.
	Abort()
}

// Reader reads one blob.
type Reader interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64 // bytes
}
