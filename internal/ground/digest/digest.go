// Package digest is the SHA-256 of bytes as the service writes it everywhere: 64
// lower-case hexadecimal digits.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
)

// Pattern is the form of a digest, for schemas and messages.
const Pattern = "^[a-f0-9]{64}$"

// Is reports whether text has the form of a digest.
func Is(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// Of reads r to its end. The error is r's.
func Of(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// OfFile is the digest of a file's bytes.
func OfFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // only read
	return Of(file)
}
