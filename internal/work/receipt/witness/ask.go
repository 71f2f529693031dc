package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
)

const (
	askEvery = 2 * time.Second  // between two checks of the log
	freshen  = time.Hour        // after which an unchanged checkpoint is co-signed again
	askTime  = 10 * time.Second // for one witness
)

// Asker has the checkpoints of a service's log co-signed. Each process of a service asks
// for itself and keeps what it got in memory.
type Asker struct {
	Policy Policy
	DB     *db.DB
	Keys   *signing.Ring
	Client *http.Client
	Log    *slog.Logger

	latest atomic.Pointer[receiptlog.Cosigned]
	signed map[string]int64 // the size that each witness signed last, by its name
	away   string           // what was last logged of those that did not sign
}

// Latest is the last checkpoint that enough witnesses have signed; nil before the first, and
// on a nil Asker.
func (a *Asker) Latest() *receiptlog.Cosigned {
	if a == nil {
		return nil
	}
	return a.latest.Load()
}

// Run asks until ctx ends: soon after the log has grown, and now and then where it has not.
func (a *Asker) Run(ctx context.Context) {
	timer := time.NewTicker(askEvery)
	defer timer.Stop()
	for {
		if err := a.Round(ctx); err != nil && ctx.Err() == nil {
			a.Log.Warn("the log's checkpoint was not given to the witnesses", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
	}
}

// Round asks each witness once for the log as it is now, unless it is witnessed already. Too
// few signatures are no error: they are logged when that changes, and the service continues.
func (a *Asker) Round(ctx context.Context) error {
	var head receipt.Checkpoint
	var text []byte
	var keyID string
	err := a.DB.Read(ctx, func(tx *db.Tx) error {
		key, err := a.Keys.Current(ctx, tx)
		if err != nil {
			return err
		}
		if head, err = receiptlog.Head(ctx, tx); err != nil {
			return err
		}
		keyID = key.Public().ID()
		text, err = receipt.SignCheckpoint(head, key)
		return err
	})
	if err != nil {
		return err
	}
	if last := a.Latest(); head.Size == 0 || (last != nil && last.Size == head.Size && last.KeyID == keyID && time.Since(last.At) < freshen) {
		return nil
	}
	type answer struct {
		line []byte
		size int64
		err  error
	}
	answers := make([]answer, len(a.Policy.Witnesses))
	var asked sync.WaitGroup
	for i, w := range a.Policy.Witnesses {
		asked.Go(func() {
			line, size, err := a.ask(ctx, w, head, text)
			answers[i] = answer{line, size, err}
		})
	}
	asked.Wait()
	if a.signed == nil {
		a.signed = map[string]int64{}
	}
	var by, away []string
	for i, w := range a.Policy.Witnesses {
		a.signed[w.Name] = answers[i].size
		if answers[i].err != nil {
			away = append(away, fmt.Sprintf("%s: %v", w.Name, answers[i].err))
			continue
		}
		by, text = append(by, w.Name), append(text, answers[i].line...)
	}
	met := a.Policy.Met(by)
	if met {
		a.latest.Store(&receiptlog.Cosigned{Checkpoint: head, Text: text, KeyID: keyID, At: time.Now()})
	}
	a.tell(met, by, away)
	return nil
}

// tell logs which witnesses sign and which do not, when that changes.
func (a *Asker) tell(met bool, by, away []string) {
	said := fmt.Sprint(met, by, away)
	if said == a.away {
		return
	}
	a.away = said
	switch {
	case !met:
		a.Log.Warn("too few witnesses sign the log's checkpoints: continuing without them", "signed", by, "not", away)
	case len(away) > 0:
		a.Log.Warn("enough witnesses sign the log's checkpoints, and some do not", "signed", by, "not", away)
	default:
		a.Log.Info("all witnesses sign the log's checkpoints", "signed", by)
	}
}

// ask gives one witness a checkpoint and returns its line, checked, and the size that it has
// signed last as far as known.
func (a *Asker) ask(ctx context.Context, w Party, head receipt.Checkpoint, text []byte) (line []byte, size int64, err error) {
	ctx, done := context.WithTimeout(ctx, askTime)
	defer done()
	size = a.signed[w.Name]
	line, err = a.send(ctx, w, size, head, text)
	// After a restart, or with another process running, the witness knows
	// better.
	if stale, ok := errors.AsType[staleError](err); ok && stale.size != size {
		size = stale.size
		line, err = a.send(ctx, w, size, head, text)
	}
	if err != nil {
		return nil, size, err
	}
	// A note has its lines after those of the log.
	if _, err := w.Key.Check(slices.Concat(text, line)); err != nil {
		return nil, size, err
	}
	return line, head.Size, nil
}

func (a *Asker) send(ctx context.Context, w Party, old int64, head receipt.Checkpoint, text []byte) ([]byte, error) {
	if old > head.Size {
		return nil, fmt.Errorf("it has signed the log at %d leaves, and the log has %d: another process is ahead, or leaves are lost", old, head.Size)
	}
	proof, err := a.prove(ctx, old, head)
	if err != nil {
		return nil, err
	}
	body := fmt.Appendf(nil, "old %d\n", old)
	for _, hash := range proof {
		body = fmt.Appendf(body, "%s\n", hash)
	}
	body = append(append(body, '\n'), text...)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+AddPath, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := a.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostBody))
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusOK:
		return lineOf(answer, w.Key)
	case response.StatusCode == http.StatusConflict && response.Header.Get("Content-Type") == sizeType:
		size, err := strconv.ParseInt(strings.TrimSpace(string(answer)), 10, 64)
		if err != nil || size < 0 {
			return nil, fmt.Errorf("it answers the size %q", answer)
		}
		return nil, staleError{size}
	case response.StatusCode == http.StatusConflict, response.StatusCode == http.StatusUnprocessableEntity:
		return nil, fmt.Errorf("%w, says %s", ErrFork, w.URL)
	}
	return nil, fmt.Errorf("%s answers %s", w.URL, response.Status)
}

// prove is the proof that head continues the log of old leaves (RFC 6962 2.1.2).
func (a *Asker) prove(ctx context.Context, old int64, head receipt.Checkpoint) (proof tlog.TreeProof, err error) {
	if old == 0 || old == head.Size {
		return nil, nil
	}
	err = a.DB.Read(ctx, func(tx *db.Tx) error {
		proof, err = receiptlog.ProveContinues(ctx, tx, old, head)
		return err
	})
	return proof, err
}

// lineOf finds a witness's line in its answer, which may have those of other keys.
func lineOf(answer []byte, key PublicKey) ([]byte, error) {
	for line := range strings.Lines(string(answer)) {
		if strings.HasPrefix(line, "— "+key.Name+" ") && strings.HasSuffix(line, "\n") {
			return []byte(line), nil
		}
	}
	return nil, fmt.Errorf("%w %s: its answer has no line of that name", ErrNotCosigned, key.Name)
}
