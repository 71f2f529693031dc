// Package filecache keeps the files of jobs on a worker's disk, so that the workers of a
// machine receive each one once.
//
// What always holds: a file is in the cache whole, and its hash is verified once in each run.
// All files together stay within the limit, where the one used longest ago goes first. A job
// has a link or a copy of its own, which survives the eviction. It receives nothing itself:
// that is left to worker. Start reading at Cache.
package filecache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/osfile"
	"svc.example/internal/render/blender"
)

// defaultCache applies where the configuration names no limit: it holds two hundred of the
// largest files. On a small disk the cache takes no more than a quarter of the free
// space.
const defaultCache = 20 << 30

// Cache keeps the files of jobs on disk, named by their SHA-256, across restarts: the
// workers of a machine receive a file once. Jobs use it at the same time, by turn, lend,
// MakeRoom and add. A job never uses a file of the cache itself: it
// gets a hard link, or a copy, of its own, which survives the file's eviction here.
type Cache struct {
	mu    sync.Mutex // held by Lend, MakeRoom and Add; guards files, turns and the folder
	dir   string
	limit int64                    // bytes of all files together
	files []cached                 // the one used longest ago first
	turns map[string]chan struct{} // of files that are being received; closed at their end
}

type cached struct {
	sum      string    // SHA-256, hex
	size     int64     // bytes
	used     time.Time // also the file's modification time, which outlives the run
	verified bool      // this run has verified its hash
}

// Open indexes what earlier runs kept and deletes files that were not received whole.
// limit 0 means the default. It also deletes what does not belong there: the names of
// cached files are hashes. Files over the limit go at once, because the limit may have
// become smaller.
func Open(dir string, limit int64) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the cache: %w", err)
	}
	c := &Cache{dir: dir, limit: limit}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !digest.Is(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return nil, fmt.Errorf("clean the cache: %w", err)
			}
			continue
		}
		c.files = append(c.files, cached{sum: e.Name(), size: info.Size(), used: info.ModTime()})
	}
	slices.SortFunc(c.files, func(a, b cached) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.sum, b.sum)) })
	if limit == 0 {
		// What is cached already counts as space of the cache: otherwise it would shrink with
		// each start.
		c.limit = min(defaultCache, c.size()+free(dir)/4)
	}
	return c, c.evictFor(0)
}

// free returns how many bytes the disk has left, 0 when the system does not say.
func free(dir string) int64 {
	bytes, err := osfile.Free(dir)
	if err != nil {
		return 0
	}
	return bytes
}

func (c *Cache) path(sum string) string { return filepath.Join(c.dir, sum) }

// A sum over a few hundred files costs less than a second place that must stay right.
func (c *Cache) size() (all int64) {
	for _, f := range c.files {
		all += f.size
	}
	return all
}

// Turn returns once no other goroutine receives a file, which the cache may have by then. The
// caller calls done when it has received the file, or has failed to. Error: ctx's cause.
func (c *Cache) Turn(ctx context.Context, sum string) (done func(), err error) {
	for {
		c.mu.Lock()
		other := c.turns[sum]
		if other == nil {
			own := make(chan struct{})
			if c.turns == nil {
				c.turns = map[string]chan struct{}{}
			}
			c.turns[sum] = own
			c.mu.Unlock()
			return func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.turns, sum)
				close(own)
			}, nil
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Lend puts a job's own link to a cached file at own; kept is false if the cache does not
// have it. Errors are only those of the disk.
func (c *Cache) Lend(sum, own string) (kept bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path, kept, err := c.find(sum)
	if err != nil || !kept {
		return false, err
	}
	if err := blender.LinkOrCopy(path, own); err != nil {
		return false, fmt.Errorf("lend a kept file: %w", err)
	}
	return true, nil
}

// MakeRoom evicts files until size more bytes fit.
func (c *Cache) MakeRoom(size int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evictFor(size)
}

// find returns the path of a cached file. A file of an earlier run is hashed first
// and deleted when it has changed: disks lose bits, and operators edit folders.
// Errors are those of the disk only. A file that is gone or damaged is not found, and the
// caller downloads it.
func (c *Cache) find(sum string) (path string, ok bool, err error) {
	i := slices.IndexFunc(c.files, func(f cached) bool { return f.sum == sum })
	if i < 0 {
		return "", false, nil
	}
	f := c.files[i]
	c.files = slices.Delete(c.files, i, i+1)
	path = c.path(sum)
	if !f.verified {
		got, err := digest.OfFile(path)
		if err != nil || got != sum {
			return "", false, remove(path)
		}
	}
	f.verified, f.used = true, time.Now()
	if err := os.Chtimes(path, f.used, f.used); err != nil {
		if errors.Is(err, fs.ErrNotExist) { // someone has deleted it by hand
			return "", false, nil
		}
		return "", false, fmt.Errorf("use a kept file: %w", err)
	}
	// To the end: it is the one used last.
	c.files = append(c.files, f)
	return path, true, nil
}

// Add moves a file into the cache after it was received whole and verified, and evicts
// others where it does not fit. It replaces the same file where another job was faster. part
// is on the same file system.
func (c *Cache) Add(part, sum string, size int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = slices.DeleteFunc(c.files, func(f cached) bool { return f.sum == sum })
	if err := c.evictFor(size); err != nil {
		return err
	}
	path, now := c.path(sum), time.Now()
	// The time of writing is coarser than the time of use. Without Chtimes a new file
	// could sort before an older one.
	if err := errors.Join(os.Rename(part, path), os.Chtimes(path, now, now)); err != nil {
		return fmt.Errorf("keep a file: %w", err)
	}
	c.files = append(c.files, cached{sum: sum, size: size, used: now, verified: true})
	return nil
}

// evictFor deletes the least recently used files until size more bytes fit. A file
// larger than the whole limit is still kept, alone.
func (c *Cache) evictFor(size int64) error {
	for len(c.files) > 0 && c.size()+size > c.limit {
		if err := remove(c.path(c.files[0].sum)); err != nil {
			return err
		}
		c.files = c.files[1:]
	}
	return nil
}

// remove deletes a file; one that is gone already is no error.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a kept file: %w", err)
	}
	return nil
}
