// Package signing decides which key signs receipts and checkpoints, and publishes
// every key that ever did.
//
// What always holds: a key's public half is in the database before the key signs
// anything, and stays there. A key signs only while it is valid by the transaction's
// clock. Among the valid keys with a private half at hand, the newest signs. Private
// halves are in files of mode 0600 or come from the operator; they are never in the
// database.
//
// Rotation overlaps: the new key signs at once, and the old ones stay valid for
// processes that do not have the new one yet.
//
// The package leaves the form of keys and signatures to receipt. Start reading at
// Ring.
package signing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/ground/signingkey/keyfile"
)

// firstFile is the file of the first key in a new folder. Its name holds no key id, so
// that processes that start together on an empty folder agree on one file.
const firstFile = "signing.pem"

// ErrNoKey reports that no valid key has its private half at hand.
var ErrNoKey = errors.New("this process has no signing key that is valid now")

// Ring holds the private halves at hand. It is safe for concurrent use. Nothing closes
// it; the keys live as long as the process.
type Ring struct {
	folder string // where keys are created and searched; "" when the operator gives the key
	mu     sync.Mutex
	held   map[string]signingkey.Key // by key id
}

// Open reads the keys in folder, which must exist, and creates the first one in an
// empty folder. Processes that open the same folder at once get the same first key.
// Nothing is published yet: call Register before the first signature. A file that is
// not a key is an error and stays as it is.
func Open(folder string, entropy io.Reader) (*Ring, error) {
	if _, err := keyfile.LoadOrCreate(filepath.Join(folder, firstFile), entropy); err != nil {
		return nil, err
	}
	return Read(folder)
}

// Read is Open without creating a key. Where there is none, as in a service whose
// operator gives the key, the ring signs nothing.
func Read(folder string) (*Ring, error) {
	r := &Ring{folder: folder, held: map[string]signingkey.Key{}}
	for _, pattern := range []string{firstFile, "signing-*.pem"} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, fmt.Errorf("list the signing keys: %w", err)
		}
		for _, path := range paths {
			key, err := keyfile.Load(path)
			if err != nil {
				return nil, err
			}
			r.held[key.Public().ID()] = key
		}
	}
	return r, nil
}

// Given returns the ring of one key that the operator gives. Such a ring has no folder:
// it finds no key that another process makes, and Make fails.
func Given(key signingkey.Key) *Ring {
	return &Ring{held: map[string]signingkey.Key{key.Public().ID(): key}}
}

// Register publishes the keys at hand that are not published yet, valid from now. A
// service calls it before it signs. Repeating it changes nothing. A key that was ended
// stays ended.
func (r *Ring) Register(ctx context.Context, tx *db.Tx) error {
	for _, key := range r.keys() {
		if err := publish(ctx, tx, key.Public()); err != nil {
			return err
		}
	}
	return nil
}

// publish stores a public half with no end. The row is never deleted, because receipts
// that the key has signed must be verifiable for ever.
func publish(ctx context.Context, tx *db.Tx, key signingkey.Public) error {
	text, err := key.PEM()
	if err != nil {
		return err
	}
	row := query.SigningKey{KeyID: key.ID(), PublicPem: string(text), ValidFrom: tx.Now, EndSize: noLeafSince}
	row.RowSum = keyRows.Of(row)
	if err := tx.SigningKeyAdd(ctx, query.SigningKeyAddParams(row)); err != nil {
		return fmt.Errorf("publish signing key %s: %w", key.ID(), err)
	}
	return nil
}

// Current returns the key to sign with in this transaction: the newest published one
// that has not ended and whose private half is at hand. It reads the database each
// time, so a rotation takes effect in every process with the next signature. Error:
// ErrNoKey; any other error means that a key's file is damaged or the database failed.
func (r *Ring) Current(ctx context.Context, tx *db.Tx) (signingkey.Key, error) {
	rows, err := tx.SigningKeys(ctx)
	if err != nil {
		return signingkey.Key{}, fmt.Errorf("read the signing keys: %w", err)
	}
	for _, row := range rows {
		// A published key never starts in the future: a clock that was set back
		// must not stop signing.
		if ended(tx, row) {
			continue
		}
		// If a key's file is missing, the key belongs to another process or was taken
		// away, and an older one may do. A file that is there and unreadable is an
		// error, because signing with an older key would hide the damage.
		key, err := r.find(row.KeyID)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
	}
	return signingkey.Key{}, ErrNoKey
}

// Until returns when the last of the keys ends that can sign now: the zero time for a key
// without an end. found is false when there is none, as Current's ErrNoKey.
func (r *Ring) Until(ctx context.Context, tx *db.Tx) (end time.Time, found bool, err error) {
	rows, err := tx.SigningKeys(ctx)
	if err != nil {
		return end, false, fmt.Errorf("read the signing keys: %w", err)
	}
	for _, row := range rows {
		if ended(tx, row) || !r.Holds(row.KeyID) {
			continue
		}
		if row.ValidTo == 0 {
			return time.Time{}, true, nil
		}
		if ends := db.Time(row.ValidTo); ends.After(end) {
			end, found = ends, true
		}
	}
	return end, found, nil
}

// find returns a key at hand. It reads a key that another process has created in the
// folder in the meantime. The lock covers the file, so that two callers read it once. A
// missing key is an fs.ErrNotExist.
func (r *Ring) find(id string) (signingkey.Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, ok := r.held[id]
	if ok {
		return key, nil
	}
	if r.folder == "" || !digest.Is(id) { // a damaged id names no file
		return key, fs.ErrNotExist
	}
	key, err := keyfile.Load(filepath.Join(r.folder, fileName(id)))
	if err != nil {
		return key, err
	}
	if key.Public().ID() != id {
		return key, fmt.Errorf("%s holds key %s, not the one it is named for", fileName(id), key.Public().ID())
	}
	r.held[id] = key
	return key, nil
}

// Holds reports whether a key's private half is at hand.
func (r *Ring) Holds(id string) bool {
	_, err := r.find(id)
	return err == nil
}

// fileName is the file name of a key that rotation creates. 16 hex digits distinguish
// the keys of one folder; find still compares the whole id.
func fileName(id string) string { return "signing-" + id[:16] + ".pem" }

// keys returns a copy of the keys at hand, in no order, so that callers need no lock.
func (r *Ring) keys() []signingkey.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]signingkey.Key, 0, len(r.held))
	for _, key := range r.held {
		all = append(all, key)
	}
	return all
}

// Make creates a key in the folder, for Rotate. It returns after the file is on disk: a
// published key must never be lost by a crash. A key that is made and never published
// signs nothing.
func (r *Ring) Make(entropy io.Reader) (signingkey.Key, error) {
	if r.folder == "" {
		return signingkey.Key{}, errors.New("the signing key comes from the configuration: start the services with another key, then end this one")
	}
	key, err := signingkey.New(entropy)
	if err != nil {
		return key, err
	}
	return key, keyfile.Create(filepath.Join(r.folder, fileName(key.Public().ID())), key)
}

// ErrForeign reports that none of the keys at hand belongs to this service.
var ErrForeign = errors.New("none of the keys here belongs to this service: name the folder that holds its keys with --data")

// Rotate publishes next, which signs from now on, and ends the keys at hand after the
// overlap, for a reason: receipt.Superseded or receipt.Compromised. Keys that are
// compromised end at once. The overlap is for processes that have not got next's file; until then they
// sign with an old key. Keys that have ended, or end earlier, stay as they are. Error:
// ErrForeign when the service has keys and none is at hand, because the service would
// not find the new key either.
func (r *Ring) Rotate(ctx context.Context, tx *db.Tx, next signingkey.Key, overlap time.Duration, reason string) error {
	rows, err := tx.SigningKeys(ctx)
	if err != nil {
		return fmt.Errorf("read the signing keys: %w", err)
	}
	ours := func(row query.SigningKey) bool {
		return slices.ContainsFunc(r.keys(), func(key signingkey.Key) bool { return key.Public().ID() == row.KeyID })
	}
	if len(rows) > 0 && !slices.ContainsFunc(rows, ours) {
		return ErrForeign
	}
	// Before the old keys are ended, so that there is always a key to sign with.
	if err := publish(ctx, tx, next.Public()); err != nil {
		return err
	}
	// A key that has ended already, or ends before the overlap is over, keeps its
	// earlier end.
	for _, key := range r.keys() {
		gone := func(row query.SigningKey) bool { return row.KeyID == key.Public().ID() && ended(tx, row) }
		if key.Public().ID() == next.Public().ID() || slices.ContainsFunc(rows, gone) {
			continue
		}
		if err := Retire(ctx, tx, key.Public().ID(), overlap, reason); err != nil && !errors.Is(err, errNotEnded) {
			return err
		}
	}
	return nil
}

// Published is a key's public half with its validity (decisions 8).
type Published struct {
	Key       signingkey.Public
	ValidFrom time.Time
	ValidTo   time.Time // zero: no end is set
	Reason    string    // of the end; "" without one
	// EndSize is the number of leaves that the log had when the key ended; -1 while it has
	// not, and for a minute after, in which receipts that were begun before can still come.
	EndSize int64
}

// WhyEnded is Reason, nil without an end.
func (p Published) WhyEnded() *string {
	if p.Reason == "" {
		return nil
	}
	return &p.Reason
}

// LogSizeAtEnd is EndSize, nil where that is -1.
func (p Published) LogSizeAtEnd() *int64 {
	if p.EndSize == noLeafSince {
		return nil
	}
	return &p.EndSize
}

// All returns every published key, newest first, ended ones included. It recomputes
// each key's id from its public half: a row that was altered is an error, never a key.
func All(ctx context.Context, tx *db.Tx) ([]Published, error) {
	rows, err := tx.SigningKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the signing keys: %w", err)
	}
	all := make([]Published, len(rows))
	for i, row := range rows {
		key, err := signingkey.ParsePublicPEM([]byte(row.PublicPem))
		if err != nil || key.ID() != row.KeyID {
			return nil, errors.Join(fmt.Errorf("signing key %s is damaged in the database", row.KeyID), err)
		}
		size, err := endSize(ctx, tx, row)
		if err != nil {
			return nil, err
		}
		all[i] = Published{key, db.Time(row.ValidFrom), db.Time(row.ValidTo), row.EndReason, size}
	}
	return all, nil
}

// PublicKeys returns the keys that verify receipts and checkpoints, ended ones
// included: what a key signed while it was valid stays good. Newest first.
func PublicKeys(ctx context.Context, tx *db.Tx) ([]signingkey.Public, error) {
	all, err := All(ctx, tx)
	keys := make([]signingkey.Public, len(all))
	for i, p := range all {
		keys[i] = p.Key
	}
	return keys, err
}
