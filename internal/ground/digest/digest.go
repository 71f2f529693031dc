// Package digest computes the SHA-256 of bytes and writes it as the service does
// everywhere: 64 lower-case hexadecimal digits.
//
// What always holds: a digest covers the source to its end; a read error gives
// none. Start reading at Of.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
)

// Pattern is the form of a digest as a regular expression, for schemas and
// messages.
const Pattern = "^[a-f0-9]{64}$"

// Is reports whether text has the form of a digest. Upper-case digits do not count,
// so that equal digests are always equal texts.
func Is(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// Of reads r to its end and returns the digest of what it read. The only error is
// r's.
func Of(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// OfFile returns the digest of a file's bytes. The error is that of opening or
// reading the file; fs.ErrNotExist when there is none.
func OfFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // only read
	return Of(file)
}
