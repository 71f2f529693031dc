package webhook

import (
	"bytes"
	"strings"
	"testing"

	"svc.example/internal/ground/fault"
)

func TestASecretThatIsNoKeyIsRefused(t *testing.T) {
	t.Parallel()
	h := &Hooks{Config: Config{Random: bytes.NewReader(make([]byte, 64))}}
	for secret, want := range map[string]fault.Code{
		"whsec_" + strings.Repeat("\n", 20):      fault.InvalidRequest,
		"whsec_AAAAAAAAAAAAAAAA":                 fault.WebhookSecretShort, // 12 bytes
		"whsec_QUFB\r\nQUFBQUFBQUFBQUFBQUFBQUFB": fault.InvalidRequest,
		strings.Repeat(" ", 20):                  fault.InvalidRequest,
		"a tab\tin a long secret":                fault.InvalidRequest,
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "",
		"correct horse battery":                  "",
		"":                                       "",
	} {
		_, _, err := h.chosenSecret(secret)
		if want == "" && err != nil || want != "" && !fault.Is(err, want) {
			t.Errorf("%q: %v, want %q", secret, err, want)
		}
	}
	for _, url := range []string{"https://example.com/a b", " https://example.com/", "https://example.com/\n"} {
		if err := h.check(t.Context(), url); !fault.Is(err, fault.InvalidWebhookURL) {
			t.Errorf("%q: %v", url, err)
		}
	}
}
