package filecache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"svc.example/internal/ground/digest"
)

// keep adds a file of the content to the cache, as a fetch does.
func keep(t interface{ Fatal(...any) }, c *Cache, content string) (sum string) {
	raw := sha256.Sum256([]byte(content))
	sum = hex.EncodeToString(raw[:])
	part := c.path("part")
	if err := os.WriteFile(part, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(part, sum, int64(len(content))); err != nil {
		t.Fatal(err)
	}
	return sum
}

func reopen(t interface{ Fatal(...any) }, c *Cache) *Cache {
	again, err := Open(c.dir, c.limit)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func has(t interface{ Fatal(...any) }, c *Cache, sum string) bool {
	path, ok, err := c.find(sum)
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		if got, err := digest.OfFile(path); err != nil || got != sum {
			t.Fatal("a found file is not the one asked for", got, err)
		}
	}
	return ok
}

// Against a list that is used as a cache should be: whatever is done, the same
// files are there, within the limit.
func TestCacheKeepsWhatWasUsedLast(t *testing.T) {
	t.Parallel()
	contents := []string{"a", "bb", "ccc", "dddd", "eeeee", "ffffff"}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "cache-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		c, err := Open(dir, 10)
		if err != nil {
			t.Fatal(err)
		}
		var model []string // contents, the one used longest ago first
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			content := rapid.SampledFrom(contents).Draw(t, "content")
			raw := sha256.Sum256([]byte(content))
			found := has(t, c, hex.EncodeToString(raw[:]))
			if found != slices.Contains(model, content) {
				t.Fatalf("%q is there: %v; want %v", content, found, model)
			}
			if !found {
				keep(t, c, content)
			}
			model = append(slices.DeleteFunc(model, func(other string) bool { return other == content }), content)
			for len(model) > 1 && len(join(model)) > 10 {
				model = model[1:]
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != len(model) {
				t.Fatalf("%d files on disk, want %v, %v", len(left), model, err)
			}
			if rapid.Bool().Draw(t, "restart") {
				c = reopen(t, c)
			}
		}
	})
}

func join(all []string) (one string) {
	for _, s := range all {
		one += s
	}
	return one
}

func TestKeptFileIsHashedAgainAfterARestart(t *testing.T) {
	t.Parallel()
	c, err := Open(t.TempDir(), 100)
	if err != nil {
		t.Fatal(err)
	}
	good, bad := keep(t, c, "a scene"), keep(t, c, "another")
	if err := os.WriteFile(c.path(bad), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	c = reopen(t, c)
	if !has(t, c, good) || has(t, c, bad) || has(t, c, bad) {
		t.Error("a file that has changed was found, or a good one was not")
	}
	if _, err := os.Stat(c.path(bad)); err == nil {
		t.Error("the changed file is still there")
	}
}

func TestCacheHoldsOnlyWholeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"part", "readme", hex.EncodeToString(make([]byte, 31))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, hex.EncodeToString(make([]byte, 32))), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 || len(c.files) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if c.limit <= 0 || c.limit > defaultCache {
		t.Errorf("the limit is %d", c.limit)
	}
}

func TestFileThatWasRemovedByHandIsFetchedAgain(t *testing.T) {
	t.Parallel()
	c, err := Open(t.TempDir(), 100)
	if err != nil {
		t.Fatal(err)
	}
	sum := keep(t, c, "a scene")
	if err := os.Remove(c.path(sum)); err != nil {
		t.Fatal(err)
	}
	if has(t, c, sum) {
		t.Error("a file that is gone was found")
	}
}

// Two jobs that use the cache at once each get whole files of their own, whatever the other
// one evicts.
func TestJobsAtOnceGetFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	c, err := Open(t.TempDir(), 6)
	if err != nil {
		t.Fatal(err)
	}
	contents := []string{"aaa", "bbb", "ccc", "ddd"}
	var jobs errgroup.Group
	for range 4 {
		dir := t.TempDir()
		jobs.Go(func() error {
			for i := range 40 {
				content := contents[i%len(contents)]
				raw := sha256.Sum256([]byte(content))
				sum, own := hex.EncodeToString(raw[:]), filepath.Join(dir, fmt.Sprint(i))
				kept, err := c.Lend(sum, own)
				if err == nil && !kept {
					part := own + ".part"
					err = errors.Join(c.MakeRoom(3), os.WriteFile(part, []byte(content), 0o600), os.Link(part, own), c.Add(part, sum, 3))
				}
				if err != nil {
					return err
				}
				if got, err := digest.OfFile(own); err != nil || got != sum {
					return fmt.Errorf("file %d is %s, want %s, %w", i, got, sum, err)
				}
			}
			return nil
		})
	}
	if err := jobs.Wait(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(c.dir); err != nil || len(left) > 2 || len(left) != len(c.files) {
		t.Errorf("%d files are kept and %d known, %v", len(left), len(c.files), err)
	}
}
