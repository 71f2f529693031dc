package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"svc.example/internal/work/receipt"
)

// RenderRequest is a scene to render into a folder. Scene, Folder and LegalAcceptance are
// required.
type RenderRequest struct {
	Scene    string   // path of a .blend, or of a .zip with one
	Folder   string   // for the frames, the receipt and what proves it
	Frames   string   // such as 1-50,80-100x5; "" for the scene's own
	Settings Settings // what else differs from the file
	Reuse    bool     // takes over frames of earlier jobs that show the same, at no cost
	// MaxCents is the most that it may cost; nil for the quote's own price.
	MaxCents        *int64
	LegalAcceptance string // [LegalV1]
}

// Rendering is a job whose frames come into a folder.
type Rendering struct {
	Job    *Job // as it was started
	Folder string
	// Movie is the path of the movie, once Frames has ended; "" if the scene's output is none, or
	// no worker has encoded it in time. [Client.SaveMovie] waits again.
	Movie string

	client *Client
}

// Render prices a scene and starts it, unless it costs more than MaxCents. Nothing was
// started where it returns an error, but for a start whose answer was lost. Errors: those of
// [Client.Inspect] and [Client.Start]. It takes an agent key.
func (c *Client) Render(ctx context.Context, r RenderRequest) (*Rendering, error) {
	file, err := os.Open(r.Scene)
	if err != nil {
		return nil, fmt.Errorf("open the scene: %w", err)
	}
	defer file.Close()
	quote, err := c.Inspect(ctx, InspectRequest{Filename: filepath.Base(r.Scene), Body: file, Frames: r.Frames, Settings: r.Settings, Reuse: r.Reuse})
	if err != nil {
		return nil, err
	}
	job, err := c.Start(ctx, quote, StartRequest{LegalAcceptance: r.LegalAcceptance, MaxPriceCents: r.MaxCents})
	if err != nil {
		return nil, err
	}
	return &Rendering{Job: job, Folder: r.Folder, client: c}, nil
}

// Frames yields each frame when it is in the folder, as [Client.Sync] does, and at the end puts
// the receipt next to them; svc verify then checks all of it. If the scene's output is a movie, that
// comes last, and no error says that there is none. An error is the last thing it yields: a job
// that failed or was cancelled is a *JobEndedError.
func (r *Rendering) Frames(ctx context.Context) iter.Seq2[FrameSaved, error] {
	return func(yield func(FrameSaved, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		left := false
		job, err := r.client.Sync(ctx, r.Job.JobID, r.Folder, func(f FrameSaved) {
			if !left && !yield(f, nil) {
				left = true
				stop()
			}
		}, nil)
		if left {
			return
		}
		if err == nil && job.Status != StatusCompleted {
			err = &JobEndedError{job}
		}
		if err == nil {
			err = r.client.SaveProof(ctx, job.JobID, r.Folder)
		}
		if err == nil {
			r.Movie, err = r.client.SaveMovie(ctx, job, r.Folder)
			if refused := (*Error)(nil); errors.Is(err, ErrMovieNotReady) || errors.As(err, &refused) {
				err = nil
			}
		}
		if err != nil {
			yield(FrameSaved{}, err)
		}
	}
}

// JobEndedError is a job that ended without its frames. It cost nothing.
type JobEndedError struct{ Job *Job }

func (e *JobEndedError) Error() string {
	if f := e.Job.Failure; f != nil {
		return fmt.Sprintf("job %s %s: %s (%s)", e.Job.JobID, e.Job.Status, f.Message, f.Code)
	}
	return fmt.Sprintf("job %s was %s", e.Job.JobID, e.Job.Status)
}

// Names of the files that prove a folder.
const (
	receiptFile = "receipt.json"
	proofFile   = "proof.json"
	keysFile    = "keys.json"
)

// SaveProof writes the receipt of a completed job, its proof and the service's keys into a
// folder, as svc verify looks for them, and the receipts of the jobs from which it took frames
// over. Errors: *Error with render_not_completed, and those of the file system.
func (c *Client) SaveProof(ctx context.Context, jobID, folder string) error {
	if err := c.saveAnswer(ctx, c.jobPath(jobID, "/receipt"), filepath.Join(folder, receiptFile)); err != nil {
		return err
	}
	if err := c.saveOrigins(ctx, folder); err != nil {
		return err
	}
	for _, file := range []struct{ name, path string }{
		{proofFile, c.jobPath(jobID, "/proof")}, {keysFile, "/v1/signing-keys"}, // the keys last: one may be new
	} {
		if err := c.saveAnswer(ctx, file.path, filepath.Join(folder, file.name)); err != nil {
			return err
		}
	}
	return nil
}

// saveOrigins saves the receipts that the one in a folder takes frames over from.
func (c *Client) saveOrigins(ctx context.Context, folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, receiptFile))
	var answer Receipt
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		return fmt.Errorf("read the receipt: %w", err)
	}
	earlier, err := c.EarlierReceipts(ctx, &answer)
	if err != nil {
		return err
	}
	for id, r := range earlier {
		path := filepath.Join(folder, filepath.FromSlash(receipt.OriginFile(id)))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path+".part", r.Envelope, 0o644)
		}
		if err == nil {
			err = os.Rename(path+".part", path)
		}
		if err != nil {
			return fmt.Errorf("save receipt %s: %w", id, err)
		}
	}
	return nil
}

// saveAnswer writes an answer as it came: other writers of JSON give a number another form,
// in which it is not what was signed. The file appears whole or not at all.
func (c *Client) saveAnswer(ctx context.Context, path, to string) error {
	body, err := c.open(ctx, path)
	if err != nil {
		return err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err == nil {
		err = os.WriteFile(to+".part", text, 0o644)
	}
	if err == nil {
		err = os.Rename(to+".part", to)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", filepath.Base(to), err)
	}
	return nil
}
