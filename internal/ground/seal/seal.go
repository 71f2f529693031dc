// Package seal encrypts secrets in rows, so that anyone who can read only the
// database cannot read them: AES-256-GCM under keys that are kept elsewhere.
//
// What always holds: a sealed text names its key, so that keys can be rotated. It
// opens only for the place it was sealed for (the associated data), so that a
// ciphertext copied to another row is worthless. Nonces are random: one key may
// seal 2^32 texts before a repeated nonce becomes likely enough to matter (NIST SP
// 800-38D 8.3), far more than a service of this kind ever stores.
//
// The wiring decides where keys come from, and callers decide what they protect.
// Start reading at Keys.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// keySize selects AES-256.
const keySize = 32 // bytes

// form begins every sealed text and names how the rest is made. A later form gets
// another name, and both can then be opened side by side.
const form = "v1"

// ErrUnknownKey reports that a text is sealed under a key that these Keys do not
// have: most likely the operator removed it before everything was sealed again.
var ErrUnknownKey = errors.New("it is sealed under a key that is not here")

// Keys seal and open texts. They never change and are safe for concurrent use.
type Keys struct {
	current string // id of the key that seals
	ciphers map[string]cipher.AEAD
}

// New makes Keys. The first key seals, all of them open; so a rotation puts the new
// key first and keeps the old ones after it. Each has 32 bytes. A key given twice
// counts once.
func New(keys ...[]byte) (*Keys, error) {
	if len(keys) == 0 {
		return nil, errors.New("there is no key to seal with")
	}
	k := &Keys{ciphers: map[string]cipher.AEAD{}}
	for _, key := range keys {
		if len(key) != keySize {
			return nil, fmt.Errorf("a key to seal with has %d bytes, not %d", len(key), keySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		id := idOf(key)
		if k.ciphers[id], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
		if k.current == "" {
			k.current = id
		}
	}
	return k, nil
}

// idOf names a key without revealing it: a shortened hash, over a text that no
// other use of the key has.
func idOf(key []byte) string {
	sum := sha256.Sum256(append([]byte("svc seal key id\n"), key...))
	return hex.EncodeToString(sum[:8])
}

// Parse reads keys as an operator keeps them: base64, separated by white space or
// commas, the one that seals first. No error quotes a key.
func Parse(text []byte) (*Keys, error) {
	var keys [][]byte
	apart := func(r rune) bool { return r == ',' || unicode.IsSpace(r) }
	for _, word := range bytes.FieldsFunc(text, apart) {
		key, err := base64.StdEncoding.DecodeString(string(word))
		if err != nil {
			return nil, fmt.Errorf("number %d of the keys to seal with is not base64", len(keys)+1) // not err: it may quote the key
		}
		keys = append(keys, key)
	}
	return New(keys...)
}

// Generate makes one key in the form that Parse reads, with a newline, from 32
// bytes of random. The error is random's.
func Generate(random io.Reader) ([]byte, error) {
	key := make([]byte, keySize)
	if _, err := io.ReadFull(random, key); err != nil {
		return nil, fmt.Errorf("make a key to seal with: %w", err)
	}
	return append([]byte(base64.StdEncoding.EncodeToString(key)), '\n'), nil
}

// Seal encrypts text. place says where the result is kept, such as a table and a
// row's id, and Open must be given the same. Sealing a text twice gives two
// different results.
func (k *Keys) Seal(text []byte, place string) string {
	sealed := k.ciphers[k.current].Seal(nil, nil, text, []byte(place))
	return strings.Join([]string{form, k.current, base64.RawURLEncoding.EncodeToString(sealed)}, ".")
}

// Open decrypts what Seal made. Errors: ErrUnknownKey, and unnamed ones for a text
// that is malformed, was changed or belongs to another place. Which of the last two
// it is cannot be known.
func (k *Keys) Open(sealed, place string) ([]byte, error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != form {
		return nil, errors.New("it is no sealed text")
	}
	key, known := k.ciphers[parts[1]]
	if !known {
		return nil, fmt.Errorf("key %s: %w", parts[1], ErrUnknownKey)
	}
	inner, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil {
		return nil, errors.New("it is no sealed text")
	}
	text, err := key.Open(nil, nil, inner, []byte(place))
	if err != nil {
		return nil, errors.New("it was changed, or belongs elsewhere")
	}
	return text, nil
}
