package signingkey

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
)

// Signer signs with a private half that this process does not have: a device, a service for
// keys, another account. It returns the 64 bytes of an Ed25519 signature over data as it is
// (RFC 8032, no pre-hash). It may be called from several goroutines.
type Signer interface {
	Sign(data []byte) ([]byte, error)
}

// External is a key that a Signer signs with. Each signature is verified before it is
// used. Ed25519 is deterministic, so equal data is signed once while it is remembered: the
// checkpoint of a log that rests costs one signature.
func External(public Public, signer Signer) Key {
	return Key{external: &external{public: public, signer: signer, made: map[[sha256.Size]byte][]byte{}}}
}

// remembered is the number of signatures that an external key keeps.
const remembered = 64

type external struct {
	public Public
	signer Signer

	mu   sync.Mutex
	made map[[sha256.Size]byte][]byte
}

// errForeignSignature reports a signer with another key, or a broken one.
var errForeignSignature = errors.New("the signature is not that of the public key: is it another key's, or of another algorithm than plain Ed25519?")

func (e *external) sign(data []byte) ([]byte, error) {
	sum := sha256.Sum256(data)
	e.mu.Lock()
	signature := e.made[sum]
	e.mu.Unlock()
	if signature != nil {
		return signature, nil
	}
	signature, err := e.signer.Sign(data)
	if err != nil {
		return nil, fmt.Errorf("sign with key %s: %w", e.public.ID(), err)
	}
	if !e.public.Verify(data, signature) {
		return nil, fmt.Errorf("sign with key %s: %w", e.public.ID(), errForeignSignature)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.made) >= remembered {
		clear(e.made)
	}
	e.made[sum] = signature
	return signature, nil
}
