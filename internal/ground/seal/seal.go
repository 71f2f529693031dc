// Package seal keeps secrets in rows that whoever reads the database alone
// cannot read: AES-256-GCM under keys that lie elsewhere.
//
// What always holds: a sealed text names the key it is under, so that keys can
// be rotated; it opens only for the place it was sealed for (the associated
// data), so that a ciphertext copied to another row is worthless; nonces are
// random, and a key may seal 2^32 texts before their chance to meet matters
// (NIST SP 800-38D 8.3), far more than a service of this kind ever stores.
//
// Where keys come from is left to the wiring, what they protect to the
// callers. Start reading at Keys.
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

const keySize = 32 // bytes

// form begins every sealed text: it names how the rest is made.
const form = "v1"

// ErrUnknownKey says that a text is sealed under a key that is not here.
var ErrUnknownKey = errors.New("it is sealed under a key that is not here")

// Keys seal and open texts. They are safe for concurrent use.
type Keys struct {
	current string // id of the key that seals
	ciphers map[string]cipher.AEAD
}

// New makes Keys of which the first seals and all open. Each has 32 bytes.
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

// idOf names a key without telling anything of it.
func idOf(key []byte) string {
	sum := sha256.Sum256(append([]byte("svc seal key id\n"), key...))
	return hex.EncodeToString(sum[:8])
}

// Parse reads keys as an operator keeps them: in base64, apart by white space or
// commas; the first seals.
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

// Generate makes one key in the form that Parse reads.
func Generate(random io.Reader) ([]byte, error) {
	key := make([]byte, keySize)
	if _, err := io.ReadFull(random, key); err != nil {
		return nil, fmt.Errorf("make a key to seal with: %w", err)
	}
	return append([]byte(base64.StdEncoding.EncodeToString(key)), '\n'), nil
}

// Seal makes text unreadable. place says where it is kept, such as a table and
// a row's id: Open must get the same.
func (k *Keys) Seal(text []byte, place string) string {
	sealed := k.ciphers[k.current].Seal(nil, nil, text, []byte(place))
	return strings.Join([]string{form, k.current, base64.RawURLEncoding.EncodeToString(sealed)}, ".")
}

// Open is the reverse of Seal. Errors: ErrUnknownKey, and one for a text that
// was changed or belongs to another place.
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
