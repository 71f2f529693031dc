package receiptlog

import (
	"fmt"
	"math/bits"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// frontier is the right edge of a tree: the roots of its complete subtrees, largest
// first, one for each set bit of size. Appending and computing the root need nothing
// else, so both cost the same for any size of the log. The zero frontier is the empty
// log. Not safe for concurrent use; the log's row lock orders appends.
type frontier struct {
	size  int64
	peaks []tlog.Hash
}

// add appends a leaf. It returns the hashes that the leaf completes, by level: its own,
// that of its pair, of its four, and so on. Each level above the leaf's own consumes
// one peak, and the highest completed hash becomes the new last peak.
func (f *frontier) add(leaf tlog.Hash) ([]tlog.Hash, error) {
	completed, err := tlog.StoredHashesForRecordHash(f.size, leaf, f)
	if err != nil {
		return nil, fmt.Errorf("append leaf %d: %w", f.size, err)
	}
	merged := len(completed) - 1
	f.peaks = append(f.peaks[:len(f.peaks)-merged], completed[merged])
	f.size++
	return completed, nil
}

// root is the RFC 6962 root over all leaves; that of the empty log is the hash of
// nothing.
func (f *frontier) root() (tlog.Hash, error) { return tlog.TreeHash(f.size, f) }

// ReadHashes returns peaks by their storage index. tlog requests no other hash when
// it appends or computes the root.
func (f *frontier) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		if f.size>>level&1 == 0 || n != f.size>>level-1 {
			return nil, fmt.Errorf("hash %d of level %d is not on the frontier of %d leaves", n, level, f.size)
		}
		hashes[i] = f.peaks[bits.OnesCount64(uint64(f.size)>>(level+1))]
	}
	return hashes, nil
}

// text is the column's form: the peaks in hex, one after the other, without separators.
func (f *frontier) text() string {
	var text strings.Builder
	for _, peak := range f.peaks {
		text.WriteString(hexOf(peak))
	}
	return text.String()
}

// parseFrontier reads the column. The number of peaks follows from size, so a row whose
// two columns do not belong together is found here.
func parseFrontier(size int64, text string) (*frontier, error) {
	f := &frontier{size: size}
	count := bits.OnesCount64(uint64(size))
	if len(text) != count*2*tlog.HashSize {
		return nil, fmt.Errorf("the log's row is damaged: %d leaves need %d peaks, it has %d characters", size, count, len(text))
	}
	for i := range count {
		peak, err := parseHash(text[i*2*tlog.HashSize : (i+1)*2*tlog.HashSize])
		if err != nil {
			return nil, fmt.Errorf("the log's row is damaged: %w", err)
		}
		f.peaks = append(f.peaks, peak)
	}
	return f, nil
}
