package worker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"svc.example/internal/ground/digest"
)

// defaultCache bounds the kept files where Config says nothing: room for two
// hundred of the largest, and never more than a quarter of what the disk has free.
const defaultCache = 20 << 30

// cache keeps the files of jobs on disk, named by their SHA-256, over restarts: a
// file reaches a worker once. It belongs to the goroutine that renders, so that no
// file is fetched twice at once. A Blender never sees it: it gets a name of its own
// for the one file that it opens, which outlives the file's removal here.
type cache struct {
	dir   string
	limit int64    // bytes
	files []cached // the one used longest ago first
}

type cached struct {
	sum   string // SHA-256, hex
	size  int64
	used  time.Time
	sound bool // its hash was seen to be right by this run
}

// openCache finds what earlier runs kept and removes what was not received whole.
// limit 0 is the default.
func openCache(dir string, limit int64) (*cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the cache: %w", err)
	}
	c := &cache{dir: dir, limit: limit}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !isSum(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return nil, fmt.Errorf("clean the cache: %w", err)
			}
			continue
		}
		c.files = append(c.files, cached{sum: e.Name(), size: info.Size(), used: info.ModTime()})
	}
	slices.SortFunc(c.files, func(a, b cached) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.sum, b.sum)) })
	if limit == 0 {
		c.limit = min(defaultCache, c.size()+free(dir)/4)
	}
	return c, c.room(0)
}

// free is how many bytes the disk still takes.
func free(dir string) int64 {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0
	}
	return int64(disk.Bavail) * disk.Bsize
}

func isSum(name string) bool {
	raw, err := hex.DecodeString(name)
	return err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == name
}

func (c *cache) path(sum string) string { return filepath.Join(c.dir, sum) }

func (c *cache) size() (all int64) {
	for _, f := range c.files {
		all += f.size
	}
	return all
}

// find returns the path of a kept file. One of an earlier run is hashed first, and
// removed when a bit of it has changed.
func (c *cache) find(sum string) (path string, ok bool, err error) {
	i := slices.IndexFunc(c.files, func(f cached) bool { return f.sum == sum })
	if i < 0 {
		return "", false, nil
	}
	f := c.files[i]
	c.files = slices.Delete(c.files, i, i+1)
	path = c.path(sum)
	if !f.sound {
		got, err := digest.OfFile(path)
		if err != nil || got != sum {
			return "", false, remove(path)
		}
	}
	f.sound, f.used = true, time.Now()
	if err := os.Chtimes(path, f.used, f.used); err != nil {
		if errors.Is(err, fs.ErrNotExist) { // someone has cleaned up
			return "", false, nil
		}
		return "", false, fmt.Errorf("use a kept file: %w", err)
	}
	c.files = append(c.files, f)
	return path, true, nil
}

// add takes in a file that was received whole and checked.
func (c *cache) add(part, sum string, size int64) (path string, err error) {
	path, now := c.path(sum), time.Now()
	// The time of writing is coarser than that of use, and would sort before it.
	if err := errors.Join(os.Rename(part, path), os.Chtimes(path, now, now)); err != nil {
		return "", fmt.Errorf("keep a file: %w", err)
	}
	c.files = append(c.files, cached{sum: sum, size: size, used: now, sound: true})
	return path, nil
}

// room removes the files that were used longest ago until size more bytes fit. A
// file larger than the whole cache leaves it alone in there.
func (c *cache) room(size int64) error {
	for len(c.files) > 0 && c.size()+size > c.limit {
		if err := remove(c.path(c.files[0].sum)); err != nil {
			return err
		}
		c.files = c.files[1:]
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a kept file: %w", err)
	}
	return nil
}
