package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// What [Verify] can find wrong.
var (
	// ErrBadSignature: the receipt was changed, or none of the keys signed it.
	ErrBadSignature = receipt.ErrBadSignature
	// ErrBadArtifact: the ZIP is not the one that the receipt describes.
	ErrBadArtifact = receipt.ErrBadArtifact
	// ErrNotInLog: the receipt is not proven to be in the log.
	ErrNotInLog = receipt.ErrNotInLog
	// ErrTestReceipt: it is a receipt of test mode. Nothing was rendered or paid;
	// [AcceptTest] accepts it as such.
	ErrTestReceipt = receipt.ErrTestReceipt
)

// Check is one step of a verification. Name says what was checked.
type Check struct {
	Name   string
	Status string // "ok", "failed", or "skipped" when it was not possible
	Text   string // the finding, in one line
}

// VerifyOption changes what [Verify], [VerifyLog] and [VerifyFolder] take.
type VerifyOption func(*verifying)

// verifying is what the options say.
type verifying struct {
	test    bool
	origins [][]byte
}

// AcceptTest takes a receipt of test mode for what it is: its first check, "test", says so
// and does not fail.
func AcceptTest() VerifyOption { return func(v *verifying) { v.test = true } }

// Origins gives the receipts of earlier jobs from which the job took frames over, for the check
// "reused". Without them the check is skipped.
func Origins(receipts ...*Receipt) VerifyOption {
	return func(v *verifying) {
		for _, r := range receipts {
			if document, err := json.Marshal(r); err == nil { // what is no receipt does no harm
				v.origins = append(v.origins, document)
			}
		}
	}
}

// EarlierReceipts reads the receipts of the jobs from which frames were taken over, by their
// ids, for [Origins]. One that the service no longer has is missing: what needs it is then not
// checked.
func (c *Client) EarlierReceipts(ctx context.Context, r *Receipt) (map[string]*Receipt, error) {
	found := map[string]*Receipt{}
	for _, origin := range r.Origins {
		if receipt.OriginFile(origin.ReceiptID) == "" {
			return nil, fmt.Errorf("the service names an earlier receipt %q, which is no id of one", origin.ReceiptID)
		}
		earlier, err := c.Receipt(ctx, origin.JobID)
		if refused, is := errors.AsType[*Error](err); is && (refused.Code == "render_not_found" || refused.Code == "artifact_expired") {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[origin.ReceiptID] = earlier
	}
	return found, nil
}

// Verify checks a receipt against the service's keys, and the artifact, its ZIP of
// size bytes, against the receipt. It uses no network. A nil artifact skips the ZIP.
// It returns all checks, and an error when one failed: an ErrBadSignature or an
// ErrBadArtifact, or an ErrTestReceipt. Keys that came together with the receipt prove less than keys that
// the caller knew before.
func Verify(r *Receipt, keys []SigningKey, artifact io.ReaderAt, size int64, options ...VerifyOption) ([]Check, error) {
	var zip receipt.Artifact
	if artifact != nil {
		zip = io.NewSectionReader(artifact, 0, size)
	}
	report, public, err := verify(r, keys, zip)
	if err != nil {
		return nil, err
	}
	return checksOf(report, public, options)
}

// VerifyLog checks that a receipt is signed, and that the proof leads from it to a
// checkpoint of the log that one of the keys has signed. It uses no network. An error
// is an ErrBadSignature, an ErrNotInLog or an ErrTestReceipt. known, which may be nil, is a checkpoint
// of the same size from another source: a different root there means a different
// history.
func VerifyLog(r *Receipt, p *Proof, keys []SigningKey, known []byte, options ...VerifyOption) ([]Check, error) {
	report, public, err := verify(r, keys, nil)
	if err != nil {
		return nil, err
	}
	report.InLog(&receipt.Inclusion{LogIndex: p.LogIndex, InclusionProof: p.InclusionProof, Checkpoint: p.Checkpoint}, public, known)
	return checksOf(report, public, options)
}

// VerifyFolder checks a folder that a render filled: the receipt with its key and its place
// in the log, and the ZIP, the frames next to it with their outputs, or both. It uses no network. keys are the
// service's own; nil takes those of keys.json in the folder, which prove less where somebody
// else made it. It returns all checks, and an error when one failed, or when neither the ZIP
// nor all of the others are there. Frames that were taken over are compared with the earlier
// receipts in the folder. Errors are also those of [Verify] and [VerifyLog].
func VerifyFolder(folder string, keys []SigningKey, options ...VerifyOption) ([]Check, error) {
	history, inclusion, document, err := readFolder(folder, keys)
	if err != nil {
		return nil, err
	}
	report := receipt.Verify(document, history.Keys(), nil)
	if r := report.Receipt; r != nil {
		if name := r.Artifact.Filename; name == filepath.Base(name) {
			if zip, err := os.Open(filepath.Join(folder, name)); err == nil {
				defer zip.Close()
				info, err := zip.Stat()
				if err != nil {
					return nil, fmt.Errorf("open the ZIP: %w", err)
				}
				report = receipt.Verify(document, history.Keys(), io.NewSectionReader(zip, 0, info.Size()))
			}
		}
		report.InLog(&inclusion, history.Keys(), nil)
		report.InTime(history, &inclusion)
		report.InPictures(receipt.FramesIn(os.DirFS(folder), *r))
	}
	origins, err := receipt.OriginsIn(os.DirFS(folder))
	if err != nil {
		return nil, err
	}
	options = append(slices.Clone(options), func(v *verifying) { v.origins = append(v.origins, origins...) })
	checks, err := checksOf(report, history.Keys(), options)
	for _, c := range checks {
		if err == nil && c.Name == "artifact" && c.Status == string(receipt.Skipped) {
			err = fmt.Errorf("%w: neither the ZIP nor all frames with their outputs are in %s", ErrBadArtifact, folder)
		}
	}
	return checks, err
}

// readFolder reads what proves a folder.
func readFolder(folder string, keys []SigningKey) (history receipt.History, inclusion receipt.Inclusion, document []byte, err error) {
	read := func(name string) (text []byte) {
		if err == nil {
			text, err = os.ReadFile(filepath.Join(folder, name))
		}
		return text
	}
	document = read(receiptFile)
	proof := read(proofFile)
	var known []byte
	if keys == nil {
		known = read(keysFile)
	} else if err == nil {
		known, err = json.Marshal(map[string]any{"keys": keys})
	}
	if err == nil {
		history, err = receipt.ParseHistory(known)
	}
	if err == nil && json.Unmarshal(proof, &inclusion) != nil {
		err = fmt.Errorf("%w: %s is not a proof", ErrNotInLog, proofFile)
	}
	return history, inclusion, document, err
}

// verify hands the receipt to the verifier as the service would send it. The keys
// come back parsed.
func verify(r *Receipt, keys []SigningKey, zip receipt.Artifact) (receipt.Report, []signingkey.Public, error) {
	answer, err := json.Marshal(r)
	if err != nil {
		return receipt.Report{}, nil, fmt.Errorf("%w: %w", ErrBadSignature, err)
	}
	var public []signingkey.Public
	for _, key := range keys {
		read, err := signingkey.ParsePublicPEM([]byte(key.PublicKeyPEM))
		if err != nil {
			return receipt.Report{}, nil, fmt.Errorf("key %s: %w", key.KeyID, err)
		}
		public = append(public, read)
	}
	return receipt.Verify(answer, public, zip), public, nil
}

// checksOf translates a report; the error is that of the first failed check.
func checksOf(report receipt.Report, keys []signingkey.Public, options []VerifyOption) ([]Check, error) {
	var v verifying
	for _, option := range options {
		option(&v)
	}
	if v.test {
		report.TakeTest()
	}
	report.FromOrigins(v.origins, keys)
	var checks []Check
	for _, c := range report.Checks {
		checks = append(checks, Check{c.Name, string(c.Status), c.Text})
	}
	return checks, report.Err()
}
