// Package witness lets other parties co-sign the checkpoints of a log, so that a service
// that shows two logs is found out: a witness signs only what continues all that it has
// signed before.
//
// It speaks C2SP tlog-witness (POST /add-checkpoint) on both sides, with signatures as
// C2SP tlog-cosignature: [Witness] is such a party, [Asker] asks some of them for the log
// of this service, [Policy] says how many must have signed.
//
// What always holds: a witness keeps a checkpoint on disk before it signs it, and signs no
// other of the same size, none that is shorter, and none that does not continue it. A
// service continues when its witnesses are away.
//
// Other packages keep the log (receiptlog), define the form of a proof (receipt), and
// serve both (the doors, app). Start reading at Witness.
package witness

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// cosignatureType is the kind of key that C2SP signed-note gives to cosignatures.
const cosignatureType = 4

// PublicKey is a witness's name and key. Its text is a C2SP verifier key, NAME+ID+KEY.
type PublicKey struct {
	Name string
	raw  ed25519.PublicKey
}

// ParseKey reads a verifier key of a witness. It refuses those of logs.
func ParseKey(text string) (PublicKey, error) {
	name, rest, _ := strings.Cut(text, "+")
	id, encoded, _ := strings.Cut(rest, "+")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) != 1+ed25519.PublicKeySize || raw[0] != cosignatureType || checkName(name) != nil {
		return PublicKey{}, fmt.Errorf("%q is no witness's key: wanted NAME+ID+KEY of an Ed25519 cosigner", text)
	}
	key := PublicKey{name, raw[1:]}
	if fmt.Sprintf("%08x", key.KeyHash()) != id {
		return PublicKey{}, fmt.Errorf("the witness's key %q does not have its id, which is %08x", text, key.KeyHash())
	}
	return key, nil
}

// checkName refuses what signed notes cannot name.
func checkName(name string) error {
	if receipt.CheckOrigin(name) != nil {
		return fmt.Errorf("%q cannot name a witness: wanted 1 to 200 visible ASCII characters without +", name)
	}
	return nil
}

// String is the verifier key, for others.
func (k PublicKey) String() string {
	return fmt.Sprintf("%s+%08x+%s", k.Name, k.KeyHash(), base64.StdEncoding.EncodeToString(append([]byte{cosignatureType}, k.raw...)))
}

// KeyHash identifies the key in a signature line.
func (k PublicKey) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(k.Name+"\n\x04"), k.raw...))
	return binary.BigEndian.Uint32(sum[:])
}

// verifier adapts a key to package note.
type verifier struct{ PublicKey }

func (v verifier) Name() string { return v.PublicKey.Name }

// Verify checks a signature of C2SP tlog-cosignature: eight bytes of time, then Ed25519.
func (v verifier) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	return ed25519.Verify(v.raw, cosigned(text, binary.BigEndian.Uint64(signature)), signature[8:])
}

// cosigned is what a witness signs: when, and the checkpoint's text.
func cosigned(text []byte, seconds uint64) []byte {
	return fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", seconds, text)
}

// ErrNotCosigned reports that a checkpoint has no good signature by a witness.
var ErrNotCosigned = errors.New("the checkpoint is not co-signed by the witness")

// Check returns when a witness has co-signed a checkpoint, a signed note. Error:
// ErrNotCosigned.
func (k PublicKey) Check(checkpoint []byte) (time.Time, error) {
	opened, err := note.Open(checkpoint, note.VerifierList(verifier{k}))
	if err != nil {
		return time.Time{}, fmt.Errorf("%w %s", ErrNotCosigned, k.Name)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(opened.Sigs[0].Base64)
	if err != nil || len(raw) < 12 {
		return time.Time{}, fmt.Errorf("%w %s", ErrNotCosigned, k.Name)
	}
	return time.Unix(int64(binary.BigEndian.Uint64(raw[4:])), 0).UTC(), nil
}

// Key is the private half of a witness's key.
type Key struct {
	PublicKey
	private signingkey.Key
}

// NewKey gives a key the name of its witness.
func NewKey(name string, private signingkey.Key) (Key, error) {
	return Key{PublicKey{name, private.Public().Raw()}, private}, checkName(name)
}

// cosign signs a checkpoint's text and returns the line for the note.
func (k Key) cosign(text []byte, now time.Time) ([]byte, error) {
	seconds := uint64(now.Unix())
	signature := binary.BigEndian.AppendUint32(nil, k.KeyHash())
	signature = binary.BigEndian.AppendUint64(signature, seconds)
	made, err := k.private.SignRaw(cosigned(text, seconds))
	if err != nil {
		return nil, fmt.Errorf("co-sign the checkpoint: %w", err)
	}
	return fmt.Appendf(nil, "— %s %s\n", k.Name, base64.StdEncoding.EncodeToString(append(signature, made...))), nil
}
