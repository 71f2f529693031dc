package receiptlog_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

// The test binary, started with this variable, is a service that only completes:
// it appends signed receipts to the database that the variable names.
const writerVariable = "SVC_TEST_RECEIPTLOG_WRITER"

// perTell is how many receipts a thread of a writer appends between two
// reports.
const perTell = 20

// manyReceipts fill the log.
func manyReceipts() int64 { return int64(long.Scale(2_000, 10_000)) }

func TestMain(m *testing.M) {
	if url := os.Getenv(writerVariable); url != "" {
		if err := write(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// signer signs the receipt that belongs at a leaf: its id is the index.
type signer struct {
	job receipttest.Job
	key signingkey.Key
}

func (s signer) entry(index int64) (receipt.Entry, error) {
	r := s.job.Receipt
	r.ReceiptID, r.LogIndex = fmt.Sprint("RCT-", index), &index
	envelope, err := receipt.Sign(r, s.key)
	if err != nil {
		return receipt.Entry{}, err
	}
	return receipt.EntryOf(envelope)
}

func newSigner(key signingkey.Key) (signer, error) {
	job, err := receipttest.Complete(1)
	return signer{job, key}, err
}

var errFull = errors.New("the log is full")

// write appends four at a time, one receipt a transaction, until the log is full and the
// standard input is closed: however slow the other writer starts, it finds one that writes.
func write(url string) error {
	var enough atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		enough.Store(true)
	}()
	d, err := db.Open(context.Background(), db.Config{URL: url})
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	key, err := testKeyOf("a")
	if err != nil {
		return err
	}
	s, err := newSigner(key)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() {
			for n := 0; errs[i] == nil; n++ {
				if errs[i] = writeOne(d, s, &enough); n%perTell == 0 {
					fmt.Println(n)
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if !errors.Is(err, errFull) {
			return err
		}
	}
	return nil
}

func writeOne(d *db.DB, s signer, enough *atomic.Bool) error {
	return d.Write(context.Background(), func(tx *db.Tx) error {
		_, err := receiptlog.Append(context.Background(), tx, func(index int64) (receipt.Entry, error) {
			if index >= manyReceipts() && enough.Load() {
				return receipt.Entry{}, errFull
			}
			return s.entry(index)
		})
		return err
	})
}

// writer starts a process that writes until enough is closed; lines tell how far it is.
func writer(t *testing.T, url string) (process *exec.Cmd, lines *bufio.Scanner, enough io.Closer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process = exec.Command(self)
	process.Env = append(os.Environ(), writerVariable+"="+url)
	process.Stderr = os.Stderr
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // nothing outlives a killed test
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if enough, err = process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Process.Kill() }) // it has ended on its own
	return process, bufio.NewScanner(out), enough
}

// TestProcessesShareOneLogWhateverHappensToThem lets two processes write thousands
// of receipts over one PostgreSQL, kills one of them three times, and proves every
// receipt afterwards.
func TestProcessesShareOneLogWhateverHappensToThem(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	d := dbtest.Open(t, db.Config{URL: url})
	b := open(t, d)
	steady, lines, enough := writer(t, url)
	ended := make(chan error, 1)
	go func() {
		for lines.Scan() {
		}
		ended <- steady.Wait()
	}()
	for range 3 {
		victim, lines, _ := writer(t, url)
		for range 8 { // each of its four threads has written
			lines.Scan()
		}
		if err := victim.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := victim.Wait(); err == nil {
			t.Error("a writer ended before it was killed")
		}
	}
	if err := enough.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if breaches := b.audit(); len(breaches) > 0 || b.head().Size < manyReceipts() {
		t.Fatalf("%d leaves, %v", b.head().Size, breaches)
	}
	proveAll(t, b)
}

// proveAll holds the proof of every leaf to the receipt that belongs there.
func proveAll(t *testing.T, b book) {
	t.Helper()
	s, err := newSigner(b.key)
	if err != nil {
		t.Fatal(err)
	}
	head := b.head()
	text, err := receipt.SignCheckpoint(head, b.key)
	if err != nil {
		t.Fatal(err)
	}
	keys := []signingkey.Public{b.key.Public()}
	b.read(func(tx *db.Tx) error {
		hashes := tlog.TileHashReader(tlog.Tree{N: head.Size, Hash: head.Root}, keptTiles{tx, map[tlog.Tile][]byte{}})
		for index := range head.Size {
			path, err := tlog.ProveRecord(head.Size, index, hashes)
			if err != nil {
				return err
			}
			want, err := s.entry(index)
			if err != nil {
				return err
			}
			if _, err := receipt.NewInclusion(index, path, text).Check(want, keys); err != nil {
				return fmt.Errorf("receipt %d: %w", index, err)
			}
		}
		return nil
	})
}

// keptTiles reads each tile once.
type keptTiles struct {
	tx   *db.Tx
	kept map[tlog.Tile][]byte
}

func (keptTiles) Height() int                     { return 8 }
func (keptTiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (k keptTiles) ReadTiles(tiles []tlog.Tile) (all [][]byte, err error) {
	for _, tile := range tiles {
		data, ok := k.kept[tile]
		if !ok {
			if data, err = receiptlog.Tile(context.Background(), k.tx, tile); err != nil {
				return nil, err
			}
			k.kept[tile] = data
		}
		all = append(all, data)
	}
	return all, nil
}
