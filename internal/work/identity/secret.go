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

// SecretFrom returns the secret that follows from a seed of 64 bytes, which must be as
// hard to guess as a secret is. The same seed gives the same secret.
func SecretFrom(prefix string, seed [64]byte) string {
	var b strings.Builder
	b.WriteString(prefix)
	// 512 bits for 43 characters of 62: each is as likely as any other.
	rest, base, digit := new(big.Int).SetBytes(seed[:]), big.NewInt(int64(len(base62))), new(big.Int)
	for range contract.KeySecretLength {
		rest.DivMod(rest, base, digit)
		b.WriteByte(base62[digit.Int64()])
	}
	return b.String()
}

// Hash is a plain SHA-256, in lower-case hex. A slow password hash would add nothing to
// 256 random bits, and would cost every request its time. The database finds a row by
// this hash, so no comparison of secrets takes place whose time could be measured.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
