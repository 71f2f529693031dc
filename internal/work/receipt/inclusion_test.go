package receipt_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

const origin = receipttest.Origin

// logged is a receipt in a log of its own.
type logged struct {
	envelope json.RawMessage
	keys     []signingkey.Public
	proof    receipt.Inclusion
	leaves   []receipt.Entry
}

// inLog signs a receipt as leaf index of a log of size leaves and proves it.
func inLog(t testing.TB, index, size int64) logged {
	t.Helper()
	job, _, keys := complete(t, 1)
	job.Receipt.LogIndex = &index
	l := logged{envelope: sign(t, job.Receipt), keys: keys}
	var err error
	if l.leaves, err = receipttest.Leaves(l.envelope, index, size); err != nil {
		t.Fatal(err)
	}
	l.proof = prove(t, l.leaves, index)
	return l
}

func prove(t testing.TB, leaves []receipt.Entry, index int64) receipt.Inclusion {
	t.Helper()
	p, err := receipttest.Prove(leaves, index, testKey(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func checkpoint(t testing.TB, c receipt.Checkpoint, letter string) []byte {
	t.Helper()
	text, err := receipt.SignCheckpoint(c, testKey(t, letter))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// verify gives the report with its check of the log.
func (l logged) verify(pinned []byte) receipt.Report {
	report := receipt.Verify(l.envelope, l.keys, nil)
	report.InLog(&l.proof, l.keys, pinned)
	return report
}

func TestReceiptIsProvenAtEveryPlaceOfALog(t *testing.T) {
	t.Parallel()
	for size := int64(1); size <= 9; size++ {
		for index := range size {
			l := inLog(t, index, size)
			report := l.verify([]byte(l.proof.Checkpoint))
			if err := report.Err(); err != nil || report.Checks[len(report.Checks)-1].Name != "log" {
				t.Fatalf("leaf %d of %d: %v, %v", index, size, err, report.Checks)
			}
		}
	}
}

func TestAnyLeafDroppedSwappedOrAlteredIsNotInTheLog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		size := rapid.Int64Range(2, 40).Draw(r, "size")
		index := rapid.Int64Range(0, size-1).Draw(r, "index")
		at := rapid.IntRange(0, int(size)-1).Draw(r, "at")
		l := inLog(t, index, size)
		changed := slices.Clone(l.leaves)
		switch rapid.SampledFrom([]string{"drop", "swap", "alter"}).Draw(r, "change") {
		case "drop":
			changed = slices.Delete(changed, at, at+1)
		case "swap":
			other := (at + 1) % int(size)
			changed[at], changed[other] = changed[other], changed[at]
		case "alter":
			changed[at][rapid.IntRange(0, 31).Draw(r, "byte")] ^= byte(rapid.IntRange(1, 255).Draw(r, "flip"))
		}
		// The honest path against the root of the changed log.
		honest := l.proof
		if int64(len(changed)) > index {
			l.proof = prove(t, changed, index)
			l.proof.InclusionProof = honest.InclusionProof
			err := l.verify(nil).Err()
			if !errors.Is(err, receipt.ErrNotInLog) || !strings.Contains(err.Error(), "does not lead to the root") {
				r.Fatalf("changed log: %v", err)
			}
		}
		// And the changed log's own proof against the checkpoint that is known.
		if int64(len(changed)) > index {
			l.proof = prove(t, changed, index)
			if err := l.verify([]byte(honest.Checkpoint)).Err(); !errors.Is(err, receipt.ErrNotInLog) {
				r.Fatalf("rewritten log against the known checkpoint: %v", err)
			}
		}
	})
}

func TestRewrittenLogIsReportedAsTwoHistories(t *testing.T) {
	t.Parallel()
	l := inLog(t, 2, 7)
	known := l.proof.Checkpoint
	l.leaves[5][0] ^= 1
	l.proof = prove(t, l.leaves, 2)
	err := l.verify([]byte(known)).Err()
	if !errors.Is(err, receipt.ErrNotInLog) || !strings.Contains(err.Error(), "two histories") {
		t.Fatal(err)
	}
}

func TestEveryChangedByteOfACheckpointIsRefused(t *testing.T) {
	t.Parallel()
	l := inLog(t, 2, 7)
	honest := l.proof.Checkpoint
	for i := range honest {
		for flip := 1; flip < 256; flip <<= 1 {
			changed := []byte(honest)
			changed[i] ^= byte(flip)
			l.proof.Checkpoint = string(changed)
			if _, err := l.proof.Check(l.leaves[2], l.keys); !errors.Is(err, receipt.ErrNotInLog) {
				t.Fatalf("byte %d changed from %q to %q: %v", i, honest[i], changed[i], err)
			}
		}
		l.proof.Checkpoint = honest[:i]
		if _, err := l.proof.Check(l.leaves[2], l.keys); !errors.Is(err, receipt.ErrNotInLog) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

func TestEveryChangedCharacterOfAPathIsRefused(t *testing.T) {
	t.Parallel()
	l := inLog(t, 2, 7)
	honest := slices.Clone(l.proof.InclusionProof)
	for n, text := range honest {
		for i := range text {
			changed := []byte(text)
			changed[i] ^= 1
			l.proof.InclusionProof = slices.Clone(honest)
			l.proof.InclusionProof[n] = string(changed)
			if _, err := l.proof.Check(l.leaves[2], l.keys); !errors.Is(err, receipt.ErrNotInLog) {
				t.Fatalf("hash %d, character %d: %v", n, i, err)
			}
		}
		l.proof.InclusionProof = slices.Delete(slices.Clone(honest), n, n+1)
		if _, err := l.proof.Check(l.leaves[2], l.keys); !errors.Is(err, receipt.ErrNotInLog) {
			t.Fatalf("without hash %d: %v", n, err)
		}
	}
}

func TestProofOfAnotherLeafOrByAnotherKeyIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for text, change := range map[string]func(*logged){
		"of leaf 3, the receipt names leaf 2": func(l *logged) { l.proof.LogIndex = 3 },
		"not signed by a known key": func(l *logged) {
			l.proof.Checkpoint = string(checkpoint(t, receipt.Checkpoint{Origin: origin, Size: 7}, "b"))
		},
		"not among the 2 of the checkpoint": func(l *logged) {
			l.proof.Checkpoint = string(checkpoint(t, receipt.Checkpoint{Origin: origin, Size: 2}, "a"))
		},
		"names none": func(l *logged) {
			_, l.envelope, _ = complete(t, 1)
		},
	} {
		l := inLog(t, 2, 7)
		change(&l)
		if err := l.verify(nil).Err(); !errors.Is(err, receipt.ErrNotInLog) || !strings.Contains(err.Error(), text) {
			t.Errorf("wanted %q, got %v", text, err)
		}
	}
}

func TestCheckpointOfAnotherSizeOrLogProvesNothing(t *testing.T) {
	t.Parallel()
	l := inLog(t, 2, 7)
	known, err := receipt.OpenCheckpoint([]byte(l.proof.Checkpoint), l.keys)
	if err != nil {
		t.Fatal(err)
	}
	longer, elsewhere := known, known
	longer.Size, elsewhere.Origin = 8, "other.example.com/log"
	for text, pinned := range map[string]receipt.Checkpoint{"for 7 leaves, the given checkpoint for 8": longer, "for other.example.com": elsewhere} {
		if err := l.verify(checkpoint(t, pinned, "a")).Err(); !errors.Is(err, receipt.ErrNotInLog) || !strings.Contains(err.Error(), text) {
			t.Errorf("wanted %q, got %v", text, err)
		}
	}
}

func TestEntryDoesNotDependOnHowTheEnvelopeIsWritten(t *testing.T) {
	t.Parallel()
	_, envelope, _ := complete(t, 1)
	var indented bytes.Buffer
	if err := json.Indent(&indented, envelope, "", "  "); err != nil {
		t.Fatal(err)
	}
	a, err := receipt.EntryOf(envelope)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := receipt.EntryOf(indented.Bytes()); err != nil || a != b {
		t.Errorf("entries %x and %x, error %v", a, b, err)
	}
	for _, none := range []string{"", "{}", `{"payload":"?"}`} {
		if _, err := receipt.EntryOf([]byte(none)); err == nil {
			t.Errorf("%q has an entry", none)
		}
	}
}

func TestLogNameCannotMakeACheckpointLookLikeAReceipt(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "DSSEv1 28 application/vnd.in-toto+json", "a b", "a+b", "a\nb", "é", strings.Repeat("a", 201)} {
		if receipt.CheckOrigin(bad) == nil {
			t.Errorf("%q names a log", bad)
		}
		if _, err := receipt.SignCheckpoint(receipt.Checkpoint{Origin: bad}, testKey(t, "a")); err == nil {
			t.Errorf("a checkpoint of %q was signed", bad)
		}
	}
}

func FuzzOpenCheckpointGivesWhatWasSigned(f *testing.F) {
	honest := checkpoint(f, receipt.Checkpoint{Origin: origin, Size: 7}, "a")
	keys := []signingkey.Public{testKey(f, "a").Public()}
	f.Add(honest)
	f.Add([]byte("x\n0\n\n\n— x AAAA\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := receipt.OpenCheckpoint(text, keys)
		if err != nil {
			return
		}
		if !bytes.HasPrefix(text, []byte(c.String())) {
			t.Fatalf("%q was read as %v", text, c)
		}
	})
}
