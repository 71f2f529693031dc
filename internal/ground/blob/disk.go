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
	"svc.example/internal/ground/osfile"
)

// Disk is a Store in a folder of this machine: committed blobs lie under blobs/, by
// key, and unfinished ones under incoming/. Several processes may share the folder.
type Disk struct {
	root, temp string
	sync       func(dir string) error // makes a folder's entries durable
	making     singleflight.Group     // folders, so that no writer takes one for durable that another has just made
}

// OpenDisk prepares dir, and removes what writers left unfinished there more than a
// day before now. A younger file may belong to a writer that still runs, in another
// process.
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

// ReadDisk opens the blobs in dir and writes nothing. Only Open and List work. A folder
// without blobs is an fs.ErrNotExist.
func ReadDisk(dir string) (*Disk, error) {
	d := &Disk{root: filepath.Join(dir, "blobs"), temp: filepath.Join(dir, "incoming"), sync: atomicfile.Sync}
	if _, err := os.Stat(d.root); err != nil {
		return nil, fmt.Errorf("open the blobs: %w", err)
	}
	return d, nil
}

// keyForm lets no key leave the folder: no word is empty or begins with a dot.
var keyForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

// path is where the blob of a key lies; an error for a malformed key.
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

// diskWriter is one unfinished blob. Only the goroutine of the early sync runs
// concurrently with its caller; it writes lost, which is read after early is
// closed.
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

// Write implements Writer. It starts an early sync every earlySync bytes and never
// waits for one: a slow disk delays Commit, not the sender of the bytes.
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

// Commit implements Writer. A failed commit aborts, so that the draft does not
// stay.
func (w *diskWriter) Commit() error {
	err := w.commit()
	if err != nil {
		w.Abort()
		return fmt.Errorf("commit blob %s: %w", filepath.Base(w.path), err)
	}
	w.ended = true
	return nil
}

// commit does the steps in the only order that keeps the promise: all bytes on the
// disk, then the name, then the folder that holds the name.
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

// link gives the file its name. Unlike a rename it never replaces an existing blob.
// A concurrent Delete may remove the folder while it is empty, between makeFolders
// and Link; hence up to three tries.
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

// Abort implements Writer. The name is removed at once. The system frees the bytes when
// the file is closed, after the early sync that still uses it. Abort waits for neither.
func (w *diskWriter) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	_ = os.Remove(w.Name()) // OpenDisk clears what stays
	go func() {
		<-w.early
		_ = w.Close() // it may be closed already
	}()
}

// makeFolders makes dir and its missing parents, and makes each new entry durable.
// A writer that found a folder just made by another must wait until that entry is
// synced; singleflight makes it wait, within this process.
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
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := os.Stat(d.root); gone != nil { // a disk that is not mounted has lost nothing
			return nil, fmt.Errorf("open blob %s: the folder of all blobs is not there: %s", key, gone)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", key, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open blob %s: %w", key, err), f.Close())
	}
	version := fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano(), " ", osfile.Identity(info))
	return diskReader{f, info.Size(), version}, nil
}

// diskReader carries the size from when the file was opened; it cannot change.
type diskReader struct {
	*os.File
	size    int64
	version string
}

func (r diskReader) Size() int64 { return r.size }

// Version implements Reader: the file's size, time of writing, and identity on
// the disk.
func (r diskReader) Version() string { return r.version }

// Delete implements Store. It removes folders that become empty, except those
// directly under blobs/, which are few and needed again at once.
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

// Bytes is what all blobs take together.
func (d *Disk) Bytes(ctx context.Context) (total int64, err error) {
	err = filepath.WalkDir(d.root, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				total += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // gone since it was listed
		}
		return errors.Join(err, ctx.Err())
	})
	return total, err
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
			return nil // gone, or outside the requested range
		}
		return visit(key, info.ModTime())
	})
	if err != nil {
		return fmt.Errorf("list blobs %s: %w", prefix, err)
	}
	return nil
}
