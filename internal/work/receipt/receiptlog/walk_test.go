package receiptlog_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

// served is a log's files, of which some are not what they should be.
type served struct {
	b      book
	change map[string]func([]byte) []byte // by path; nil instead of a function: not there
}

func (s served) Read(ctx context.Context, path string) (data []byte, err error) {
	change, changed := s.change[path]
	if changed && change == nil {
		return nil, receiptlog.ErrNoTile
	}
	if path == "checkpoint" {
		data, err = receipt.SignCheckpoint(s.b.head(), s.b.key)
	} else {
		tile, parseErr := receiptlog.ParseTile(strings.TrimPrefix(path, "tile/"))
		if parseErr != nil {
			return nil, parseErr
		}
		err = s.b.Read(ctx, func(tx *db.Tx) error { data, err = receiptlog.Tile(ctx, tx, tile); return err })
	}
	if changed && err == nil {
		data = change(data)
	}
	return data, err
}

func (s served) walk(known []byte) (receiptlog.Walked, error) {
	return receiptlog.Walk{
		Source: s, Keys: []signingkey.Public{s.b.key.Public()}, Known: known, Progress: func(int64, int64) {},
	}.Run(context.Background())
}

func TestWalkOfAnHonestLogRemembersAndGrows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		var known []byte
		last := int64(0)
		for _, size := range []int64{0, 1, 255, 256, 600, 601} {
			b.fill(size)
			walked, err := served{b: b}.walk(known)
			if err != nil || walked.Size != size || walked.KnownSize != last || walked.Root != b.head().Root {
				t.Fatalf("%d leaves after %d: %+v, error %v", size, last, walked, err)
			}
			known, last = walked.Text, size
		}
	})
}

// TestWalkNamesTheDefect serves an honest log of 600 leaves with one thing
// changed.
func TestWalkNamesTheDefect(t *testing.T) {
	t.Parallel()
	const entry, hash = 34, 32
	b := open(t, dbtest.Open(t, db.Config{URL: dbtest.URL(t, "sqlite")}))
	b.fill(600)
	flip := func(at int) func([]byte) []byte {
		return func(data []byte) []byte { data[at] ^= 1; return data }
	}
	swap := func(a, b, size int) func([]byte) []byte {
		return func(data []byte) []byte {
			first := append([]byte(nil), data[a*size:(a+1)*size]...)
			copy(data[a*size:], data[b*size:(b+1)*size])
			copy(data[b*size:], first)
			return data
		}
	}
	drop := func(at, size int) func([]byte) []byte {
		return func(data []byte) []byte { return append(data[:at*size:at*size], data[(at+1)*size:]...) }
	}
	for name, c := range map[string]struct {
		change map[string]func([]byte) []byte
		want   error
		words  string
	}{
		"an altered entry":         {map[string]func([]byte) []byte{"tile/entries/001": flip(44*entry + 9)}, receiptlog.ErrAltered, "leaf 300 "},
		"swapped entries":          {map[string]func([]byte) []byte{"tile/entries/001": swap(44, 45, entry)}, receiptlog.ErrAltered, "leaf 300 "},
		"a dropped entry":          {map[string]func([]byte) []byte{"tile/entries/001": drop(44, entry)}, receiptlog.ErrHole, "entries/001"},
		"an entry of another size": {map[string]func([]byte) []byte{"tile/entries/001": flip(44*entry + 1)}, receiptlog.ErrAltered, "leaf 300 is not 32 bytes long"},
		"entries that are missing": {map[string]func([]byte) []byte{"tile/entries/001": nil}, receiptlog.ErrHole, "entries/001"},
		"a last part is missing":   {map[string]func([]byte) []byte{"tile/entries/002.p/88": nil}, receiptlog.ErrHole, "entries/002.p/88"},
		"an altered hash":          {map[string]func([]byte) []byte{"tile/0/000": flip(5 * hash)}, receiptlog.ErrAltered, "leaf 5 "},
		"hashes that are missing":  {map[string]func([]byte) []byte{"tile/0/002.p/88": nil}, receiptlog.ErrHole, "0/002.p/88"},
		"an altered upper hash":    {map[string]func([]byte) []byte{"tile/1/000.p/2": flip(hash)}, receiptlog.ErrAltered, "from 256 to 511"},
		"entry and hash, both": {map[string]func([]byte) []byte{
			"tile/entries/001": swap(44, 45, entry), "tile/0/001": swap(44, 45, hash),
		}, receiptlog.ErrAltered, "from 256 to 511"},
		"both, at the edge": {map[string]func([]byte) []byte{
			"tile/entries/002.p/88": swap(0, 1, entry), "tile/0/002.p/88": swap(0, 1, hash),
		}, receiptlog.ErrAltered, "the checkpoint signs"},
		"an altered checkpoint": {map[string]func([]byte) []byte{"checkpoint": flip(30)}, receipt.ErrNotInLog, "not signed"},
	} {
		_, err := served{b, c.change}.walk(nil)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: wanted %v with %q, got %v", name, c.want, c.words, err)
		}
	}
	if _, err := (served{b: b}).walk(nil); err != nil {
		t.Errorf("the honest log: %v", err)
	}
}

// TestWalkDetectsAFork shows a walker one history and then another.
func TestWalkDetectsAFork(t *testing.T) {
	t.Parallel()
	history := func(first byte, size int) book {
		b := open(t, dbtest.Open(t, db.Config{URL: dbtest.URL(t, "sqlite")}))
		b.write(func(tx *db.Tx) error {
			for range size {
				_, err := receiptlog.Append(t.Context(), tx, func(i int64) (receipt.Entry, error) {
					if i == 0 {
						return receipt.Entry{first}, nil
					}
					return entry(i), nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		return b
	}
	seen, err := served{b: history(1, 300)}.walk(nil)
	if err != nil {
		t.Fatal(err)
	}
	for words, other := range map[string]book{
		"the known checkpoint signed": history(2, 400),
		"now has 200":                 history(1, 200),
	} {
		if _, err := (served{b: other}).walk(seen.Text); !errors.Is(err, receiptlog.ErrFork) || !strings.Contains(err.Error(), words) {
			t.Errorf("wanted a fork with %q, got %v", words, err)
		}
	}
	if _, err := (served{b: history(1, 400)}).walk(seen.Text); err != nil {
		t.Errorf("the same history, longer: %v", err)
	}
}

func TestTilePathsAreThoseOfC2SP(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"0/000", "0/x001/x234/067", "entries/000.p/1", "entries/x001/000", "3/000.p/255"} {
		tile, err := receiptlog.ParseTile(good)
		if err != nil || receiptlog.TilePath(tile) != good {
			t.Errorf("%s is read as %v, error %v", good, tile, err)
		}
	}
	for _, bad := range []string{"", "0", "data/000", "0/0", "0/0001", "-1/000", "0/000.p/256", "0/000.p/0", "0/x000/000", "64/000", "0/../000"} {
		if tile, err := receiptlog.ParseTile(bad); err == nil && tile.L < 64 {
			t.Errorf("%q is read as %v", bad, tile)
		}
	}
}

func FuzzParseTileReadsOnlyWhatTilePathWrites(f *testing.F) {
	for _, seed := range []string{"0/000", "entries/x001/234.p/7", "data/000"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if tile, err := receiptlog.ParseTile(path); err == nil && receiptlog.TilePath(tile) != path {
			t.Fatalf("%q is read as %v", path, tile)
		}
	})
}
