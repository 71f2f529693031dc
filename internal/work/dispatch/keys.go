package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// A node key whose workers fail a share of their attempts that is out of line with all
// other keys is paused: its workers get no frames, under any name. A broken scene fails
// on every key alike and pauses none; without another key there is nothing to compare
// with.
const (
	// keyWindow is the time over which attempts are counted; it begins with the end of the
	// last pause at the earliest.
	keyWindow = time.Hour
	// minKeyAttempts is how many attempts a key, and all others together, must have in the
	// window: a share of fewer is not significant.
	minKeyAttempts = 20
	// outOfLine is how many times the share of the others a key's share must exceed.
	outOfLine    = 3
	firstPause   = time.Minute // doubles with each pause
	longestPause = time.Hour
	// pauseMemory is how long after its end a pause makes the next one longer.
	pauseMemory = 24 * time.Hour
)

// tally counts the attempts of a key in the window.
type tally struct{ failed, attempts int64 }

func (t tally) share() float64 { return float64(t.failed) / float64(t.attempts) }

// isOutOfLine compares a key with all others together. More than half must have failed.
func (t tally) isOutOfLine(others tally) bool {
	return min(t.attempts, others.attempts) >= minKeyAttempts && t.share() > 0.5 && t.share() > outOfLine*others.share()
}

// pauseFor is how long a key is paused that was paused so often before.
func pauseFor(before int64) time.Duration {
	if before >= 6 {
		return longestPause
	}
	return min(firstPause<<before, longestPause)
}

// PauseKeys pauses the keys that are out of line and logs each one for the operator.
// Several processes may call it at once.
func (w *Workers) PauseKeys(ctx context.Context) error {
	var tallies map[string]tally
	err := w.DB.Read(ctx, func(tx *db.Tx) (err error) {
		tallies, err = tallyKeys(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	var all tally
	for _, t := range tallies {
		all = tally{all.failed + t.failed, all.attempts + t.attempts}
	}
	for keyID, t := range tallies {
		if t.isOutOfLine(tally{all.failed - t.failed, all.attempts - t.attempts}) {
			if err := w.pauseKey(ctx, keyID, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// tallyKeys counts the attempts of every key; nil while no key failed often enough to be
// paused, which one indexed read finds out.
func tallyKeys(ctx context.Context, tx *db.Tx) (map[string]tally, error) {
	since := tx.Now - keyWindow.Microseconds()
	failing, err := tx.KeysFailing(ctx, query.KeysFailingParams{Since: since, Least: minKeyAttempts/2 + 1})
	if err == nil && len(failing) == 0 {
		return nil, nil
	}
	if err == nil {
		failing, err = tx.KeysFailing(ctx, query.KeysFailingParams{Since: since, Least: 1})
	}
	if err != nil {
		return nil, fmt.Errorf("count the failed attempts of keys: %w", err)
	}
	rendering, err := tx.KeysRendering(ctx, since)
	if err != nil {
		return nil, fmt.Errorf("count the frames of keys: %w", err)
	}
	tallies := map[string]tally{}
	for _, r := range failing {
		tallies[r.KeyID] = tally{r.Failed, r.Failed}
	}
	for _, r := range rendering {
		t := tallies[r.KeyID]
		tallies[r.KeyID] = tally{t.failed, t.attempts + r.Rendered}
	}
	return tallies, nil
}

// pauseKey pauses a key and suspends all its workers. It does nothing for a key that is
// paused or revoked by now.
func (w *Workers) pauseKey(ctx context.Context, keyID string, t tally) error {
	var paused *query.KeyPauseParams
	var name string
	err := w.DB.Write(ctx, func(tx *db.Tx) error {
		paused = nil // the transaction may run again after a conflict
		key, err := tx.KeyStanding(ctx, keyID)
		if err != nil || key.PausedUntil > tx.Now || key.RevokedAt != 0 {
			return err
		}
		before := key.Pauses
		if key.PausedUntil+pauseMemory.Microseconds() < tx.Now {
			before = 0
		}
		until := tx.Now + pauseFor(before).Microseconds()
		name, paused = key.Name, &query.KeyPauseParams{KeyID: keyID, Pauses: before + 1, PausedUntil: until, Failed: t.failed, Attempts: t.attempts}
		trust, err := tx.KeyPause(ctx, *paused)
		if err == nil {
			err = trustRows.Renew(ctx, tx, trust)
		}
		if err != nil {
			return err
		}
		suspended, err := tx.WorkersOfKeySuspend(ctx, query.WorkersOfKeySuspendParams{Until: until, KeyID: keyID, Since: tx.Now - trustLife.Microseconds()})
		if err != nil {
			return err
		}
		for _, row := range suspended {
			if err := workerRows.Renew(ctx, tx, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pause a node key: %w", err)
	}
	if paused != nil {
		w.Log.Warn("node key paused: its workers fail what the others render", "key_id", keyID, "name", name,
			"until", db.Time(paused.PausedUntil), "failed", paused.Failed, "attempts", paused.Attempts, "times", paused.Pauses)
	}
	return nil
}

// PausedKey is a paused node key as the operator sees it.
type PausedKey struct {
	KeyID    string    `json:"key_id"`
	Name     string    `json:"name"`
	Until    time.Time `json:"until"`
	Times    int64     `json:"times"`    // pauses in a row
	Failed   int64     `json:"failed"`   // of Attempts, in the hour before the pause
	Attempts int64     `json:"attempts"` // frames that its workers rendered or failed
}

// PausedKeys lists the node keys that are paused now, the longest pause first.
func PausedKeys(ctx context.Context, tx *db.Tx) ([]PausedKey, error) {
	rows, err := tx.KeysPaused(ctx, tx.Now)
	if err != nil {
		return nil, fmt.Errorf("list paused node keys: %w", err)
	}
	out := []PausedKey{}
	for _, r := range rows {
		out = append(out, PausedKey{KeyID: r.KeyID, Name: r.Name, Until: db.Time(r.PausedUntil), Times: r.Pauses, Failed: r.Failed, Attempts: r.Attempts})
	}
	return out, nil
}

// ClassOf names what a worker renders on: only workers of one class paint equal pixels.
// The query ConfirmerOnline builds the same text.
func ClassOf(worker query.Worker) string {
	return strings.Join([]string{worker.Device, worker.DeviceName, worker.Renderer, worker.BlenderVersion, worker.BuildHash}, "|")
}

// OnGPU reports whether the workers of a class render on GPUs.
func OnGPU(class string) bool { return strings.HasPrefix(class, contract.RenderDevice+"|") }

// Compared says whether a worker's picture was confirmed by another worker's.
type Compared struct {
	WorkerID, KeyID string
	Confirmed       bool
}

// RecordCompared counts compared pictures in the trust of their keys. A picture that
// others contradicted is its worker's fault, and the operator is notified.
func (w *Workers) RecordCompared(ctx context.Context, tx *db.Tx, jobID string, frame int64, all []Compared) error {
	// Rows are locked in one order.
	slices.SortFunc(all, func(a, b Compared) int {
		return cmp.Or(cmp.Compare(a.KeyID, b.KeyID), cmp.Compare(a.WorkerID, b.WorkerID))
	})
	for _, c := range all {
		if !c.Confirmed {
			w.Log.Warn("a worker painted other pixels than two others", "worker_id", c.WorkerID, "key_id", c.KeyID, "job_id", jobID, "frame", frame)
			if err := w.RecordFault(ctx, tx, c.WorkerID); err != nil {
				return err
			}
		}
	}
	for _, c := range all {
		trust, err := tx.KeyCompared(ctx, query.KeyComparedParams{KeyID: c.KeyID, Confirmed: number(c.Confirmed), Refuted: number(!c.Confirmed)})
		if err != nil {
			return fmt.Errorf("count a compared picture: %w", err)
		}
		if err := trustRows.Renew(ctx, tx, trust); err != nil {
			return err
		}
	}
	return nil
}

// RefutedKey is a node key of which pictures were refuted, as the operator sees it.
type RefutedKey struct {
	KeyID     string `json:"key_id"`
	Name      string `json:"name"`
	Confirmed int64  `json:"confirmed"` // pictures that another worker painted alike
	Refuted   int64  `json:"refuted"`   // pictures that two others painted otherwise
}

// RefutedKeys lists the node keys of which a picture was ever refuted, the worst first.
func RefutedKeys(ctx context.Context, tx *db.Tx) ([]RefutedKey, error) {
	rows, err := tx.KeysRefuted(ctx)
	if err != nil {
		return nil, fmt.Errorf("list refuted node keys: %w", err)
	}
	out := []RefutedKey{}
	for _, r := range rows {
		out = append(out, RefutedKey(r))
	}
	return out, nil
}
