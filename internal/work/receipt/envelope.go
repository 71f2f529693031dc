package receipt

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/ground/strictjson"
	"svc.example/internal/render/framelist"
)

// Types of the signed document.
const (
	PayloadType   = "application/vnd.in-toto+json"
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://svc.example/receipt/v1"
	// TestPredicateType is that of a receipt of test mode. It is not a version of the
	// other: a program that knows only receipts must not accept one of these as a
	// receipt.
	TestPredicateType = "https://svc.example/test-receipt/v1"
)

// ErrBadSignature reports that a document is not a receipt that one of the given keys
// has signed: it was changed or truncated, another key signed it, or it is something
// else.
var ErrBadSignature = errors.New("bad signature")

// statement is the in-toto form of a receipt. The order of its fields is the order of
// the signed bytes and must not change.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Receipt   `json:"predicate"`
}

type subject struct {
	Name   string        `json:"name"`
	Digest subjectDigest `json:"digest"`
}

type subjectDigest struct {
	SHA256 string `json:"sha256"`
}

// newStatement names the artifact and the input, with each file of a project, as subjects,
// so that tools that know in-toto but not this predicate can still match files by their
// digests.
func newStatement(r Receipt) statement {
	name := func(f File) subject { return subject{f.Filename, subjectDigest{f.SHA256}} }
	subjects := []subject{name(r.Artifact), name(r.Input.File)}
	for _, f := range r.Input.Files {
		subjects = append(subjects, subject{f.Path, subjectDigest{f.SHA256}})
	}
	made := statement{Type: StatementType, Subject: subjects, PredicateType: PredicateType, Predicate: r}
	if r.Test {
		made.PredicateType = TestPredicateType
	}
	return made
}

// Sign writes the receipt as a DSSE envelope in JSON, without line breaks. Equal
// receipts and keys give equal bytes; times are written in UTC, to the microsecond.
// Sign refuses a receipt that contradicts itself.
func Sign(r Receipt, key signingkey.Key) (json.RawMessage, error) {
	r = r.normal()
	if err := r.consistent(); err != nil {
		return nil, fmt.Errorf("sign receipt %s: %w", r.ReceiptID, err)
	}
	payload, err := json.Marshal(newStatement(r))
	if err != nil {
		return nil, fmt.Errorf("encode receipt %s: %w", r.ReceiptID, err)
	}
	envelope, err := Seal(payload, key)
	if err != nil {
		return nil, fmt.Errorf("sign receipt %s: %w", r.ReceiptID, err)
	}
	return envelope, nil
}

// Seal writes an in-toto statement as a DSSE envelope in JSON, without line breaks. It
// checks nothing about the statement. Ed25519 is deterministic, so equal statements and
// keys give equal bytes.
func Seal(statement []byte, key signingkey.Key) (json.RawMessage, error) {
	envelopes, err := dsse.NewEnvelopeSigner(signer{key})
	if err != nil {
		return nil, err
	}
	envelope, err := envelopes.SignPayload(context.Background(), PayloadType, statement)
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope)
}

// Unseal checks an envelope's signature against the keys and returns its statement,
// of any type. Every error is an [ErrBadSignature].
func Unseal(envelope []byte, keys []signingkey.Public) (statement []byte, err error) {
	signed, err := openSigned(envelope, keys)
	return signed.payload, err
}

// Open checks an envelope's signature against the keys and returns its receipt. Every
// error is an [ErrBadSignature].
func Open(envelope []byte, keys []signingkey.Public) (Receipt, error) {
	signed, err := openSigned(envelope, keys)
	if err != nil {
		return Receipt{}, err
	}
	return signed.statement()
}

// signed is a payload with a valid signature.
type signed struct {
	payload []byte
	keyID   string
}

// openSigned checks form and signature. It picks the key by the envelope's key id; the
// id is only a hint, since the signature is checked against the key that was given.
func openSigned(document []byte, keys []signingkey.Public) (signed, error) {
	var envelope dsse.Envelope
	if err := strictjson.Decode(document, &envelope); err != nil {
		return signed{}, fmt.Errorf("%w: not a DSSE envelope: %w", ErrBadSignature, err)
	}
	if err := plainEnvelope(envelope); err != nil {
		return signed{}, fmt.Errorf("%w: %w", ErrBadSignature, err)
	}
	keyID := envelope.Signatures[0].KeyID
	for _, key := range keys {
		if key.ID() != keyID {
			continue
		}
		verifier, err := dsse.NewEnvelopeVerifier(verifier{key})
		if err != nil {
			return signed{}, fmt.Errorf("%w: %w", ErrBadSignature, err)
		}
		_, payload, err := verifier.VerifyAndDecode(context.Background(), &envelope)
		if err != nil {
			return signed{}, fmt.Errorf("%w: the content does not match the signature of key %s", ErrBadSignature, keyID)
		}
		return signed{payload, keyID}, nil
	}
	return signed{}, fmt.Errorf("%w: it names key %q, which is not among the %d given", ErrBadSignature, keyID, len(keys))
}

// plainEnvelope accepts only the form that Sign writes. DSSE itself allows several
// signatures and other encodings of the same bytes, which would let one receipt have
// many forms.
func plainEnvelope(envelope dsse.Envelope) error {
	if envelope.PayloadType != PayloadType {
		return fmt.Errorf("payload type is %q, wanted %q", envelope.PayloadType, PayloadType)
	}
	if len(envelope.Signatures) != 1 {
		return fmt.Errorf("it has %d signatures, wanted 1", len(envelope.Signatures))
	}
	for _, text := range []string{envelope.Payload, envelope.Signatures[0].Sig} {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || base64.StdEncoding.EncodeToString(raw) != text {
			return errors.New("payload or signature is not standard base64")
		}
	}
	return nil
}

// statement decodes the receipt of a payload whose signature is valid. It writes the
// receipt again and compares bytes: so a member that this version does not know is
// refused instead of ignored.
func (s signed) statement() (Receipt, error) {
	var held statement
	if err := json.Unmarshal(s.payload, &held); err != nil {
		return Receipt{}, fmt.Errorf("%w: the signed content is not a statement: %w", ErrBadSignature, err)
	}
	canonical, err := json.Marshal(newStatement(held.Predicate))
	if err != nil || !bytes.Equal(canonical, s.payload) {
		return Receipt{}, fmt.Errorf("%w: the signed statement is not a receipt of version 1, or its subjects are not its artifact and input", ErrBadSignature)
	}
	if err := held.Predicate.consistent(); err != nil {
		return Receipt{}, fmt.Errorf("%w: the signed receipt contradicts itself: %w", ErrBadSignature, err)
	}
	return held.Predicate, nil
}

// normal returns the receipt in the form that Sign writes. It copies the slices: empty
// ones become [] instead of null, and the caller's are not sorted.
func (r Receipt) normal() Receipt {
	// Microseconds are what both databases store.
	r.StartedAt = r.StartedAt.UTC().Truncate(time.Microsecond)
	r.CompletedAt = r.CompletedAt.UTC().Truncate(time.Microsecond)
	r.Frames = append([]Frame{}, r.Frames...)
	r.Switched = append([]string{}, r.Switched...)
	slices.Sort(r.Switched)
	return r
}

// consistent checks that the members agree with each other. Sign and Open both call it,
// so no signed receipt contradicts itself, and a verifier may compute with its figures.
func (r Receipt) consistent() error {
	for _, f := range []File{r.Input.File, r.Artifact} {
		if !digest.Is(f.SHA256) || f.SizeBytes < 0 {
			return fmt.Errorf("file %q has no proper hash or size", f.Filename)
		}
	}
	if err := errors.Join(r.Input.consistent(), r.consistentColors()); err != nil {
		return err
	}
	if r.FrameCount != len(r.Frames) || r.FrameCount == 0 || r.FrameStep < 1 {
		return fmt.Errorf("frame count is %d, step %d, with %d frames listed", r.FrameCount, r.FrameStep, len(r.Frames))
	}
	list, err := r.listed()
	if err != nil {
		return err
	}
	files, outputs := make(map[string]bool, len(r.Frames)), map[string]bool{}
	for i, f := range r.Frames {
		// Every frame is there, once and in order: a receipt cannot leave one out.
		if belongs := list(i); f.Frame != belongs {
			return fmt.Errorf("frame %d stands where frame %d belongs", f.Frame, belongs)
		}
		if !digest.Is(f.SHA256) || !digest.Is(f.PixelSHA256) || f.SizeBytes < 0 {
			return fmt.Errorf("frame %d has no proper hash or size", f.Frame)
		}
		if !isBareName(f.File) || files[f.File] {
			return fmt.Errorf("frame %d has the unusable file name %q", f.Frame, f.File)
		}
		files[f.File] = true
		if err := errors.Join(r.consistentOrigin(f), f.consistentStrips(), f.consistentOutputs(outputs)); err != nil {
			return err
		}
	}
	// The range's end may lie between two frames, but no further frame may fit before
	// it.
	last := r.Frames[len(r.Frames)-1].Frame
	if last > r.FrameEnd || r.FrameEnd >= last+r.FrameStep || r.Frames[0].Frame != r.FrameStart {
		return fmt.Errorf("frame end is %d after frame %d with step %d", r.FrameEnd, last, r.FrameStep)
	}
	return nil
}

// listed returns which frame belongs at an index: that of the list if there is one,
// otherwise of the range.
func (r Receipt) listed() (belongs func(i int) int, err error) {
	if r.FrameList == "" {
		return func(i int) int { return r.FrameStart + i*r.FrameStep }, nil
	}
	list, err := framelist.Parse(r.FrameList, r.FrameCount)
	if err != nil {
		return nil, fmt.Errorf("the list of frames cannot be read: %w", err)
	}
	if len(list) != r.FrameCount || r.FrameStep != 1 {
		return nil, fmt.Errorf("frame count is %d, step %d, with %d frames in the list", r.FrameCount, r.FrameStep, len(list))
	}
	return func(i int) int { return list[i] }, nil
}

// isBareName refuses names that could leave the folder into which a reader unpacks
// the ZIP.
func isBareName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\\x00")
}

// signer and verifier adapt the keys to package dsse.
type signer struct{ key signingkey.Key }

func (s signer) Sign(_ context.Context, data []byte) ([]byte, error) {
	return s.key.SignRaw(data)
}

func (s signer) KeyID() (string, error) { return s.key.Public().ID(), nil }

type verifier struct{ key signingkey.Public }

func (v verifier) Verify(_ context.Context, data, signature []byte) error {
	if !v.key.Verify(data, signature) {
		return errors.New("the signature does not match")
	}
	return nil
}

func (v verifier) KeyID() (string, error) { return v.key.ID(), nil }

func (v verifier) Public() crypto.PublicKey { return ed25519.PublicKey(v.key.Raw()) }
