// Command outside checks with a library of others that an entry is in a log. It
// is part of scripts/verify-outside, shares no code with svc, and is a module of
// its own, so that svc does not depend on it.
//
//	go run . INDEX SIZE ROOT ENTRY [HASH...]
//
// ENTRY is hex, ROOT and the hashes of the path are base64. It exits with 1 when
// the path does not lead from the entry to the root.
package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
)

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: outside INDEX SIZE ROOT ENTRY [HASH...]")
		os.Exit(2)
	}
	if err := check(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "outside:", err)
		os.Exit(1)
	}
}

func check(words []string) error {
	index, err := strconv.ParseUint(words[0], 10, 63)
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	size, err := strconv.ParseUint(words[1], 10, 63)
	if err != nil {
		return fmt.Errorf("read the size: %w", err)
	}
	entry, err := hex.DecodeString(words[3])
	if err != nil {
		return fmt.Errorf("read the entry: %w", err)
	}
	var hashes [][]byte
	for _, word := range append([]string{words[2]}, words[4:]...) {
		hash, err := base64.StdEncoding.DecodeString(word)
		if err != nil {
			return fmt.Errorf("read a hash: %w", err)
		}
		hashes = append(hashes, hash)
	}
	leaf := rfc6962.DefaultHasher.HashLeaf(entry)
	return proof.VerifyInclusion(rfc6962.DefaultHasher, index, size, leaf, hashes[1:], hashes[0])
}
