package signing

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/signingkey"
)

// Audit reports published keys that are not as they were published, or that are not named
// by their hash. It returns the others, in no order: what they have signed can be checked.
// The times of two keys may overlap, because a rotation lets them. An error means that the
// audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) (keys []signingkey.Public, err error) {
	err = keyRows.Audit(ctx, tx, breach, func(row query.SigningKey) error {
		const rule = "a signing key is what it is named for"
		key, err := signingkey.ParsePublicPEM([]byte(row.PublicPem))
		switch {
		case err != nil:
			breach(rule, row.KeyID, "%v", err)
		case key.ID() != row.KeyID:
			breach(rule, row.KeyID, "its public half is that of key %s", key.ID())
		default:
			keys = append(keys, key)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("audit the signing keys: %w", err)
	}
	return keys, nil
}
