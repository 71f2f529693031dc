package receipt

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/signingkey"
)

// ErrNotInLog reports that a receipt is not proven to be in the log: it names another
// leaf, the path does not lead to the checkpoint's root, or the checkpoint is not the
// log's.
var ErrNotInLog = errors.New("not in the log")

// Entry is the log's leaf for a receipt: the SHA-256 of the signed payload. It does
// not depend on the JSON around the payload, and it reveals nothing of the receipt.
type Entry [sha256.Size]byte

// EntryOf returns the log entry of an envelope. It does not check the signature: the
// log stores entries of envelopes that the service has signed a moment before, and a
// verifier has checked the signature already.
func EntryOf(envelope []byte) (Entry, error) {
	var outer struct {
		Payload string `json:"payload"`
	}
	if err := json.Unmarshal(envelope, &outer); err != nil {
		return Entry{}, fmt.Errorf("read the envelope: %w", err)
	}
	payload, err := base64.StdEncoding.DecodeString(outer.Payload)
	if err != nil || len(payload) == 0 {
		return Entry{}, errors.Join(errors.New("the envelope has no payload"), err)
	}
	return sha256.Sum256(payload), nil
}

// LeafHash is the entry's hash in the tree (RFC 6962 2.1).
func (e Entry) LeafHash() tlog.Hash { return tlog.RecordHash(e[:]) }

// Inclusion proves that a receipt is leaf LogIndex, from 0, of the checkpoint's log.
// The path is shorter than 64 hashes for any log.
type Inclusion struct {
	LogIndex       int64    `json:"log_index"`
	InclusionProof []string `json:"inclusion_proof" doc:"The path from the leaf to the root (RFC 6962 2.1.1), base64, the leaf's neighbour first."`
	Checkpoint     string   `json:"checkpoint" doc:"C2SP tlog-checkpoint: a signed note."`
}

// NewInclusion encodes a proof for the wire. It checks nothing; see [Inclusion.Check].
func NewInclusion(index int64, path tlog.RecordProof, checkpoint []byte) Inclusion {
	p := Inclusion{LogIndex: index, InclusionProof: make([]string, len(path)), Checkpoint: string(checkpoint)}
	for i, hash := range path {
		p.InclusionProof[i] = hash.String()
	}
	return p
}

// Check verifies that the proof leads from the entry to the checkpoint's root, and that
// one of the keys has signed the checkpoint. It returns that checkpoint. Every error is
// an [ErrNotInLog].
func (p Inclusion) Check(entry Entry, keys []signingkey.Public) (Checkpoint, error) {
	c, err := OpenCheckpoint([]byte(p.Checkpoint), keys)
	if err != nil {
		return c, err
	}
	path := make(tlog.RecordProof, len(p.InclusionProof))
	for i, text := range p.InclusionProof {
		// ParseHash accepts other encodings of the same bytes. Comparing the text
		// leaves one form of every proof, so that a changed character never passes.
		if path[i], err = tlog.ParseHash(text); err != nil || path[i].String() != text {
			return c, fmt.Errorf("%w: hash %d of the path is not 32 bytes in base64", ErrNotInLog, i)
		}
	}
	if p.LogIndex < 0 || p.LogIndex >= c.Size {
		return c, fmt.Errorf("%w: leaf %d is not among the %d of the checkpoint", ErrNotInLog, p.LogIndex, c.Size)
	}
	if err := tlog.CheckRecord(path, c.Size, c.Root, p.LogIndex, entry.LeafHash()); err != nil {
		return c, fmt.Errorf("%w: the path from leaf %d does not lead to the root of the %d leaves", ErrNotInLog, p.LogIndex, c.Size)
	}
	return c, nil
}

// InLog adds the check "log" to the report of a valid receipt: the receipt is the leaf
// that it names, in the log that a key has signed. With a nil proof the check is
// Skipped; on the report of an invalid receipt it does nothing. pinned, which may be
// nil, is a checkpoint from another source: the proof must have the same root. Only a
// pinned checkpoint can uncover a log that shows different readers different histories.
func (r *Report) InLog(p *Inclusion, keys []signingkey.Public, pinned []byte) {
	switch {
	case r.Receipt == nil:
		return
	case p == nil:
		r.add("log", Skipped, "no proof was given: that the receipt is in the log is not checked")
		return
	}
	c, err := r.checkLog(*p, keys, pinned)
	if err != nil {
		r.notInLog("log", err)
		return
	}
	r.add("log", OK, "leaf %d of the %d in %s, root %s", p.LogIndex, c.Size, c.Origin, c.Root)
}

// notInLog records a failure of the proof.
func (r *Report) notInLog(name string, err error) {
	text := strings.TrimPrefix(err.Error(), ErrNotInLog.Error()+": ")
	r.Checks = append(r.Checks, Check{Name: name, Status: Failed, Text: text, kind: ErrNotInLog})
}

// Witnessed adds the check "witness" to the report of a valid receipt: what a caller found
// of co-signatures of the proof's checkpoint.
func (r *Report) Witnessed(status Status, text string) {
	r.Checks = append(r.Checks, Check{Name: "witness", Status: status, Text: text, kind: ErrNotInLog})
}

// checkLog compares cheap facts before it computes: that the proof is of the leaf that
// the signed receipt names, then the path, then the pinned checkpoint. Roots can be
// compared only at one size, so a pinned checkpoint of another size proves nothing
// here.
func (r *Report) checkLog(p Inclusion, keys []signingkey.Public, pinned []byte) (Checkpoint, error) {
	if named := r.Receipt.LogIndex; named == nil || *named != p.LogIndex {
		return Checkpoint{}, fmt.Errorf("%w: the proof is of leaf %d, the receipt names %s", ErrNotInLog, p.LogIndex, leafName(named))
	}
	c, err := p.Check(r.entry, keys)
	if err != nil || pinned == nil {
		return c, err
	}
	known, err := OpenCheckpoint(pinned, keys)
	switch {
	case err != nil:
		return c, fmt.Errorf("%w (the given checkpoint)", err)
	case known.Origin != c.Origin:
		return c, fmt.Errorf("%w: the proof is for %s, the given checkpoint for %s", ErrNotInLog, c.Origin, known.Origin)
	case known.Size != c.Size:
		return c, fmt.Errorf("%w: the proof is for %d leaves, the given checkpoint for %d: fetch the proof for the same size, or walk the log", ErrNotInLog, c.Size, known.Size)
	case known.Root != c.Root:
		return c, fmt.Errorf("%w: the log has two histories: %d leaves have root %s in the proof and %s in the given checkpoint", ErrNotInLog, c.Size, c.Root, known.Root)
	}
	return c, nil
}

func leafName(index *int64) string {
	if index == nil {
		return "none"
	}
	return fmt.Sprint("leaf ", *index)
}
