package receiptlog_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

const origin = "renders.example.com/log"

func testKeyOf(letter string) (signingkey.Key, error) {
	return signingkey.New(strings.NewReader(strings.Repeat(letter, 32)))
}

func testKey(t testing.TB) signingkey.Key {
	t.Helper()
	key, err := testKeyOf("a")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func entry(i int64) receipt.Entry { return sha256.Sum256(fmt.Append(nil, "receipt ", i)) }

// book is a log in a database.
type book struct {
	*db.DB
	t   testing.TB
	key signingkey.Key
}

func open(t testing.TB, d *db.DB) book {
	t.Helper()
	b := book{d, t, testKey(t)}
	b.write(func(tx *db.Tx) error { return receiptlog.Name(t.Context(), tx, origin) })
	return b
}

func (b book) write(do func(tx *db.Tx) error) {
	b.t.Helper()
	if err := b.Write(context.Background(), do); err != nil {
		b.t.Fatal(err)
	}
}

func (b book) read(do func(tx *db.Tx) error) {
	b.t.Helper()
	if err := b.Read(context.Background(), do); err != nil {
		b.t.Fatal(err)
	}
}

// fill appends leaves up to size, a thousand in a transaction.
func (b book) fill(size int64) {
	b.t.Helper()
	for at := b.head().Size; at < size; {
		b.write(func(tx *db.Tx) error {
			for range min(1000, size-at) {
				if _, err := receiptlog.Append(context.Background(), tx, honest); err != nil {
					return err
				}
			}
			return nil
		})
		at = b.head().Size
	}
}

func honest(index int64) (receipt.Entry, error) { return entry(index), nil }

func (b book) head() (c receipt.Checkpoint) {
	b.t.Helper()
	b.read(func(tx *db.Tx) (err error) { c, err = receiptlog.Head(context.Background(), tx); return err })
	return c
}

func (b book) audit() (breaches []string) {
	b.t.Helper()
	b.read(func(tx *db.Tx) (err error) { breaches, err = audited(tx); return err })
	return breaches
}

// audited returns what an audit of the log finds, a breach in a line.
func audited(tx *db.Tx) (breaches []string, err error) {
	err = receiptlog.Audit(context.Background(), tx, func(rule, subject, format string, args ...any) {
		breaches = append(breaches, fmt.Sprintf(rule+": "+subject+": "+format, args...))
	}, func(int64, receipt.Entry) {})
	return breaches, err
}

// rootOf computes a root by the definition of RFC 6962 2.1, without a library.
func rootOf(leaves []receipt.Entry) tlog.Hash {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(append([]byte{0}, leaves[0][:]...))
	}
	k := 1
	for k*2 < len(leaves) {
		k *= 2
	}
	left, right := rootOf(leaves[:k]), rootOf(leaves[k:])
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

func TestRootIsThatOfRFC6962AndEveryLeafIsProven(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		var leaves []receipt.Entry
		for _, size := range []int64{0, 1, 2, 3, 255, 256, 257, 700} {
			b.fill(size)
			for i := int64(len(leaves)); i < size; i++ {
				leaves = append(leaves, entry(i))
			}
			if head := b.head(); head.Size != size || head.Root != rootOf(leaves) || head.Origin != origin {
				t.Fatalf("%d leaves: head %+v", size, head)
			}
			for i := int64(0); i < size; i += max(1, size/40) {
				b.prove(i)
			}
		}
		if breaches := b.audit(); len(breaches) > 0 {
			t.Error(breaches)
		}
	})
}

// prove asks for the proof of a leaf and checks it.
func (b book) prove(index int64) {
	b.t.Helper()
	b.read(func(tx *db.Tx) error {
		p, err := receiptlog.Prove(context.Background(), tx, index, b.key)
		if err != nil {
			return err
		}
		c, err := p.Check(entry(index), []signingkey.Public{b.key.Public()})
		if err == nil && c.Origin != origin {
			err = fmt.Errorf("the checkpoint is of %s", c.Origin)
		}
		return err
	})
}

func TestFailedTransactionLeavesNoHole(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		b.fill(3)
		boom := errors.New("boom")
		for _, last := range []func(tx *db.Tx) error{
			func(tx *db.Tx) error {
				_, err := receiptlog.Append(t.Context(), tx, honest)
				return errors.Join(err, boom)
			},
			func(tx *db.Tx) error {
				_, err := receiptlog.Append(t.Context(), tx, func(int64) (receipt.Entry, error) { return receipt.Entry{}, boom })
				return err
			},
		} {
			if err := d.Write(t.Context(), last); !errors.Is(err, boom) {
				t.Fatal(err)
			}
		}
		b.fill(5)
		if breaches := b.audit(); len(breaches) > 0 || b.head().Root != rootOf([]receipt.Entry{entry(0), entry(1), entry(2), entry(3), entry(4)}) {
			t.Errorf("head %v, %v", b.head(), breaches)
		}
	})
}

func TestConcurrentAppendsGetEachIndexOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		const writers, each = 8, 40
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range each {
					err := d.Write(context.Background(), func(tx *db.Tx) error {
						_, err := receiptlog.Append(context.Background(), tx, honest)
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if breaches := b.audit(); len(breaches) > 0 || b.head().Size != writers*each {
			t.Errorf("%d leaves, %v", b.head().Size, breaches)
		}
	})
}

func TestLogKeepsItsNameOnceItHasALeaf(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := open(t, d)
		rename := func(tx *db.Tx) error { return receiptlog.Name(t.Context(), tx, "other.example.com/log") }
		b.write(rename)
		if got := b.head().Origin; got != "other.example.com/log" {
			t.Errorf("an empty log is named %q", got)
		}
		b.fill(1)
		b.write(func(tx *db.Tx) error { return receiptlog.Name(t.Context(), tx, origin) })
		if got := b.head().Origin; got != "other.example.com/log" {
			t.Errorf("the log was renamed to %q", got)
		}
	})
}

// tamper changes stored rows by hand, lets look see the result, and undoes it.
func tamper(t *testing.T, url, statement string, look func(tx *db.Tx)) {
	t.Helper()
	driver := "sqlite"
	if (db.Config{URL: url}).Name() == "postgres" {
		driver = "pgx"
	}
	raw, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	tx, err := raw.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	look(&db.Tx{Queries: query.New(tx)})
}

func TestAuditLocatesEveryChange(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		b := open(t, dbtest.Open(t, db.Config{URL: url}))
		b.fill(600)
		other := strings.Repeat("0", 64)
		for statement, want := range map[string]string{
			"UPDATE receipt_log_leaf SET entry = '" + other + "' WHERE log_index = 300":       "a leaf from 256 to 511 was changed",
			"UPDATE receipt_log_leaf SET entry = '" + other + "' WHERE log_index = 599":       "another root",
			"UPDATE receipt_log_leaf SET entry = 'zz' WHERE log_index = 5":                    "leaf 5 is damaged",
			"DELETE FROM receipt_log_leaf WHERE log_index = 77":                               "leaf 77 is missing",
			"DELETE FROM receipt_log_leaf WHERE log_index = 599":                              "599 leaves are stored",
			"UPDATE receipt_log_leaf SET entry = 'zz' WHERE log_index = 599":                  "leaf 599 is damaged",
			"UPDATE receipt_log_leaf SET entry = upper(entry) WHERE log_index = 599":          "written in another way",
			"UPDATE receipt_log_leaf SET log_index = 9223372036854775807 WHERE log_index = 0": "leaf 0 is missing",
			"DELETE FROM receipt_log_leaf":                                                    "0 leaves are stored",
			"DELETE FROM receipt_log":                                                         "its row is gone",
			"UPDATE receipt_log SET size = 9223372036854775807":                               "the log's row says 9223372036854775807",
			"UPDATE receipt_log SET origin = 'elsewhere.example.com/log'":                     "receipt_log",
			"UPDATE receipt_log SET origin = ''":                                              "receipt_log",
			"UPDATE receipt_log_node SET number = 7 WHERE number = 0":                         "a leaf from 0 to 255 was changed",
			"UPDATE receipt_log_node SET tile_level = 2 WHERE number = 0":                     "a leaf from 0 to 255 was changed",
			"UPDATE receipt_log_leaf SET entry = (SELECT o.entry FROM receipt_log_leaf o WHERE o.log_index = 21 - receipt_log_leaf.log_index) " +
				"WHERE log_index IN (10, 11)": "a leaf from 0 to 255 was changed",
			"INSERT INTO receipt_log_leaf (log_index, entry) VALUES (600, '" + other + "')":          "601 leaves are stored",
			"INSERT INTO receipt_log_node (tile_level, number, hash) VALUES (1, 2, '" + other + "')": "3 hashes of full tiles",
			"UPDATE receipt_log_node SET hash = '" + other + "' WHERE number = 1":                    "a leaf from 256 to 511 was changed",
			"UPDATE receipt_log SET size = 512, peaks = '" + other + "'":                             "the log's row says 512",
			"UPDATE receipt_log SET peaks = '" + strings.Repeat(other, 4) + "'":                      "another root",
		} {
			tamper(t, url, statement, func(tx *db.Tx) {
				breaches, err := audited(tx)
				if err != nil || !strings.Contains(strings.Join(breaches, "\n"), want) {
					t.Errorf("%s: wanted %q, got %q, error %v", statement, want, breaches, err)
				}
			})
		}
		if breaches := b.audit(); len(breaches) > 0 {
			t.Errorf("the honest log: %v", breaches)
		}
	})
}

func TestNoProofIsMadeFromAChangedLog(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		b := open(t, dbtest.Open(t, db.Config{URL: url}))
		b.fill(600)
		change := "UPDATE receipt_log_leaf SET entry = '" + strings.Repeat("0", 64) + "' WHERE log_index = 300"
		tamper(t, url, change, func(tx *db.Tx) {
			if _, err := receiptlog.Prove(t.Context(), tx, 301, b.key); err == nil {
				t.Error("a proof was made over an altered leaf")
			}
		})
		b.prove(301)
	})
}

func TestAppendedLogIsThatOfItsDefinition(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, db.Config{URL: dbtest.URL(t, "sqlite")})
	b := open(t, d)
	var leaves []receipt.Entry
	rapid.Check(t, func(t *rapid.T) {
		more := rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "leaves")
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			for i, content := range more {
				want := int64(len(leaves) + i)
				got, err := receiptlog.Append(context.Background(), tx, func(int64) (receipt.Entry, error) { return receipt.Entry{content}, nil })
				if err != nil || got != want {
					return fmt.Errorf("index %d instead of %d: %w", got, want, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, content := range more {
			leaves = append(leaves, receipt.Entry{content})
		}
		if head := b.head(); head.Root != rootOf(leaves) {
			t.Fatalf("%d leaves have root %s", head.Size, head.Root)
		}
	})
}
