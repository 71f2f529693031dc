package reuse

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/render/framelist"
)

// Bounds of a search.
const (
	mostJobs = 100            // the newest jobs of a workspace whose files are kept
	lately   = 24 * time.Hour // workers that were seen so long before the last one count as the farm
)

// Found is the frames of a quote that are taken over. Its JSON is stored with the quote.
type Found struct {
	Kind string   `json:"kind,omitempty"` // of workers that render the rest
	From []Origin `json:"from"`           // by job, none twice
	// Changes says why the other frames are rendered; nil where nothing was compared.
	Changes *Changes `json:"changes,omitempty"`
}

// Origin is a job of the workspace and the frames that are taken from it.
type Origin struct {
	JobID  string `json:"job_id"`
	Frames string `json:"frames"` // such as 1-96,140-250
}

// Find looks for frames of a workspace that show the pictures, in jobs whose ZIP is kept
// until a time. All are by one kind of workers, which the farm has.
func Find(ctx context.Context, tx *db.Tx, workspaceID string, p Pictures, frames framelist.List, until time.Time) (Found, error) {
	found := Found{From: []Origin{}}
	kept, err := tx.ContentKeysKept(ctx, query.ContentKeysKeptParams{WorkspaceID: workspaceID, Until: db.Micros(until), Max: mostJobs})
	if err != nil {
		return found, fmt.Errorf("look for frames of earlier jobs: %w", err)
	}
	if len(kept) == 0 {
		found.Changes = p.earlier.rest(frames, nil)
		return found, nil
	}
	classes, err := tx.WorkerClasses(ctx, lately.Microseconds())
	if err != nil {
		return found, fmt.Errorf("look for frames of earlier jobs: %w", err)
	}
	off, err := Off(ctx, tx)
	if err != nil {
		return found, err
	}
	jobs := map[string]string{} // by the frame and its key; the newest job has it
	for _, k := range kept {
		for line := range strings.Lines(k.Keys) {
			if name := strings.TrimSpace(line); jobs[name] == "" {
				jobs[name] = k.JobID
			}
		}
	}
	most := 0
	byKind := map[string]map[int]string{}
	for _, c := range classes {
		class := Class{c.Renderer, c.Device, c.DeviceName, c.BlenderVersion, c.BuildHash}
		if off[class] {
			continue
		}
		own := byKind[c.Kind]
		if own == nil {
			own = map[int]string{}
			byKind[c.Kind] = own
		}
		for _, frame := range frames {
			if job := jobs[line(frame, p.key(frame, class, p.denoised && c.Denoise == undenoised))]; job > own[frame] {
				own[frame] = job
			}
		}
		if len(own) > most {
			most, found.Kind = len(own), c.Kind
		}
	}
	found.From = origins(byKind[found.Kind])
	if fits, err := outputsFit(ctx, tx, found.From); err != nil || !fits {
		return Found{From: []Origin{}, Changes: p.Never(fmt.Sprintf("with more files of File Output nodes than the %d that a job may have", contract.JobOutputs)).earlier.rest(frames, nil)}, err
	}
	found.Changes = p.earlier.rest(frames, byKind[found.Kind])
	return found, nil
}

// outputsFit reports whether frames of other jobs have no more outputs than a job may have. Those of
// frames between them count too.
func outputsFit(ctx context.Context, tx *db.Tx, from []Origin) (bool, error) {
	outputs := int64(0)
	for _, o := range from {
		frames, err := framelist.Parse(o.Frames, contract.MaxFrames)
		if err != nil {
			return false, fmt.Errorf("read frames of %s: %w", o.JobID, err)
		}
		n, err := tx.FrameOutputsBetween(ctx, query.FrameOutputsBetweenParams{JobID: o.JobID, First: int64(slices.Min(frames)), Last: int64(slices.Max(frames))})
		if err != nil {
			return false, fmt.Errorf("count the outputs of %s: %w", o.JobID, err)
		}
		outputs += n
	}
	return outputs <= contract.JobOutputs, nil
}

// Jobs are the orders of the jobs of a workspace that Find looks at now, the newest first.
func Jobs(ctx context.Context, tx *db.Tx, workspaceID string) ([]query.JobsWithContentKeysRow, error) {
	jobs, err := tx.JobsWithContentKeys(ctx, query.JobsWithContentKeysParams{WorkspaceID: workspaceID, Until: quoteEnd(tx), Max: mostJobs})
	if err != nil {
		return nil, fmt.Errorf("look for earlier jobs: %w", err)
	}
	return jobs, nil
}

// Unlike lists the frames of a job that are not taken over, and says what keeps them from it.
func Unlike(ctx context.Context, tx *db.Tx, jobID string) (map[int]string, error) {
	rows, err := tx.FramesUnlike(ctx, jobID)
	if err != nil {
		return nil, fmt.Errorf("look for frames of an earlier job: %w", err)
	}
	unlike := map[int]string{}
	for _, row := range rows {
		switch {
		case row.Finding != "":
			unlike[int(row.Frame)] = "with the finding " + row.Finding
		case !Repeatable(row.Switched):
			unlike[int(row.Frame)] = "rendered with " + strings.ReplaceAll(row.Switched, ",", ", ")
		}
	}
	return unlike, nil
}

// quoteEnd is the end of a quote of now.
func quoteEnd(tx *db.Tx) int64 {
	return db.Micros(tx.Time().Add(contract.Published().Current().QuoteLifetime))
}

// Possible reports whether a workspace has frames that a quote of now could take over.
func Possible(ctx context.Context, tx *db.Tx, workspaceID string) (bool, error) {
	kept, err := tx.ContentKeysOfAny(ctx, query.ContentKeysOfAnyParams{WorkspaceID: workspaceID, Until: quoteEnd(tx)})
	if err != nil {
		return false, fmt.Errorf("look for frames of earlier jobs: %w", err)
	}
	return kept, nil
}

// origins lists jobs with their frames, the oldest job first.
func origins(jobs map[int]string) []Origin {
	frames := map[string][]int{}
	for frame, job := range jobs {
		frames[job] = append(frames[job], frame)
	}
	out := []Origin{}
	for job, numbers := range frames {
		out = append(out, Origin{job, framelist.Of(numbers).String()})
	}
	slices.SortFunc(out, func(a, b Origin) int { return strings.Compare(a.JobID, b.JobID) })
	return out
}

// line is a frame with its key.
func line(frame int, key string) string { return strconv.Itoa(frame) + " " + key }

// Text is the form in which a quote keeps what was found.
func (f Found) Text() (string, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return "", fmt.Errorf("write reused frames: %w", err)
	}
	return string(text), nil
}

// Read reads what a quote keeps; nil of "", a quote that did not ask.
func Read(text string) (*Found, error) {
	if text == "" {
		return nil, nil
	}
	var f Found
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, fmt.Errorf("read reused frames: %w", err)
	}
	_, err := f.Jobs()
	return &f, err
}

// Jobs are the jobs that frames are taken from, by frame. A frame that two have is an error.
func (f *Found) Jobs() (map[int]string, error) {
	jobs := map[int]string{}
	if f == nil {
		return jobs, nil
	}
	for _, o := range f.From {
		frames, err := framelist.Parse(o.Frames, contract.MaxFrames)
		if err != nil {
			return nil, fmt.Errorf("read reused frames of %s: %w", o.JobID, err)
		}
		for _, frame := range frames {
			if jobs[frame] != "" {
				return nil, fmt.Errorf("frame %d is taken from %s and from %s", frame, jobs[frame], o.JobID)
			}
			jobs[frame] = o.JobID
		}
	}
	return jobs, nil
}

// Accepted is a frame that a job has, and what rendered it.
type Accepted struct {
	Frame    int
	By       Class
	Switched string // the settings that its worker changed, as its row has them
}

// Keep stores the keys of a job that completes, so that later orders find its frames. A job
// without any is kept too: later orders are compared with it, and say why they take none over.
func Keep(ctx context.Context, tx *db.Tx, workspaceID, jobID string, keys string) error {
	row := query.ContentKeysKeepParams{JobID: jobID, WorkspaceID: workspaceID, Keys: keys, CreatedAt: tx.Now}
	row.RowSum = keyRows.Of(row)
	if err := tx.ContentKeysKeep(ctx, row); err != nil {
		return fmt.Errorf("keep the keys of %s: %w", jobID, err)
	}
	return nil
}

// Keys are the keys of frames, as Keep takes them.
func (p Pictures) Keys(frames []Accepted) string {
	var b strings.Builder
	for _, f := range frames {
		if key := p.key(f.Frame, f.By, slices.Contains(strings.Split(f.Switched, ","), denoiseOff)); key != "" {
			b.WriteString(line(f.Frame, key))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Forget removes the keys of a job whose ZIP is removed.
func Forget(ctx context.Context, tx *db.Tx, jobID string) error {
	if err := tx.ContentKeysForget(ctx, jobID); err != nil {
		return fmt.Errorf("forget the keys of %s: %w", jobID, err)
	}
	return nil
}

// Erase removes the keys of a workspace. Repeating it changes nothing.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.ContentKeysErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase keys: %w", err)
	}
	return nil
}

// A job's keys carry a checksum: nothing else in the store says them.
var keyRows = rowsum.Table[query.ContentKey]{Name: "content_key", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{keyRows, classRows}

// Audit reports keys that are not as they were written, or of jobs that have no ZIP. An error
// means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	stray, err := tx.AuditContentKeys(ctx)
	if err != nil {
		return fmt.Errorf("audit keys: %w", err)
	}
	const rule = "keys are of frames that are kept"
	for _, jobID := range stray {
		breach(rule, jobID, "the job has no ZIP, or is of another workspace")
	}
	if err := auditClasses(ctx, tx, breach); err != nil {
		return err
	}
	return keyRows.Audit(ctx, tx, breach, func(row query.ContentKey) error {
		for line := range strings.Lines(row.Keys) {
			frame, key, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if _, err := strconv.Atoi(frame); err != nil || len(key) != 2*keySize || strings.Trim(key, "0123456789abcdef") != "" {
				breach(rule, row.JobID, "%.80q is no frame with its key", line)
				return nil
			}
		}
		return nil
	})
}
