// Package reason reads the reasons that operators give for what they do. Others read them:
// the owner of a job, a frozen workspace, visitors of a hidden result.
//
// What always holds: a reason is one line without hidden characters, of bounded length.
package reason

import (
	"strings"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/plaintext"
)

// MaxBytes bounds a reason.
const MaxBytes = 500

// Of returns a reason as it is kept and shown. Error: invalid_request when it is empty or
// longer than MaxBytes.
func Of(text string) (string, error) {
	text = plaintext.Line(strings.TrimSpace(text))
	if text == "" || len(text) > MaxBytes {
		return "", fault.Field("reason", "has %d bytes; it must have 1 to %d", len(text), MaxBytes)
	}
	return text, nil
}
