package fault

import (
	"strings"

	"svc.example/internal/ground/plaintext"
)

// MaxReason bounds the reason that an operator gives, in bytes.
const MaxReason = 500

// Reason is the reason that an operator gives for an act, on one line, as it is kept and
// shown. Error: invalid_request when it is empty or longer than MaxReason.
func Reason(text string) (string, error) {
	text = plaintext.Line(strings.TrimSpace(text))
	if text == "" || len(text) > MaxReason {
		return "", Field("reason", "has %d bytes; it must have 1 to %d", len(text), MaxReason)
	}
	return text, nil
}
