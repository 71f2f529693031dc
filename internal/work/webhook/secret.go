package webhook

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
)

// generatedBytes is the length of a generated secret in bytes: 256 bits, the size of
// the HMAC-SHA256 that it keys.
const generatedBytes = 32

// minKeyBytes is the length of the shortest key in base64: as long as the shortest text.
const minKeyBytes = contract.MinWebhookSecret

// chosenSecret checks a caller's secret, or generates one. made reports which. The
// bounds count characters, as spec 2.7 does. A secret that cannot be used as a key is
// refused here, because it would fail every delivery later. Errors:
// webhook_secret_too_short, invalid_request.
func (h *Hooks) chosenSecret(given string) (secret string, made bool, err error) {
	if given == "" {
		random := make([]byte, generatedBytes)
		if _, err := io.ReadFull(h.Random, random); err != nil {
			return "", false, fmt.Errorf("make a webhook secret: %w", err)
		}
		return contract.WebhookSecretPrefix + base64.StdEncoding.EncodeToString(random), true, nil
	}
	switch n := utf8.RuneCountInString(given); {
	case n < contract.MinWebhookSecret:
		return "", false, fault.New(fault.WebhookSecretShort, "A webhook secret must have at least %d characters; this one has %d.", contract.MinWebhookSecret, n)
	case n > contract.MaxWebhookSecret:
		return "", false, fault.Field("body.webhook_secret", "has more than %d characters", contract.MaxWebhookSecret)
	case !utf8.ValidString(given):
		return "", false, fault.Field("body.webhook_secret", "is not UTF-8")
	}
	// The base64 decoder skips line ends, so a secret of only those is an empty key.
	if strings.ContainsFunc(given, unicode.IsControl) || strings.TrimSpace(given) == "" {
		return "", false, fault.Field("body.webhook_secret", "has a control character or only spaces")
	}
	encoded, prefixed := strings.CutPrefix(given, contract.WebhookSecretPrefix)
	if key, err := base64.StdEncoding.DecodeString(encoded); prefixed && err == nil && len(key) < minKeyBytes {
		return "", false, fault.New(fault.WebhookSecretShort, "The base64 after %s must encode at least %d bytes; this one encodes %d.", contract.WebhookSecretPrefix, minKeyBytes, len(key))
	}
	if _, err := signer(given); err != nil {
		return "", false, fault.Field("body.webhook_secret", "begins with %s, but what follows is not base64", contract.WebhookSecretPrefix)
	}
	return given, false, nil
}

// signer accepts base64 after whsec_, as in the Standard Webhooks specification, and
// any other text as it is (decisions 9).
func signer(secret string) (*standardwebhooks.Webhook, error) {
	if strings.HasPrefix(secret, contract.WebhookSecretPrefix) {
		return standardwebhooks.NewWebhook(secret)
	}
	return standardwebhooks.NewWebhookRaw([]byte(secret))
}

// sign returns the value of webhook-signature: one signature for each secret that is
// valid now, separated by spaces. A receiver accepts a request when any of them
// matches, so it may change over at any moment of the overlap.
func sign(secrets []string, eventID string, at time.Time, body string) (string, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		s, err := signer(secret)
		if err != nil {
			return "", fmt.Errorf("read a webhook secret: %w", err)
		}
		if signatures[i], err = s.Sign(eventID, at, []byte(body)); err != nil {
			return "", fmt.Errorf("sign a webhook: %w", err)
		}
	}
	return strings.Join(signatures, " "), nil
}

// keepSecret seals a secret and makes it the endpoint's newest. A copy of the
// database alone then cannot sign a request.
func (h *Hooks) keepSecret(ctx context.Context, tx *db.Tx, endpointID, secret string) error {
	secretID := id.New(id.Secret)
	row := query.WebhookSecret{SecretID: secretID, EndpointID: endpointID, Sealed: h.Keys.Seal([]byte(secret), sealContext(secretID)), CreatedAt: tx.Now}
	row.RowSum = secretRows.Of(row)
	if err := tx.WebhookSecretCreate(ctx, query.WebhookSecretCreateParams(row)); err != nil {
		return fmt.Errorf("keep webhook secret: %w", err)
	}
	return nil
}

// sealContext binds a sealed secret to its row, so that one row's secret does not
// open in another.
func sealContext(secretID string) string { return "webhook_secret/" + secretID }

// secretsOf returns the secrets that an endpoint signs with now, newest first.
func (h *Hooks) secretsOf(ctx context.Context, tx *db.Tx, endpointID string) ([]string, error) {
	rows, err := tx.WebhookSecretsOf(ctx, query.WebhookSecretsOfParams{EndpointID: endpointID, Now: tx.Now})
	if err != nil {
		return nil, fmt.Errorf("read webhook secrets: %w", err)
	}
	secrets := make([]string, len(rows))
	for i, row := range rows {
		text, err := h.Keys.Open(row.Sealed, sealContext(row.SecretID))
		if err != nil {
			return nil, fmt.Errorf("open webhook secret %s: %w", row.SecretID, err)
		}
		secrets[i] = string(text)
	}
	return secrets, nil
}
