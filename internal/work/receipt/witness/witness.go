package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/work/receipt"
)

// AddPath is where a witness takes checkpoints, below its address.
const AddPath = "/add-checkpoint"

const (
	sizeType  = "text/x.tlog.size" // of a response with the size that the witness has
	mostProof = 63                 // hashes
	mostBody  = 64 << 10           // bytes of a request or a response
)

// Reasons for which a witness refuses a checkpoint.
var (
	ErrMalformed  = errors.New("the request has no checkpoint and proof in it")
	ErrUnknownLog = errors.New("this witness does not watch that log")
	ErrUnsigned   = errors.New("the checkpoint is not signed by a key of its log")
	ErrOldSize    = errors.New("the old size is larger than the checkpoint's")
	ErrFork       = errors.New("the log shows another history than before")
	ErrProof      = errors.New("the proof does not show that the checkpoint continues the last one")
)

// staleError has the size of the checkpoint that the witness signed last.
type staleError struct{ size int64 }

func (e staleError) Error() string {
	return fmt.Sprintf("this witness has signed the log at size %d", e.size)
}

// Witness co-signs the checkpoints of some logs. It is safe for concurrent use; only one
// process may use its folder.
type Witness struct {
	Key    Key
	Logs   map[string][]note.Verifier // the keys of each log, by its origin
	Folder string                     // keeps the last checkpoint of each log
	Now    func() time.Time
	Log    *slog.Logger

	mu sync.Mutex
}

// ServeHTTP answers POST /add-checkpoint as defined by C2SP tlog-witness.
func (w *Witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.URL.Path != AddPath || r.Method != http.MethodPost {
		http.NotFound(out, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, mostBody))
	if err != nil {
		http.Error(out, "the request is too large or was cut off", http.StatusBadRequest)
		return
	}
	line, err := w.add(body)
	if err == nil {
		_, _ = out.Write(line) // a failed write means that the log is gone
		return
	}
	if stale, ok := errors.AsType[staleError](err); ok {
		out.Header().Set("Content-Type", sizeType)
		out.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprintf(out, "%d\n", stale.size)
		return
	}
	for refused, status := range map[error]int{
		ErrMalformed: http.StatusBadRequest, ErrUnknownLog: http.StatusNotFound, ErrUnsigned: http.StatusForbidden,
		ErrOldSize: http.StatusBadRequest, ErrFork: http.StatusConflict, ErrProof: http.StatusUnprocessableEntity,
	} {
		if errors.Is(err, refused) {
			http.Error(out, refused.Error(), status)
			return
		}
	}
	w.Log.Error("a checkpoint could not be kept, and was not signed", "err", err)
	http.Error(out, "the checkpoint could not be kept", http.StatusInternalServerError)
}

// add checks one request, keeps its checkpoint and returns the line of its co-signature.
func (w *Witness) add(body []byte) ([]byte, error) {
	old, proof, checkpoint, err := parseRequest(body)
	if err != nil {
		return nil, err
	}
	origin, _, _ := strings.Cut(string(checkpoint), "\n")
	keys, known := w.Logs[origin]
	if !known {
		return nil, ErrUnknownLog
	}
	opened, err := note.Open(checkpoint, note.VerifierList(keys...))
	if err != nil {
		return nil, ErrUnsigned
	}
	next, err := receipt.ParseCheckpoint(opened.Text)
	if err != nil {
		return nil, ErrMalformed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last, err := w.last(origin)
	if err != nil {
		return nil, err
	}
	if err := continues(last, next, old, proof); err != nil {
		if errors.Is(err, ErrFork) || errors.Is(err, ErrProof) {
			w.Log.Error("a log does not continue what it was before: nothing was signed", "why", err, "origin", origin, "size", next.Size, "root", next.Root, "signed_before", last.Root, "checkpoint", string(checkpoint))
		}
		return nil, err
	}
	// On disk first: a witness that forgets what it signed could sign another history.
	if err := atomicfile.Replace(w.path(origin), checkpoint, 0o600); err != nil {
		return nil, fmt.Errorf("keep the checkpoint: %w", err)
	}
	w.Log.Info("co-signed", "origin", origin, "size", next.Size, "root", next.Root)
	return w.Key.cosign([]byte(opened.Text), w.Now())
}

// continues checks that next is a later state of the log of last, in the order of C2SP
// tlog-witness.
func continues(last, next receipt.Checkpoint, old int64, proof tlog.TreeProof) error {
	switch {
	case old > next.Size:
		return ErrOldSize
	case old != last.Size:
		return staleError{last.Size}
	case old == next.Size && old > 0 && last.Root != next.Root:
		return ErrFork
	case old == 0 && next.Size == 0 && next.Root != tlog.Hash(sha256.Sum256(nil)):
		return ErrProof
	case old == 0 || old == next.Size:
		if len(proof) > 0 {
			return ErrProof
		}
		return nil
	}
	if tlog.CheckTree(proof, next.Size, next.Root, old, last.Root) != nil {
		return ErrProof
	}
	return nil
}

// last is the checkpoint that was signed last; the zero value for none.
func (w *Witness) last(origin string) (receipt.Checkpoint, error) {
	text, err := os.ReadFile(w.path(origin))
	if errors.Is(err, fs.ErrNotExist) {
		return receipt.Checkpoint{}, nil
	}
	if err != nil {
		return receipt.Checkpoint{}, fmt.Errorf("read the last checkpoint: %w", err)
	}
	signed, _, _ := bytes.Cut(text, []byte("\n\n"))
	last, err := receipt.ParseCheckpoint(string(signed) + "\n")
	if err != nil || last.Origin != origin {
		return last, fmt.Errorf("%s is damaged: %w", w.path(origin), errors.Join(err, ErrMalformed))
	}
	return last, nil
}

// path is the file of a log's last checkpoint. A log's name can hold what no file's can.
func (w *Witness) path(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return filepath.Join(w.Folder, hex.EncodeToString(sum[:16])+".checkpoint")
}

// parseRequest reads "old SIZE", the hashes of the proof, an empty line, and the note.
func parseRequest(body []byte) (old int64, proof tlog.TreeProof, checkpoint []byte, err error) {
	head, rest, found := strings.Cut(string(body), "\n\n")
	lines := strings.Split(head, "\n")
	size, is := strings.CutPrefix(lines[0], "old ")
	if !found || !is || len(lines)-1 > mostProof {
		return 0, nil, nil, ErrMalformed
	}
	if old, err = strconv.ParseInt(size, 10, 64); err != nil || old < 0 || strconv.FormatInt(old, 10) != size {
		return 0, nil, nil, ErrMalformed
	}
	for _, line := range lines[1:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return 0, nil, nil, ErrMalformed
		}
		proof = append(proof, hash)
	}
	return old, proof, []byte(rest), nil
}
