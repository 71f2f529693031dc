package client

import (
	"encoding/json"
	"fmt"
	"io"

	"svc.example/internal/receipt"
)

// What [Verify] can find wrong.
var (
	// ErrBadSignature: the receipt was changed, or none of the keys signed it.
	ErrBadSignature = receipt.ErrBadSignature
	// ErrBadArtifact: the ZIP is not the one that the receipt describes.
	ErrBadArtifact = receipt.ErrBadArtifact
)

// Check is one thing that Verify looked at.
type Check struct {
	Name   string
	Status string // "ok", "failed", or "skipped" where it could not be looked at
	Text   string // what was found, in one line
}

// Verify checks a receipt against the service's keys and the first size bytes of
// the artifact, its ZIP, against the receipt, without a network. A nil artifact
// leaves the ZIP unchecked. It gives each check that was made, and an error when
// one of them failed: an ErrBadSignature or an ErrBadArtifact. Keys that were
// fetched together with the receipt prove less than keys known from before.
func Verify(r *Receipt, keys []SigningKey, artifact io.ReaderAt, size int64) ([]Check, error) {
	answer, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSignature, err)
	}
	var public []receipt.PublicKey
	for _, key := range keys {
		read, err := receipt.ParsePublicPEM([]byte(key.PublicKeyPEM))
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", key.KeyID, err)
		}
		public = append(public, read)
	}
	var zip receipt.Artifact
	if artifact != nil {
		zip = io.NewSectionReader(artifact, 0, size)
	}
	report := receipt.Verify(answer, public, zip)
	var checks []Check
	for _, c := range report.Checks {
		checks = append(checks, Check{c.Name, string(c.Status), c.Text})
	}
	return checks, report.Err()
}
