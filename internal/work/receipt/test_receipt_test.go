package receipt_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

// TestAReceiptOfTestModeIsTakenOnlyByWhoAsksForIt signs one as the service does, and hands its
// key to the verifier.
func TestAReceiptOfTestModeIsTakenOnlyByWhoAsksForIt(t *testing.T) {
	t.Parallel()
	job, err := receipttest.Complete(2)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signingkey.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(r receipt.Receipt) (json.RawMessage, receipt.Receipt) {
		t.Helper()
		r, err := receipt.WithFrameSet(r, key)
		if err != nil {
			t.Fatal(err)
		}
		envelope, err := receipt.Sign(r, key)
		if err != nil {
			t.Fatal(err)
		}
		return envelope, r
	}
	keys := []signingkey.Public{key.Public()}
	job.Receipt.Test = true
	envelope, signed := sign(job.Receipt)
	report := receipt.Verify(envelope, keys, nil)
	if !errors.Is(report.Err(), receipt.ErrTestReceipt) || !strings.Contains(report.Checks[0].Text, "TEST RECEIPT") {
		t.Errorf("it is taken: %+v", report.Checks)
	}
	report.TakeTest()
	if err := report.Err(); err != nil || !strings.Contains(report.Checks[0].Text, "TEST RECEIPT") {
		t.Errorf("taken for what it is: %v, %+v", err, report.Checks)
	}
	if payload, err := receipt.Unseal(envelope, keys); err != nil || bytes.Contains(payload, []byte(receipt.PredicateType)) || !bytes.Contains(payload, []byte(receipt.TestPredicateType)) {
		t.Errorf("it has the type of a receipt: %s, %v", payload, err)
	}
	if statement, err := receipt.Unseal(signed.FrameSet, keys); err != nil || bytes.Contains(statement, []byte(receipt.FrameSetType)) {
		t.Errorf("its frames have the type of a receipt's: %s, %v", statement, err)
	}

	// The same receipt with the type of the other kind is neither.
	payload, err := receipt.Unseal(envelope, keys)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := receipt.Seal(bytes.Replace(payload, []byte(receipt.TestPredicateType), []byte(receipt.PredicateType), 1), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receipt.Open(forged, keys); !errors.Is(err, receipt.ErrBadSignature) {
		t.Errorf("a receipt of test mode under the type of a receipt: %v", err)
	}

	job.Receipt.Test = false
	envelope, _ = sign(job.Receipt)
	report = receipt.Verify(envelope, keys, nil)
	report.TakeTest()
	if err := report.Err(); err != nil {
		t.Errorf("a verifier that accepts test receipts accepts a real one: %v", err)
	}
	if payload, err := receipt.Unseal(envelope, keys); err != nil || bytes.Contains(payload, []byte(`"test"`)) {
		t.Errorf("a receipt has the member of test mode: %s, %v", payload, err)
	}
}
