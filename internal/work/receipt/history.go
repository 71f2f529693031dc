package receipt

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/signingkey"
)

// Reasons for the end of a key.
const (
	Superseded  = "superseded"  // another key took its place; it was not disclosed
	Compromised = "compromised" // someone else may have it
)

// End is the end of a key, by its place in the log: the key may have signed leaves before
// LogSize, and none from there on.
type End struct {
	Reason  string // Superseded or Compromised
	LogSize int64  // leaves that the log had when the key ended
	// Checkpoint is the log's checkpoint of LogSize leaves, as a signed note by a key that
	// was good when it was published; "" where the service that published it could not sign.
	Checkpoint string
}

// DatedKey is a published key with its end; End is nil for a key without one, or whose end
// is still to come.
type DatedKey struct {
	Key signingkey.Public
	End *End
}

// History is every key that a service has published. Using it means trusting its source
// like that of a key.
type History []DatedKey

// publishedKey is a key in the answer of /v1/signing-keys, as far as a verifier needs it.
type publishedKey struct {
	KeyID         string     `json:"key_id"`
	PublicKeyPEM  string     `json:"public_key_pem"`
	ValidTo       *time.Time `json:"valid_to"`
	EndReason     *string    `json:"end_reason"`
	EndLogSize    *int64     `json:"end_log_size"`
	EndCheckpoint *string    `json:"end_checkpoint"`
}

// ParseHistory reads a saved answer of /v1/signing-keys. It refuses a list that contradicts
// itself: a key whose id is another key's, an unknown reason, and a checkpoint of an end
// that is not signed by a key which is good for it, or is of another size. Answers of
// services that kept no ends give keys without an end.
func ParseHistory(document []byte) (History, error) {
	var answer struct {
		Keys []publishedKey `json:"keys"`
	}
	if err := json.Unmarshal(document, &answer); err != nil {
		return nil, fmt.Errorf("read the history of keys: it is no answer of /v1/signing-keys: %w", err)
	}
	if len(answer.Keys) == 0 {
		return nil, errors.New("read the history of keys: it has none")
	}
	var history History
	for _, p := range answer.Keys {
		key, err := p.dated()
		if err != nil {
			return nil, fmt.Errorf("read the history of keys: key %q: %w", p.KeyID, err)
		}
		if _, twice := history.find(key.Key.ID()); twice {
			return nil, fmt.Errorf("read the history of keys: key %q stands twice", p.KeyID)
		}
		history = append(history, key)
	}
	for _, key := range history {
		if key.End == nil || key.End.Checkpoint == "" {
			continue
		}
		c, err := history.openCheckpoint([]byte(key.End.Checkpoint))
		if err != nil {
			return nil, fmt.Errorf("read the history of keys: the end of key %s: %w", key.Key.ID(), err)
		}
		if c.Size != key.End.LogSize {
			return nil, fmt.Errorf("read the history of keys: the end of key %s is at %d leaves, its checkpoint at %d", key.Key.ID(), key.End.LogSize, c.Size)
		}
	}
	return history, nil
}

func (p publishedKey) dated() (DatedKey, error) {
	key, err := signingkey.ParsePublicPEM([]byte(p.PublicKeyPEM))
	if err != nil {
		return DatedKey{}, err
	}
	if key.ID() != p.KeyID {
		return DatedKey{}, fmt.Errorf("its id is %s", key.ID())
	}
	if p.EndLogSize == nil {
		return DatedKey{Key: key}, nil
	}
	end := &End{Reason: Superseded, LogSize: *p.EndLogSize}
	if p.EndReason != nil {
		end.Reason = *p.EndReason
	}
	if p.EndCheckpoint != nil {
		end.Checkpoint = *p.EndCheckpoint
	}
	if end.LogSize < 0 || (end.Reason != Superseded && end.Reason != Compromised) {
		return DatedKey{}, fmt.Errorf("its end is at %d leaves, with the reason %q", end.LogSize, end.Reason)
	}
	return DatedKey{key, end}, nil
}

// Keys are the public keys of the history.
func (h History) Keys() []signingkey.Public {
	keys := make([]signingkey.Public, len(h))
	for i, k := range h {
		keys[i] = k.Key
	}
	return keys
}

func (h History) find(id string) (DatedKey, bool) {
	for _, k := range h {
		if k.Key.ID() == id {
			return k, true
		}
	}
	return DatedKey{}, false
}

// openCheckpoint is OpenCheckpoint by a key that is good for a checkpoint of its size. A
// key that another person may have is good for none, because the person can write any size;
// one that was superseded is good for what the log was until its end.
func (h History) openCheckpoint(text []byte) (Checkpoint, error) {
	c, err := OpenCheckpoint(text, h.Keys())
	if err != nil {
		return c, err
	}
	var bad error
	for _, k := range h {
		if _, err := OpenCheckpoint(text, []signingkey.Public{k.Key}); err != nil {
			continue
		}
		switch {
		case k.End == nil, k.End.Reason == Superseded && c.Size <= k.End.LogSize:
			return c, nil
		case k.End.Reason == Compromised:
			bad = fmt.Errorf("%w: the checkpoint is signed by key %s, which is compromised: download the proof again", ErrNotInLog, k.Key.ID())
		default:
			bad = fmt.Errorf("%w: the checkpoint of %d leaves is signed by key %s, which ended at %d: download the proof again", ErrNotInLog, c.Size, k.Key.ID(), k.End.LogSize)
		}
	}
	return c, bad
}

// InTime adds the check "key" to the report of a valid receipt: its key had not ended when
// it signed. It judges by the receipt's place in the log, never by the times that it
// claims, so p must be the proof that [Report.InLog] has checked; that one's checkpoint
// must be by a key that is good for it. A nil history skips the check. On the report of an
// invalid receipt it does nothing.
func (r *Report) InTime(history History, p *Inclusion) {
	switch {
	case r.Receipt == nil:
		return
	case history == nil:
		r.add("key", Skipped, "no history of keys was given: whether the key had ended is not checked")
		return
	}
	key, found := history.find(r.KeyID)
	if !found {
		_ = r.distrust("key", fmt.Errorf("key %s is not in the history of keys", r.KeyID))
		return
	}
	if p != nil && !r.failed("log") {
		if _, err := history.openCheckpoint([]byte(p.Checkpoint)); err != nil {
			r.notInLog("key", err)
			return
		}
	}
	switch {
	case key.End == nil:
		r.add("key", OK, "it has not ended, by the history of keys")
	case p == nil || r.Receipt.LogIndex == nil:
		_ = r.distrust("key", fmt.Errorf("it ended at %s of the log (%s), and without a proof nothing shows that the receipt came before", counted(key.End.LogSize, "leaf"), key.End.Reason))
	case r.failed("log"):
		_ = r.distrust("key", fmt.Errorf("it ended at %s of the log (%s), and the receipt is not proven to be in it", counted(key.End.LogSize, "leaf"), key.End.Reason))
	case *r.Receipt.LogIndex >= key.End.LogSize:
		_ = r.distrust("key", fmt.Errorf("it ended at %s of the log (%s), and the receipt is leaf %d: it was signed after the end", counted(key.End.LogSize, "leaf"), key.End.Reason, *r.Receipt.LogIndex))
	default:
		r.add("key", OK, "it ended at %s of the log (%s), after leaf %d", counted(key.End.LogSize, "leaf"), key.End.Reason, *r.Receipt.LogIndex)
	}
}

// failed reports whether a check of the name has failed.
func (r *Report) failed(name string) bool {
	for _, c := range r.Checks {
		if c.Name == name && c.Status == Failed {
			return true
		}
	}
	return false
}
