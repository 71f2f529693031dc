package receiptlog

import (
	"fmt"
	"math/bits"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// edge is the right edge of a tree: the roots of its complete subtrees, largest
// first, one for each set bit of size. Appending and computing the root need nothing
// else, so both cost the same for any size of the log.
type edge struct {
	size  int64
	peaks []tlog.Hash
}

// add appends a leaf. It returns the hashes that the leaf completes, by level: its
// own, that of its pair, of its four, and so on.
func (e *edge) add(leaf tlog.Hash) ([]tlog.Hash, error) {
	completed, err := tlog.StoredHashesForRecordHash(e.size, leaf, e)
	if err != nil {
		return nil, fmt.Errorf("append leaf %d: %w", e.size, err)
	}
	merged := len(completed) - 1
	e.peaks = append(e.peaks[:len(e.peaks)-merged], completed[merged])
	e.size++
	return completed, nil
}

func (e *edge) root() (tlog.Hash, error) { return tlog.TreeHash(e.size, e) }

// ReadHashes returns peaks by their storage index. tlog requests no other hash when
// it appends or computes the root.
func (e *edge) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		if e.size>>level&1 == 0 || n != e.size>>level-1 {
			return nil, fmt.Errorf("hash %d of level %d is not on the edge of %d leaves", n, level, e.size)
		}
		hashes[i] = e.peaks[bits.OnesCount64(uint64(e.size)>>(level+1))]
	}
	return hashes, nil
}

func (e *edge) text() string {
	var text strings.Builder
	for _, peak := range e.peaks {
		text.WriteString(hexOf(peak))
	}
	return text.String()
}

func parseEdge(size int64, text string) (*edge, error) {
	e := &edge{size: size}
	count := bits.OnesCount64(uint64(size))
	if len(text) != count*2*tlog.HashSize {
		return nil, fmt.Errorf("the log's row is damaged: %d leaves need %d peaks, it has %d characters", size, count, len(text))
	}
	for i := range count {
		peak, err := parseHash(text[i*2*tlog.HashSize : (i+1)*2*tlog.HashSize])
		if err != nil {
			return nil, fmt.Errorf("the log's row is damaged: %w", err)
		}
		e.peaks = append(e.peaks, peak)
	}
	return e, nil
}
