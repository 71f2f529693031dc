package receipt

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
)

// ErrBadArtifact reports that the ZIP, or another file, is not the one that was signed.
var ErrBadArtifact = errors.New("a file is not the one that was signed")

// ErrTestReceipt reports a receipt of test mode: nothing was rendered or paid. A verifier
// accepts none unless asked to ([Report.TakeTest]).
var ErrTestReceipt = errors.New("a receipt of test mode")

// testCheck is the check that only a receipt of test mode has, and fails.
const testCheck = "test"

// Artifact is a ZIP with random access. *io.SectionReader and *bytes.Reader implement
// it. Verify reads it from several goroutines at once, as io.ReaderAt allows, and never
// closes it.
type Artifact interface {
	io.ReaderAt
	Size() int64
}

// Status is the result of a check.
type Status string

// Skipped marks what could not be checked; the check's text gives the reason.
const (
	OK      Status = "ok"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Check is the result of one check. Text is for people and may change; Name and Status
// are for programs.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Text   string `json:"text"` // the finding, in one line
	kind   error  // the error of a failure
}

// Report is the result of a verification. Receipt is nil unless signature and
// statement are valid; KeyID names the key that signed.
type Report struct {
	Receipt *Receipt
	KeyID   string
	Checks  []Check
	entry   Entry // of the receipt, for the log
}

// Err returns nil if nothing failed, otherwise the first failure: an [ErrBadSignature], an
// [ErrBadArtifact], an [ErrNotInLog] or an [ErrTestReceipt]. A Skipped check is no failure: callers
// that care look at Checks.
func (r Report) Err() error {
	for _, c := range r.Checks {
		if c.Status == Failed {
			return fmt.Errorf("%w: %s: %s", c.kind, c.Name, c.Text)
		}
	}
	return nil
}

// TakeTest makes the report accept a receipt of test mode as such: the check that reports it
// no longer fails, but still reports it. Other receipts are not affected.
func (r *Report) TakeTest() {
	for i, c := range r.Checks {
		if c.Name == testCheck {
			r.Checks[i].Status = OK
		}
	}
}

// NotChecked are the names of the checks that were not made, in order.
func (r Report) NotChecked() []string {
	names := []string{}
	for _, c := range r.Checks {
		if c.Status == Skipped {
			names = append(names, c.Name)
		}
	}
	return names
}

// add records a check of the artifact, or one that has not failed; kind matters only
// for failures.
func (r *Report) add(name string, status Status, text string, args ...any) {
	r.Checks = append(r.Checks, Check{Name: name, Status: status, Text: fmt.Sprintf(text, args...), kind: ErrBadArtifact})
}

// distrust records a failure of the receipt itself, and returns err so that a caller
// can stop with it.
func (r *Report) distrust(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), ErrBadSignature.Error()+": ")
	r.Checks = append(r.Checks, Check{Name: name, Status: Failed, Text: text, kind: ErrBadSignature})
	return err
}

// Verify checks a receipt against the keys, and the artifact, which may be nil,
// against the receipt. The document is a bare envelope, or the body of a receipt
// answer, which holds the envelope and the same members in plain. It uses no
// network and no clock. These are its checks, in order; without a good receipt
// there is nothing to check the artifact against, and without an artifact the
// report ends with "artifact":
//
//	test       only of a receipt of test mode, and it fails: that is no receipt
//	signature  the envelope is unchanged and signed by one of the keys
//	statement  the signed content is a receipt that agrees with itself
//	members    only in an answer's body: the plain members are the signed ones
//	artifact   the ZIP's size and SHA-256
//	contents   the ZIP holds each frame once, its two descriptions, nothing else
//	frames     each frame's size and SHA-256
//	pixels     each PNG and JPEG frame decodes to its pixel hash
//	outputs    only of frames with outputs: the size and SHA-256 of each
//	manifest   manifest.json agrees with the receipt
//
// [Report.InLog] adds the check that the receipt is in the log.
func Verify(document []byte, keys []signingkey.Public, artifact Artifact) Report {
	var report Report
	receipt, err := report.checkReceipt(document, keys)
	if err != nil {
		return report
	}
	report.Receipt = &receipt
	if artifact == nil {
		report.add("artifact", Skipped, "no ZIP was given: what was delivered is not checked")
		return report
	}
	report.checkArtifact(receipt.Artifact, artifact)
	report.checkContents(receipt, artifact)
	return report
}

// checkReceipt runs the checks that need no artifact. Its error is in the report
// already. It stops at the first failure, because each check relies on the one before.
func (r *Report) checkReceipt(document []byte, keys []signingkey.Public) (Receipt, error) {
	envelope, members, err := unwrap(document)
	if err != nil {
		return Receipt{}, r.distrust("signature", err)
	}
	signed, err := openSigned(envelope, keys)
	if err != nil {
		return Receipt{}, r.distrust("signature", err)
	}
	r.KeyID, r.entry = signed.keyID, sha256.Sum256(signed.payload)
	r.add("signature", OK, "Ed25519, key %s", signed.keyID)
	receipt, err := signed.statement()
	if err != nil {
		return Receipt{}, r.distrust("statement", err)
	}
	if err := receipt.checkFrameSet(keys, signed.keyID); err != nil {
		return Receipt{}, r.distrust("statement", err)
	}
	frames := counted(int64(receipt.FrameCount), "frame")
	// A synthetic render is signed like any other. Readers of the report must see it at
	// once.
	if receipt.Renderer.ID == contract.SyntheticRenderer {
		frames += ", NOT rendered but painted by a " + contract.SyntheticApplication
	}
	r.add("statement", OK, "receipt %s of job %s: %s, %s %s",
		receipt.ReceiptID, receipt.JobID, frames, counted(receipt.ChargedCents, "cent"), receipt.Currency)
	r.addStrips(receipt)
	if receipt.Test {
		r.Checks = slices.Insert(r.Checks, 0, Check{Name: testCheck, Status: Failed, Text: "THIS IS A TEST RECEIPT: nothing was rendered, and nobody has paid", kind: ErrTestReceipt})
	}
	if members == nil {
		return receipt, nil
	}
	if err := sameMembers(members, receipt); err != nil {
		return Receipt{}, r.distrust("members", err)
	}
	r.add("members", OK, "the plain members are the signed ones")
	return receipt, nil
}

func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if thing == "leaf" {
		thing = "leave"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// checkArtifact compares the size first: it costs nothing and explains a file that was
// cut off better than a hash does.
func (r *Report) checkArtifact(want File, artifact Artifact) {
	if artifact.Size() != want.SizeBytes {
		r.add("artifact", Failed, "it has %d bytes, the receipt says %d", artifact.Size(), want.SizeBytes)
		return
	}
	sum, err := digest.Of(io.NewSectionReader(artifact, 0, artifact.Size()))
	if err != nil {
		r.add("artifact", Failed, "it cannot be read: %v", err)
		return
	}
	if sum != want.SHA256 {
		r.add("artifact", Failed, "its SHA-256 is %s, the receipt says %s", sum, want.SHA256)
		return
	}
	r.add("artifact", OK, "%s, %d bytes, SHA-256 %s", want.Filename, want.SizeBytes, want.SHA256)
}
