package receipt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/ground/strictjson"
)

// FrameSetType is the type of the statement about the frames of a receipt.
const FrameSetType = "https://svc.example/frame-set/v1"

// testFrameSetType is that type of a receipt of test mode, of which no frame is proven.
const testFrameSetType = "https://svc.example/test-frame-set/v1"

// frameSet states how many frames a job has and the root of the tree over them (RFC 6962),
// so that one frame can be shown without the others. A leaf is the frame's member of the
// receipt, as the receipt has it.
type frameSet struct {
	ReceiptID  string `json:"receipt_id"`
	JobID      string `json:"job_id"`
	FrameCount int    `json:"frame_count"`
	FramesRoot string `json:"frames_root"` // base64, as in a checkpoint
}

// frameStatement is the in-toto form of a frameSet. Its subject is the artifact.
type frameStatement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     frameSet  `json:"predicate"`
}

// WithFrameSet adds the signed statement about its frames to a receipt that is to be signed
// with the same key.
func WithFrameSet(r Receipt, key signingkey.Key) (Receipt, error) {
	r = r.normal()
	text, err := r.frameStatement()
	if err != nil {
		return r, fmt.Errorf("the tree of the frames of receipt %s: %w", r.ReceiptID, err)
	}
	if r.FrameSet, err = Seal(text, key); err != nil {
		return r, fmt.Errorf("sign the frames of receipt %s: %w", r.ReceiptID, err)
	}
	return r, nil
}

// frameStatement is what a receipt's FrameSet states.
func (r Receipt) frameStatement() ([]byte, error) {
	tree, err := treeOf(r.Frames)
	if err != nil {
		return nil, err
	}
	root, err := tlog.TreeHash(int64(len(r.Frames)), tree)
	if err != nil {
		return nil, err
	}
	kind := FrameSetType
	if r.Test {
		kind = testFrameSetType
	}
	return json.Marshal(frameStatement{
		Type: StatementType, Subject: []subject{{r.Artifact.Filename, subjectDigest{r.Artifact.SHA256}}}, PredicateType: kind,
		Predicate: frameSet{r.ReceiptID, r.JobID, r.FrameCount, root.String()},
	})
}

// tree keeps the hashes of a tree over frames.
type tree []tlog.Hash

// ReadHashes implements tlog.HashReader.
func (t tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		found[i] = t[index]
	}
	return found, nil
}

func treeOf(frames []Frame) (t tree, err error) {
	for i, f := range frames {
		leaf, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		hashes, err := tlog.StoredHashes(int64(i), leaf, t)
		if err != nil {
			return nil, err
		}
		t = append(t, hashes...)
	}
	return t, nil
}

// FrameProof shows one frame of a receipt without the others.
type FrameProof struct {
	FrameSet json.RawMessage `json:"frame_set"` // the receipt's
	Frame    Frame           `json:"frame"`
	Index    int64           `json:"index"` // of the frame among them, from 0
	Path     []string        `json:"path"`  // base64, from the leaf's neighbour to the root
}

// ErrNoFrameSet reports a receipt that was signed before there were trees over frames.
var ErrNoFrameSet = errors.New("the receipt has no tree over its frames: it was signed by an earlier version")

// ProveFrame makes the proof of a frame, by its number. It needs no key. Error:
// ErrNoFrameSet; any other error means that there is no such frame.
func ProveFrame(r Receipt, frame int) (FrameProof, error) {
	if r.FrameSet == nil {
		return FrameProof{}, ErrNoFrameSet
	}
	for i, f := range r.Frames {
		if f.Frame != frame {
			continue
		}
		tree, err := treeOf(r.Frames)
		if err != nil {
			return FrameProof{}, err
		}
		path, err := tlog.ProveRecord(int64(len(r.Frames)), int64(i), tree)
		if err != nil {
			return FrameProof{}, err
		}
		p := FrameProof{FrameSet: r.FrameSet, Frame: f, Index: int64(i), Path: []string{}}
		for _, hash := range path {
			p.Path = append(p.Path, hash.String())
		}
		return p, nil
	}
	return FrameProof{}, fmt.Errorf("the receipt has no frame %d", frame)
}

// VerifyFrame checks a frame's proof against the keys, and the picture, which may be nil,
// against the frame. Its checks are "signature", "frame" and, of pictures, "pictures". A key
// that has ended is refused: nothing shows where in the log the statement was signed.
func VerifyFrame(document []byte, keys []signingkey.Public, history History, pictures fs.FS) (report Report, p FrameProof) {
	if err := strictjson.Decode(document, &p); err != nil {
		_ = report.distrust("signature", fmt.Errorf("it is no proof of a frame: %w", err))
		return report, p
	}
	signed, err := openSigned(p.FrameSet, keys)
	if err != nil {
		_ = report.distrust("signature", err)
		return report, p
	}
	report.KeyID = signed.keyID
	report.add("signature", OK, "Ed25519, key %s", signed.keyID)
	set, err := p.check(signed.payload)
	if err != nil {
		_ = report.distrust("frame", err)
		return report, p
	}
	report.add("frame", OK, "frame %d is number %d of the %d of receipt %s, job %s", p.Frame.Frame, p.Index+1, set.FrameCount, set.ReceiptID, set.JobID)
	switch key, found := history.find(signed.keyID); {
	case history == nil:
		report.add("key", Skipped, "no history of keys was given: whether the key had ended is not checked")
	case !found:
		_ = report.distrust("key", fmt.Errorf("key %s is not in the history of keys", signed.keyID))
	case key.End != nil && key.End.Reason == Compromised:
		_ = report.distrust("key", errors.New("it is compromised, and one frame alone does not show that it was signed before: the whole receipt does"))
	default:
		report.add("key", OK, "nobody is known to have it besides the service")
	}
	if pictures == nil {
		report.add("pictures", Skipped, "no picture was given: its SHA-256 is %s, that of its pixels %s", p.Frame.SHA256, p.Frame.PixelSHA256)
		return report, p
	}
	report.Receipt = &Receipt{Frames: []Frame{p.Frame}}
	report.InPictures(pictures)
	report.Receipt = nil
	return report, p
}

// check compares a proof with the signed statement.
func (p FrameProof) check(statement []byte) (frameSet, error) {
	var held frameStatement
	if err := json.Unmarshal(statement, &held); err != nil {
		return frameSet{}, fmt.Errorf("the signed content is not a statement: %w", err)
	}
	again, err := json.Marshal(held)
	if err != nil || !bytes.Equal(again, statement) || held.Type != StatementType || held.PredicateType != FrameSetType || len(held.Subject) != 1 {
		return frameSet{}, errors.New("the signed statement is not about the frames of a receipt")
	}
	set := held.Predicate
	root, err := tlog.ParseHash(set.FramesRoot)
	if err != nil {
		return set, fmt.Errorf("the signed root is %q", set.FramesRoot)
	}
	path := make(tlog.RecordProof, len(p.Path))
	for i, text := range p.Path {
		if path[i], err = tlog.ParseHash(text); err != nil || path[i].String() != text {
			return set, fmt.Errorf("hash %d of the path is not 32 bytes in base64", i)
		}
	}
	leaf, err := json.Marshal(p.Frame)
	if err != nil {
		return set, err
	}
	if p.Index < 0 || p.Index >= int64(set.FrameCount) || tlog.CheckRecord(path, int64(set.FrameCount), root, p.Index, tlog.RecordHash(leaf)) != nil {
		return set, fmt.Errorf("frame %d is not number %d of the %d: the path does not lead to the signed root", p.Frame.Frame, p.Index+1, set.FrameCount)
	}
	return set, nil
}

// checkFrameSet checks that the FrameSet of a receipt, where it has one, is about its frames
// and signed by the receipt's key.
func (r Receipt) checkFrameSet(keys []signingkey.Public, keyID string) error {
	if r.FrameSet == nil {
		return nil
	}
	set, err := openSigned(r.FrameSet, keys)
	if err != nil {
		return err
	}
	want, err := r.frameStatement()
	if err != nil {
		return err
	}
	if set.keyID != keyID || !bytes.Equal(set.payload, want) {
		return errors.New("the signed statement about the frames is not about those of the receipt")
	}
	return nil
}
