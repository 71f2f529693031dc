package receipt

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/signingkey"
)

// Checkpoint states the content of the whole log: its first Size leaves have this
// root. It is signed in the C2SP forms tlog-checkpoint and signed-note.
type Checkpoint struct {
	Origin string // the log's name: host and path, without spaces
	Size   int64  // leaves, 0 or more
	Root   tlog.Hash
}

// String is the signed text: origin, size and root, a line each (C2SP tlog-checkpoint).
// It ends with a line break. Changing a byte of this form would break every stored
// checkpoint.
func (c Checkpoint) String() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root)
}

// CheckOrigin refuses text that cannot name a log: 1 to 200 visible ASCII characters
// without "+", which signed notes reserve. A name has no spaces, so a checkpoint can
// never equal a text that DSSE signs with the same key.
func CheckOrigin(origin string) error {
	if origin == "" || len(origin) > 200 || strings.ContainsFunc(origin, func(r rune) bool { return r <= ' ' || r > '~' || r == '+' }) {
		return fmt.Errorf("%q cannot name a log: wanted 1 to 200 visible ASCII characters without +", origin)
	}
	return nil
}

// SignCheckpoint writes the checkpoint as a signed note. Equal checkpoints and keys
// give equal bytes.
func SignCheckpoint(c Checkpoint, key signingkey.Key) ([]byte, error) {
	if err := CheckOrigin(c.Origin); err != nil {
		return nil, fmt.Errorf("sign checkpoint: %w", err)
	}
	known, err := noteVerifier(c.Origin, key.Public())
	if err != nil {
		return nil, fmt.Errorf("sign checkpoint: %w", err)
	}
	text, err := note.Sign(&note.Note{Text: c.String()}, noteSigner{known, key})
	if err != nil {
		return nil, fmt.Errorf("sign checkpoint: %w", err)
	}
	return text, nil
}

// OpenCheckpoint reads a signed note. One of the keys must have signed it under the
// name in its first line. Signatures of others, such as witnesses, are allowed and
// ignored. Every error is an [ErrNotInLog].
func OpenCheckpoint(text []byte, keys []signingkey.Public) (Checkpoint, error) {
	// The name is read from the text itself; the signature then proves that a known key
	// signed under that name. Whether it is the expected log is for the caller.
	origin, _, _ := strings.Cut(string(text), "\n")
	if err := CheckOrigin(origin); err != nil {
		return Checkpoint{}, fmt.Errorf("%w: not a checkpoint: %w", ErrNotInLog, err)
	}
	var verifiers []note.Verifier
	for _, key := range keys {
		verifier, err := noteVerifier(origin, key)
		if err != nil {
			return Checkpoint{}, fmt.Errorf("%w: %w", ErrNotInLog, err)
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open(text, note.VerifierList(verifiers...))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: the checkpoint is not signed by a known key: %w", ErrNotInLog, err)
	}
	// Package note ignores unused bits of base64, in which a changed text could hide.
	for _, s := range opened.Sigs {
		if raw, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil || len(raw) == 0 {
			return Checkpoint{}, fmt.Errorf("%w: the checkpoint's signature is not standard base64", ErrNotInLog)
		}
	}
	c, err := ParseCheckpoint(opened.Text)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrNotInLog, err)
	}
	return c, nil
}

// ParseCheckpoint reads the signed text, whose signature the caller has checked. Lines after the root are extensions; they
// state nothing about the leaves. Size and root must be written as String writes them,
// so that a checkpoint has one form.
func ParseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) < 4 {
		return Checkpoint{}, errors.New("the checkpoint is truncated")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, fmt.Errorf("the checkpoint's size is %q", lines[1])
	}
	root, err := tlog.ParseHash(lines[2])
	if err != nil || root.String() != lines[2] {
		return Checkpoint{}, fmt.Errorf("the checkpoint's root is %q", lines[2])
	}
	return Checkpoint{Origin: lines[0], Size: size, Root: root}, nil
}

// Signatures is the number of a signed note's signature lines, good or not.
func Signatures(text string) int {
	_, lines, _ := strings.Cut(text, "\n\n")
	return strings.Count(lines, "\n")
}

// LogVerifier is the key as C2SP signed-note writes it, NAME+ID+KEY, for the log of that name:
// what witnesses of others are given.
func LogVerifier(origin string, key signingkey.Public) (string, error) {
	return note.NewEd25519VerifierKey(origin, key.Raw())
}

// noteVerifier makes the verifier of a key under the log's name. Package note knows
// keys by name and a hash of both, so the same key under another name does not verify.
func noteVerifier(origin string, key signingkey.Public) (note.Verifier, error) {
	text, err := note.NewEd25519VerifierKey(origin, key.Raw())
	if err != nil {
		return nil, err
	}
	return note.NewVerifier(text)
}

// noteSigner adapts a key to package note.
type noteSigner struct {
	note.Verifier
	key signingkey.Key
}

func (s noteSigner) Sign(text []byte) ([]byte, error) {
	return s.key.SignRaw(text)
}
