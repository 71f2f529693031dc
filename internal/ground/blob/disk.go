package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"svc.example/internal/ground/atomicfile"
)

// Disk keeps blobs in a folder of this machine.
type Disk struct {
	root, temp string
	sync       func(dir string) error // makes a folder's entries durable
	making     singleflight.Group     // folders, so that no writer takes one for durable that another has just made
}

// OpenDisk prepares dir, and clears what writers left unfinished there when
// their process died more than a day ago.
func OpenDisk(dir string, now time.Time) (*Disk, error) {
	d := &Disk{root: filepath.Join(dir, "blobs"), temp: filepath.Join(dir, "incoming"), sync: atomicfile.Sync}
	for _, folder := range []string{d.root, d.temp} {
		if err := d.makeFolders(folder); err != nil {
			return nil, fmt.Errorf("prepare the blob folder: %w", err)
		}
	}
	entries, err := os.ReadDir(d.temp)
	if err != nil {
		return nil, fmt.Errorf("prepare the blob folder: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > 24*time.Hour {
			_ = os.Remove(filepath.Join(d.temp, e.Name())) // tried again at the next start
		}
	}
	return d, nil
}

var keyForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

func (d *Disk) path(key string) (string, error) {
	if !keyForm.MatchString(key) {
		return "", fmt.Errorf("blob key %q is malformed", key)
	}
	return filepath.Join(d.root, filepath.FromSlash(key)), nil
}

// Create implements Store.
func (d *Disk) Create(_ context.Context, key string) (Writer, error) {
	path, err := d.path(key)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(d.temp, "blob-")
	if err != nil {
		return nil, fmt.Errorf("create blob %s: %w", key, err)
	}
	idle := make(chan struct{})
	close(idle)
	return &diskWriter{File: f, disk: d, sync: f.Sync, path: path, early: idle}, nil
}

type diskWriter struct {
	*os.File
	disk     *Disk
	sync     func() error
	path     string
	ended    bool
	unsynced int64
	early    chan struct{} // closed when the early sync under way has ended
	lost     error         // of an early sync: the system reports it once, commit's own sync would not
}

// earlySync is how many bytes are written before they begin their way to the
// disk: Commit of a large blob then waits for its tail only.
const earlySync = 8 << 20

func (w *diskWriter) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	w.unsynced += int64(n)
	if w.unsynced < earlySync {
		return n, err
	}
	select {
	case <-w.early:
	default:
		return n, err // one is under way
	}
	w.unsynced = 0
	done := make(chan struct{})
	w.early = done
	go func() {
		defer close(done)
		if err := w.sync(); err != nil {
			w.lost = err
		}
	}()
	return n, err
}

func (w *diskWriter) Commit() error {
	err := w.commit()
	if err != nil {
		w.Abort()
		return fmt.Errorf("commit blob %s: %w", filepath.Base(w.path), err)
	}
	w.ended = true
	return nil
}

func (w *diskWriter) commit() error {
	<-w.early
	if err := cmp.Or(w.lost, w.sync()); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := w.link(); err != nil {
		return err
	}
	if err := w.disk.sync(filepath.Dir(w.path)); err != nil {
		return err
	}
	_ = os.Remove(w.Name()) // the blob is there; OpenDisk clears what stays
	return nil
}

// link gives the file its name. Unlike a rename it never replaces a blob that
// is already there. A Delete beside it may take the empty folder away in
// between, hence the second try.
func (w *diskWriter) link() (err error) {
	for range 3 {
		if err = w.disk.makeFolders(filepath.Dir(w.path)); err != nil {
			continue
		}
		err = os.Link(w.Name(), w.path)
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func (w *diskWriter) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	<-w.early
	_ = w.Close()           // it may be closed already
	_ = os.Remove(w.Name()) // OpenDisk clears what stays
}

// makeFolders makes dir and what it lies in, and makes each new entry durable.
func (d *Disk) makeFolders(dir string) error {
	_, err, _ := d.making.Do(dir, func() (any, error) {
		if _, err := os.Stat(dir); err == nil {
			return nil, nil
		}
		if err := d.makeFolders(filepath.Dir(dir)); err != nil {
			return nil, err
		}
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		return nil, d.sync(filepath.Dir(dir))
	})
	return err
}

// Open implements Store.
func (d *Disk) Open(_ context.Context, key string) (Reader, error) {
	path, err := d.path(key)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", key, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open blob %s: %w", key, err), f.Close())
	}
	return diskReader{f, info.Size()}, nil
}

type diskReader struct {
	*os.File
	size int64
}

func (r diskReader) Size() int64 { return r.size }

// Delete implements Store. Folders that become empty go with their last blob.
func (d *Disk) Delete(_ context.Context, key string) error {
	path, err := d.path(key)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete blob %s: %w", key, err)
	}
	for dir := filepath.Dir(path); dir != d.root && strings.Count(strings.TrimPrefix(dir, d.root), string(filepath.Separator)) > 1; dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil { // not empty
			break
		}
	}
	return nil
}

// List implements Store.
func (d *Disk) List(ctx context.Context, prefix string, visit func(string, time.Time) error) error {
	start := d.root
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		start = filepath.Join(d.root, filepath.FromSlash(prefix[:i]))
	}
	err := filepath.WalkDir(start, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since it was listed, or never there
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(d.root, path)
		if err != nil {
			return err
		}
		key := filepath.ToSlash(rel)
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(key, prefix) {
			return nil // gone, or beside what is asked for
		}
		return visit(key, info.ModTime())
	})
	if err != nil {
		return fmt.Errorf("list blobs %s: %w", prefix, err)
	}
	return nil
}
