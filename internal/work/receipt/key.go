package receipt

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"svc.example/internal/ground/atomicfile"
)

// PEM block types of the key files (RFC 7468).
const (
	privateBlock = "PRIVATE KEY" // PKCS#8
	publicBlock  = "PUBLIC KEY"  // SubjectPublicKeyInfo
)

// PublicKey verifies receipts and checkpoints. The zero PublicKey is not usable; get
// one from ParsePublicPEM or Key.Public.
type PublicKey struct{ raw ed25519.PublicKey }

// ID is the lower-case hex SHA-256 of the raw 32-byte public key (decisions 8). It
// depends on the key alone, not on how a PEM file encodes it.
func (k PublicKey) ID() string {
	sum := sha256.Sum256(k.raw)
	return hex.EncodeToString(sum[:])
}

// PEM encodes the key as a SubjectPublicKeyInfo block, as `openssl pkey` reads it.
func (k PublicKey) PEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(k.raw)
	if err != nil {
		return nil, fmt.Errorf("encode public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: der}), nil
}

// ParsePublicPEM reads one Ed25519 public key and refuses any further data.
func ParsePublicPEM(text []byte) (PublicKey, error) {
	key, err := parsePEM(text, publicBlock, x509.ParsePKIXPublicKey)
	if err != nil {
		return PublicKey{}, fmt.Errorf("read public key: %w", err)
	}
	public, ok := key.(ed25519.PublicKey)
	if !ok {
		return PublicKey{}, fmt.Errorf("read public key: it is a %T, wanted Ed25519", key)
	}
	return PublicKey{raw: public}, nil
}

// ParsePublicPEMs reads one or more Ed25519 public keys in a row. No key at all is an
// error: an empty file would otherwise make every receipt fail for the wrong reason.
func ParsePublicPEMs(text []byte) ([]PublicKey, error) {
	var keys []PublicKey
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			if len(keys) == 0 || len(bytes.TrimSpace(text)) > 0 {
				return nil, fmt.Errorf("read public keys: no PEM block of type %q after %d keys", publicBlock, len(keys))
			}
			return keys, nil
		}
		key, err := ParsePublicPEM(pem.EncodeToMemory(block))
		if err != nil {
			return nil, err
		}
		keys, text = append(keys, key), rest
	}
}

// Raw is the 32 bytes of the key.
func (k PublicKey) Raw() []byte { return bytes.Clone(k.raw) }

// Key signs receipts. It holds the private half; never print or log it.
type Key struct {
	private  ed25519.PrivateKey
	external *external // signs instead of private; nil for a key at hand
}

// NewKey makes a key from 32 bytes of entropy. The same bytes give the same key.
func NewKey(entropy io.Reader) (Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(entropy, seed); err != nil {
		return Key{}, fmt.Errorf("read entropy for a signing key: %w", err)
	}
	return Key{private: ed25519.NewKeyFromSeed(seed)}, nil
}

// Public returns the half that may be published.
func (k Key) Public() PublicKey {
	if k.external != nil {
		return k.external.public
	}
	return PublicKey{raw: k.private.Public().(ed25519.PublicKey)}
}

// SignRaw signs bytes as they are. The caller makes sure that the bytes have no other
// meaning under another rule.
func (k Key) SignRaw(data []byte) ([]byte, error) { return k.sign(data) }

// ParseKeyPEM reads one Ed25519 private key in PKCS#8 and refuses any further data.
func ParseKeyPEM(text []byte) (Key, error) {
	key, err := parsePEM(text, privateBlock, x509.ParsePKCS8PrivateKey)
	if err != nil {
		return Key{}, fmt.Errorf("read signing key: %w", err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return Key{}, fmt.Errorf("read signing key: it is a %T, wanted Ed25519", key)
	}
	return Key{private: private}, nil
}

// LoadOrCreateKey reads the PKCS#8 PEM key at path, or creates it with mode 0600. It
// returns after the key is on disk. Processes that start at the same time all get the
// same key.
func LoadOrCreateKey(path string, entropy io.Reader) (Key, error) {
	key, err := LoadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	fresh, err := NewKey(entropy)
	if err != nil {
		return Key{}, err
	}
	if err := CreateKey(path, fresh); err != nil {
		return Key{}, err
	}
	// Another process may have been first, so the file on disk decides.
	return LoadKey(path)
}

// LoadKey reads the PKCS#8 PEM key at path. A missing file is an [fs.ErrNotExist].
func LoadKey(path string) (Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Key{}, fmt.Errorf("load signing key: %w", err)
	}
	key, err := ParseKeyPEM(text)
	if err != nil {
		return Key{}, fmt.Errorf("load %s: %w", path, err)
	}
	return key, nil
}

// CreateKey writes the key to path as PKCS#8 PEM with mode 0600, and returns after it
// is on disk. An existing file stays unchanged and is no error: a key that has signed
// must never be overwritten.
func CreateKey(path string, key Key) error {
	if key.external != nil {
		return errors.New("create signing key: its private half is not here")
	}
	der, err := x509.MarshalPKCS8PrivateKey(key.private)
	if err == nil {
		err = atomicfile.Create(path, pem.EncodeToMemory(&pem.Block{Type: privateBlock, Bytes: der}), 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create signing key %s: %w", path, err)
	}
	return nil
}

// parsePEM reads the one block of a key file. It refuses data after the block, which
// might be a second key that the operator believes to be in use.
func parsePEM(text []byte, kind string, parse func([]byte) (any, error)) (any, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("no PEM block of type %q", kind)
	}
	if len(bytes.TrimSpace(rest)) != 0 {
		return nil, errors.New("trailing data after the PEM block")
	}
	return parse(block.Bytes)
}

// signer and verifier adapt the keys to package dsse.
type signer struct{ key Key }

func (s signer) Sign(_ context.Context, data []byte) ([]byte, error) {
	return s.key.sign(data)
}

func (s signer) KeyID() (string, error) { return s.key.Public().ID(), nil }

type verifier struct{ key PublicKey }

func (v verifier) Verify(_ context.Context, data, signature []byte) error {
	if !ed25519.Verify(v.key.raw, data, signature) {
		return errors.New("the signature does not match")
	}
	return nil
}

func (v verifier) KeyID() (string, error) { return v.key.ID(), nil }

func (v verifier) Public() crypto.PublicKey { return v.key.raw }
