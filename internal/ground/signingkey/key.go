package signingkey

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
)

// PEM block types of the key files (RFC 7468).
const (
	privateBlock = "PRIVATE KEY" // PKCS#8
	publicBlock  = "PUBLIC KEY"  // SubjectPublicKeyInfo
)

// Public verifies what a Key has signed. The zero Public is not usable; get
// one from ParsePublicPEM or Key.Public.
type Public struct{ raw ed25519.PublicKey }

// ID is the lower-case hex SHA-256 of the raw 32-byte public key (decisions 8). It
// depends on the key alone, not on how a PEM file encodes it.
func (k Public) ID() string {
	sum := sha256.Sum256(k.raw)
	return hex.EncodeToString(sum[:])
}

// PEM encodes the key as a SubjectPublicKeyInfo block, as `openssl pkey` reads it.
func (k Public) PEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(k.raw)
	if err != nil {
		return nil, fmt.Errorf("encode public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: der}), nil
}

// ParsePublicPEM reads one Ed25519 public key and refuses any further data.
func ParsePublicPEM(text []byte) (Public, error) {
	key, err := parsePEM(text, publicBlock, x509.ParsePKIXPublicKey)
	if err != nil {
		return Public{}, fmt.Errorf("read public key: %w", err)
	}
	public, ok := key.(ed25519.PublicKey)
	if !ok {
		return Public{}, fmt.Errorf("read public key: it is a %T, wanted Ed25519", key)
	}
	return Public{raw: public}, nil
}

// ParsePublicPEMs reads one or more Ed25519 public keys in a row. No key at all is an
// error: an empty file would otherwise make every receipt fail for the wrong reason.
func ParsePublicPEMs(text []byte) ([]Public, error) {
	var keys []Public
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

// Verify reports whether a signature of bytes as they are is that of the key.
func (k Public) Verify(data, signature []byte) bool { return ed25519.Verify(k.raw, data, signature) }

// Raw is the 32 bytes of the key.
func (k Public) Raw() []byte { return bytes.Clone(k.raw) }

// Key signs. It holds the private half; never print or log it.
type Key struct {
	private  ed25519.PrivateKey
	external *external // signs instead of private; nil for a key at hand
}

// New makes a key from 32 bytes of entropy. The same bytes give the same key.
func New(entropy io.Reader) (Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(entropy, seed); err != nil {
		return Key{}, fmt.Errorf("read entropy for a signing key: %w", err)
	}
	return Key{private: ed25519.NewKeyFromSeed(seed)}, nil
}

// Public returns the half that may be published.
func (k Key) Public() Public {
	if k.external != nil {
		return k.external.public
	}
	return Public{raw: k.private.Public().(ed25519.PublicKey)}
}

// SignRaw signs bytes as they are. The caller makes sure that the bytes have no other
// meaning under another rule.
func (k Key) SignRaw(data []byte) ([]byte, error) {
	if k.external != nil {
		return k.external.sign(data)
	}
	return ed25519.Sign(k.private, data), nil
}

// ParsePEM reads one Ed25519 private key in PKCS#8 and refuses any further data.
func ParsePEM(text []byte) (Key, error) {
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

// PEM encodes the private half as PKCS#8. Error: it is not here.
func (k Key) PEM() ([]byte, error) {
	if k.external != nil {
		return nil, errors.New("the private half is not here")
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return nil, fmt.Errorf("encode signing key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: privateBlock, Bytes: der}), nil
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
