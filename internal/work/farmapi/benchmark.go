package farmapi

import (
	"encoding/json"
	"time"
)

// BenchmarkRequest submits a benchmark receipt (see benchmark.Sign). The worker has
// registered with the device and the Blender that it measured. Repeating the
// request returns the first answer.
type BenchmarkRequest struct {
	WorkerID     string          `json:"worker_id"`
	Envelope     json.RawMessage `json:"envelope"`        // the signed receipt
	PublicKeyPEM string          `json:"public_key_pem"`  // of the key that signed; the node key is bound to it from the first receipt on
	Frame        []byte          `json:"frame,omitempty"` // the picture of the receipt's challenge, a PNG; none without one
}

// ChallengeRequest asks for the challenge of a benchmark run. Another one of the same node
// key ends the one before.
type ChallengeRequest struct {
	WorkerID string `json:"worker_id"`
	Scene    string `json:"scene,omitempty"` // to render; empty: the service draws one
}

// ChallengeReply is a drawn challenge. Its answer comes with the receipt of the run.
type ChallengeReply struct {
	OK bool `json:"ok"`
	Challenge
	ExpiresAt time.Time `json:"expires_at"`
}

// What can become of a benchmark receipt.
const (
	BenchmarkAccepted = "accepted" // countersigned, logged and shown
	BenchmarkRejected = "rejected" // kept, and shown nowhere
)

// BenchmarkReply is the judgement of a benchmark receipt.
type BenchmarkReply struct {
	OK              bool    `json:"ok"`
	ResultID        string  `json:"result_id"`
	Status          string  `json:"status"`            // BenchmarkAccepted or BenchmarkRejected
	Reason          *string `json:"reason"`            // why it was rejected; null when accepted
	Detail          *string `json:"detail"`            // the reason in one line; null when accepted
	ReceiptID       *string `json:"receipt_id"`        // null when rejected
	PublicResultURL *string `json:"public_result_url"` // null when rejected
	Verification    *string `json:"verification"`      // verified, waiting, unverified, outlier or synthetic; null when rejected
}
