package benchmark

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// Types of the two statements. They are inside the signed bytes, so a receipt can never
// pass for a record.
const (
	ReceiptType = "https://svc.example/benchmark/v1"
	RecordType  = "https://svc.example/benchmark-result/v1"
)

// ErrMalformed reports that a receipt contradicts itself or that a member is
// missing.
var ErrMalformed = errors.New("malformed benchmark receipt")

// statement is the in-toto form of a receipt or a record. The order of the fields is the
// order of the signed bytes.
type statement[P any] struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     P         `json:"predicate"`
}

// subject names what a statement is about, by its SHA-256.
type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// named returns a subject with one digest, in hex.
func named(name, sha256 string) subject {
	return subject{name, map[string]string{"sha256": sha256}}
}

// The subjects of a receipt are the compared pictures, and the file of its challenge's.
func (r Receipt) statement() statement[Receipt] {
	s := statement[Receipt]{receipt.StatementType, nil, ReceiptType, r}
	for _, scene := range r.Scenes {
		s.Subject = append(s.Subject, named(scene.Scene, scene.PixelSHA256))
	}
	if r.Challenge != nil {
		s.Subject = append(s.Subject, named("challenge", r.Challenge.FrameSHA256))
	}
	return s
}

// Sign writes the receipt as a signed envelope. Times are written in UTC, to the
// microsecond. Error: ErrMalformed. It signs nothing that Open would refuse.
func Sign(r Receipt, key signingkey.Key) (json.RawMessage, error) {
	r = r.normal()
	if err := r.consistent(); err != nil {
		return nil, err
	}
	payload, err := json.Marshal(r.statement())
	if err != nil {
		return nil, fmt.Errorf("encode benchmark receipt: %w", err)
	}
	return receipt.Seal(payload, key)
}

// Open reads a signed receipt. Errors: receipt.ErrBadSignature, ErrMalformed.
// The bytes must be exactly those that Sign would write: with a second spelling the same
// result could be sent twice. key is the one that the sender claims; whether it may use
// that key is for the caller to check.
func Open(envelope []byte, key signingkey.Public) (Receipt, error) {
	payload, err := receipt.Unseal(envelope, []signingkey.Public{key})
	if err != nil {
		return Receipt{}, err
	}
	var held statement[Receipt]
	if err := json.Unmarshal(payload, &held); err != nil {
		return Receipt{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	canonical, err := json.Marshal(held.Predicate.normal().statement())
	if err != nil || !bytes.Equal(canonical, payload) {
		return Receipt{}, fmt.Errorf("%w: it is not a benchmark receipt of version 1 in the form that is written", ErrMalformed)
	}
	return held.Predicate, held.Predicate.consistent()
}

// SignRecord writes the service's statement about the receipt in envelope.
// Repeating it with equal arguments gives equal bytes. Errors: those of a malformed
// envelope and of sealing.
func SignRecord(r Record, envelope []byte, key signingkey.Key) (json.RawMessage, error) {
	subject, err := PayloadSHA256(envelope)
	if err != nil {
		return nil, err
	}
	r.Receipt, r.ReceivedAt = r.Receipt.normal(), r.ReceivedAt.UTC().Truncate(time.Microsecond)
	payload, err := json.Marshal(r.statement(subject))
	if err != nil {
		return nil, fmt.Errorf("encode benchmark record %s: %w", r.ResultID, err)
	}
	return receipt.Seal(payload, key)
}

// The subject of a record is the worker's signed receipt.
func (r Record) statement(receiptSHA256 string) statement[Record] {
	return statement[Record]{receipt.StatementType, []subject{named("benchmark-receipt", receiptSHA256)}, RecordType, r}
}

// OpenRecord reads the service's statement and checks that it is about the worker's
// envelope. Error: receipt.ErrBadSignature. keys are all public keys of the service, old
// ones too. A record about another receipt counts as a bad signature.
func OpenRecord(record, envelope []byte, keys []signingkey.Public) (Record, error) {
	payload, err := receipt.Unseal(record, keys)
	if err != nil {
		return Record{}, err
	}
	var held statement[Record]
	if err := json.Unmarshal(payload, &held); err != nil {
		return Record{}, fmt.Errorf("%w: %w", receipt.ErrBadSignature, err)
	}
	subject, err := PayloadSHA256(envelope)
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", receipt.ErrBadSignature, err)
	}
	canonical, err := json.Marshal(held.Predicate.statement(subject))
	if err != nil || !bytes.Equal(canonical, payload) {
		return Record{}, fmt.Errorf("%w: it is not a benchmark record of version 1, or speaks of another receipt", receipt.ErrBadSignature)
	}
	return held.Predicate, nil
}

// PayloadSHA256 identifies a signed document by its payload, in hex. It does not depend on
// the JSON around the payload. Two envelopes with one payload have one identity, whatever
// their spacing, order of members and signatures.
func PayloadSHA256(envelope []byte) (string, error) {
	entry, err := receipt.EntryOf(envelope)
	return hex.EncodeToString(entry[:]), err
}

// normal brings times into the form that is signed: JSON would keep a zone and
// nanoseconds, and equal times would have unequal bytes.
func (r Receipt) normal() Receipt {
	r.StartedAt = r.StartedAt.UTC().Truncate(time.Microsecond)
	r.CompletedAt = r.CompletedAt.UTC().Truncate(time.Microsecond)
	return r
}

// maxText bounds each text of a receipt, in bytes. Names of devices and systems are far
// shorter; pages and indexes must hold them.
const maxText = 200

// consistent checks that the members agree with each other. It runs before signing and
// after reading. Comparisons are written so that NaN fails them.
func (r Receipt) consistent() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
	for name, text := range map[string]string{
		"benchmark_version": r.BenchmarkVersion, "scene_version": r.SceneVersion, "scoring_version": r.ScoringVersion,
		"gpu_name": r.GPUName, "gpu_vendor": r.GPUVendor, "gpu_driver": r.GPUDriver, "cpu_name": r.CPUName, "os": r.OS,
		"blender_version": r.BlenderVersion, "blender_build_hash": r.BlenderBuildHash,
	} {
		if text == "" || len(text) > maxText || !plain(text) {
			return wrong("%s must be plain text of 1 to %d bytes, or %q", name, maxText, Unknown)
		}
	}
	for name, size := range map[string]*int64{"gpu_memory_bytes": r.GPUMemoryBytes, "ram_bytes": r.RAMBytes} {
		if size != nil && *size <= 0 {
			return wrong("%s must be above 0, or null", name)
		}
	}
	if r.RenderDevice != GPU && r.RenderDevice != CPU {
		return wrong("render_device must be GPU or CPU")
	}
	if len(r.Scenes) == 0 || len(r.Scenes) > 16 {
		return wrong("it has %d scenes", len(r.Scenes))
	}
	total, seen := 0.0, map[string]bool{}
	for _, s := range r.Scenes {
		if err := s.consistent(); err != nil {
			return wrong("scene %q: %w", s.Scene, err)
		}
		if seen[s.Scene] {
			return wrong("scene %q stands twice", s.Scene)
		}
		seen[s.Scene] = true
		total += s.RenderSeconds
	}
	if r.Challenge != nil {
		if err := r.Challenge.consistent(); err != nil {
			return wrong("challenge: %w", err)
		}
	}
	// A millisecond covers the rounding of a sum of decimals.
	if !(math.Abs(total-r.RenderSeconds) < 1e-3) {
		return wrong("render_seconds is %v, the scenes' sum is %v", r.RenderSeconds, total)
	}
	// What was timed lies within the run.
	if took := r.CompletedAt.Sub(r.StartedAt).Seconds(); took < total-1e-3 || r.StartedAt.Unix() <= 0 {
		return wrong("%v seconds on the clock within a run of %v", total, took)
	}
	return nil
}

// consistent checks one scene. A sample rate is recomputed, not believed.
func (s SceneRun) consistent() error {
	switch {
	case s.Scene == "" || len(s.Scene) > maxText || !plain(s.Scene):
		return errors.New("it has no proper name")
	case s.Samples < 1 || s.Samples > 1<<40:
		return fmt.Errorf("samples is %d", s.Samples)
	case !(s.RenderSeconds > 0 && s.RenderSeconds < 86400):
		return fmt.Errorf("render_seconds is %v", s.RenderSeconds)
	case s.SamplesPerMinute != Rate(s.Samples, s.RenderSeconds):
		return fmt.Errorf("samples_per_minute is %v, %d samples in %v s are %v", s.SamplesPerMinute, s.Samples, s.RenderSeconds, Rate(s.Samples, s.RenderSeconds))
	case !digest.Is(s.PixelSHA256) || !digest.Is(s.ReferenceSHA256):
		return errors.New("it has no proper hashes")
	case !(s.Difference >= 0 && s.Difference <= 1):
		return fmt.Errorf("difference is %v", s.Difference)
	}
	return nil
}

// plain refuses text that could break a page, a log or a database.
func plain(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }) < 0
}
