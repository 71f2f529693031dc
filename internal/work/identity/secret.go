package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"svc.example/internal/ground/contract"
)

// base62 keeps secrets free of characters that a shell, a URL or a double click would
// split.
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewSecret draws a secret after prefix. rand.Int draws every character with equal
// chance, which a byte modulo 62 would not. Keys, link tokens and session tokens are
// all made here, so all have the same strength.
func NewSecret(prefix string) (string, error) {
	var b strings.Builder
	b.WriteString(prefix)
	for range contract.KeySecretLength {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(base62))))
		if err != nil {
			return "", fmt.Errorf("draw a secret: %w", err)
		}
		b.WriteByte(base62[n.Int64()])
	}
	return b.String(), nil
}

// Hash is a plain SHA-256, in lower-case hex. A slow password hash would add nothing to
// 256 random bits, and would cost every request its time. The database finds a row by
// this hash, so no comparison of secrets takes place whose time could be measured.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
