package page

import (
	"encoding/json"

	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
)

// EmbeddedProof is what a page holds of a proof for verify.js, which shows nothing that it has
// not verified.
type EmbeddedProof struct {
	Envelope json.RawMessage `json:"envelope"`
	receipt.Inclusion
	Keys []ProofKey `json:"keys"`
}

// ProofKey is a published signing key.
type ProofKey struct {
	KeyID        string  `json:"key_id"`
	PublicKeyPEM string  `json:"public_key_pem"`
	EndReason    *string `json:"end_reason"`   // null: no end is set
	EndLogSize   *int64  `json:"end_log_size"` // as of /v1/signing-keys
}

// EmbedProof returns the proof of a public receipt with all published keys: the receipt and the
// checkpoint can be signed by different ones.
func EmbedProof(p job.Public) (EmbeddedProof, error) {
	e := EmbeddedProof{Envelope: p.Envelope, Inclusion: p.Inclusion}
	for _, k := range p.Keys {
		text, err := k.Key.PEM()
		if err != nil {
			return e, err
		}
		e.Keys = append(e.Keys, ProofKey{k.Key.ID(), string(text), k.WhyEnded(), k.LogSizeAtEnd()})
	}
	return e, nil
}

// ProofScripts are what a page with a proof runs, in order.
func ProofScripts() []string { return []string{"ed25519.js", "verify.js"} }
