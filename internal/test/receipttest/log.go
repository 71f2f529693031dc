package receipttest

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// Origin is the name of the logs that Prove makes.
const Origin = "renders.example.com/log"

// Leaves returns the leaves of a log of size leaves in which the envelope is leaf
// index, counted from 0. The other leaves are made up.
func Leaves(envelope []byte, index, size int64) ([]receipt.Entry, error) {
	leaves := make([]receipt.Entry, size)
	for i := range leaves {
		leaves[i] = receipt.Entry{byte(i), byte(i >> 8), 7}
	}
	var err error
	leaves[index], err = receipt.EntryOf(envelope)
	return leaves, err
}

// Prove makes the inclusion proof of one leaf among leaves, with a checkpoint that
// key signs.
func Prove(leaves []receipt.Entry, index int64, key signingkey.Key) (receipt.Inclusion, error) {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var hashes []tlog.Hash
		for _, i := range indexes {
			hashes = append(hashes, stored[i])
		}
		return hashes, nil
	})
	for i, leaf := range leaves {
		hashes, err := tlog.StoredHashes(int64(i), leaf[:], reader)
		if err != nil {
			return receipt.Inclusion{}, fmt.Errorf("hash leaf %d: %w", i, err)
		}
		stored = append(stored, hashes...)
	}
	size := int64(len(leaves))
	root, err := tlog.TreeHash(size, reader)
	if err != nil {
		return receipt.Inclusion{}, fmt.Errorf("compute the root: %w", err)
	}
	path, err := tlog.ProveRecord(size, index, reader)
	if err != nil {
		return receipt.Inclusion{}, fmt.Errorf("prove leaf %d: %w", index, err)
	}
	text, err := receipt.SignCheckpoint(receipt.Checkpoint{Origin: Origin, Size: size, Root: root}, key)
	return receipt.NewInclusion(index, path, text), err
}
