package account

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/caller"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
)

// Download is svc download ID.
type Download struct {
	profile.Flags
	output
	ID     string           `arg:"" name:"job" help:"The job, JOB-…"`
	Frames caller.FrameList `env:"-" placeholder:"LIST" help:"Only these frames, such as 3,7-9 or 10-100x5. Only these are read from the ZIP and checked against the receipt."`
	Out    string           `env:"SVC_OUT" type:"path" placeholder:"DIR" help:"Folder for the download. Default: a folder named after the file and the job; with --frames, the current folder."`
}

// Help is printed below the flags.
func (Download) Help() string {
	return "An interrupted download resumes. " +
		terminal.ExitHelp(terminal.ExitBadSignature, terminal.ExitBadArtifact, terminal.ExitNotInLog, terminal.ExitInterrupted)
}

// Run fetches a completed job, by the same steps and checks as svc render.
func (c *Download) Run(app *kong.Context) (err error) {
	service, err := c.Service(profile.AgentKey | profile.AccountKey)
	if err != nil {
		return err
	}
	human := app.Stdout
	if c.JSON {
		human = app.Stderr
	}
	display := terminal.NewDisplay(human, time.Now)
	api, err := service.Client(profile.RetriesOn(service.Server, human, display)...)
	if err != nil {
		return err
	}
	ctx, stop := untilSignalSaying(&err, "stopped; the frames stay at the service. Run the same command again to continue the download")
	defer stop()
	job, err := api.Job(ctx, c.ID)
	if err != nil {
		return err
	}
	if job.Status != client.StatusCompleted {
		return notCompleted(job)
	}
	if c.Frames != "" {
		return proof.WithExitCode(c.pick(ctx, app, api, job))
	}
	result, err := caller.Run(ctx, caller.Options{
		Client: api, Server: service.Server, JobID: job.JobID, Folder: c.Out, Display: display,
	})
	if err != nil {
		return proof.WithExitCode(err)
	}
	return c.print(app, result, func() { result.Print(app.Stdout) })
}

// picked is what --frames has fetched, in the form of --json.
type picked struct {
	OK     bool     `json:"ok"`
	JobID  string   `json:"job_id"`
	Frames []string `json:"frames"` // paths, by frame number
}

// pick reads single frames out of the ZIP. The receipt is verified first, and each frame
// has the SHA-256 that the receipt states before it gets its name.
func (c *Download) pick(ctx context.Context, app *kong.Context, api *client.Client, job *client.Job) error {
	signed, err := signedReceipt(ctx, api, job.JobID)
	if err != nil {
		return err
	}
	wanted, err := chosen(c.Frames, signed)
	if err != nil {
		return err
	}
	parts, err := api.ZIPParts(ctx, job.JobID)
	if err != nil {
		return err
	}
	if parts.Artifact.SHA256 != signed.Artifact.SHA256 {
		return fmt.Errorf("%w: the service offers the ZIP %s", receipt.ErrBadArtifact, parts.Artifact.SHA256)
	}
	archive, err := zip.NewReader(parts, parts.Artifact.SizeBytes)
	if err != nil {
		return fmt.Errorf("read the ZIP: %w", err)
	}
	folder := c.Out
	if folder == "" {
		folder = "."
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("create the folder for the frames: %w", err)
	}
	result := picked{OK: true, JobID: job.JobID}
	for _, frame := range wanted {
		path := filepath.Join(folder, frame.File)
		if err := unpack(archive, frame, path); err != nil {
			return err
		}
		result.Frames = append(result.Frames, path)
		if !c.JSON {
			terminal.Printf(app.Stdout, "%s", path)
		}
	}
	return c.print(app, result, func() {
		terminal.Printf(app.Stdout, "%s of %d, checked against the signed receipt", terminal.CountOf(len(wanted), "frame"), len(signed.Frames))
	})
}

// signedReceipt fetches a job's receipt and checks its signature and that it is in the
// log.
func signedReceipt(ctx context.Context, api *client.Client, jobID string) (*receipt.Receipt, error) {
	reply, err := api.Receipt(ctx, jobID)
	if err != nil {
		return nil, err
	}
	logged, err := api.Proof(ctx, jobID)
	if err != nil {
		return nil, err
	}
	published, err := api.SigningKeys(ctx) // last, so that a key rotated just now is among them
	if err != nil {
		return nil, err
	}
	keys, err := proof.PublicKeys(published)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(reply)
	if err != nil {
		return nil, fmt.Errorf("read the receipt: %w", err)
	}
	report := receipt.Verify(document, keys, nil)
	report.InLog(&receipt.Inclusion{LogIndex: logged.LogIndex, InclusionProof: logged.InclusionProof, Checkpoint: logged.Checkpoint}, keys, nil)
	if api.TestMode() {
		report.TakeTest()
	}
	if err := report.Err(); err != nil {
		return nil, err
	}
	if report.Receipt.JobID != jobID {
		return nil, fmt.Errorf("%w: it is the receipt of job %s", receipt.ErrBadSignature, report.Receipt.JobID)
	}
	return report.Receipt, nil
}

// unpack writes one frame of the ZIP to path once its bytes are those of the receipt. The
// receipt's names are checked to be file names when it is verified.
func unpack(archive *zip.Reader, frame receipt.Frame, path string) (err error) {
	from, err := archive.Open(receipt.FrameEntry(frame.File))
	if err != nil {
		return fmt.Errorf("%w: frame %d: %w", receipt.ErrBadArtifact, frame.Frame, err)
	}
	defer func() { _ = from.Close() }()
	part := path + ".part"
	to, err := os.Create(part)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, sum), from)
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(fmt.Errorf("fetch frame %d: %w", frame.Frame, err), os.Remove(part))
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != frame.SHA256 {
		return errors.Join(fmt.Errorf("%w: frame %d has the SHA-256 %s", receipt.ErrBadArtifact, frame.Frame, got), os.Remove(part))
	}
	return atomicfile.Publish(part, path)
}

// chosen returns the receipt's frames that the list names, by number. A range without any
// frame is an error, since it was typed for some reason.
func chosen(list caller.FrameList, r *receipt.Receipt) (frames []receipt.Frame, err error) {
	wanted := list.Frames()
	for _, f := range r.Frames {
		if wanted.Has(f.Frame) {
			frames = append(frames, f)
		}
	}
	for _, named := range wanted.Ranges() {
		had := func(f receipt.Frame) bool { return named.List().Has(f.Frame) }
		if !slices.ContainsFunc(frames, had) {
			return nil, terminal.WrongUsagef("--frames %s: the job has no frame %d; it has %s", list, named.First, quote.ListText(r.FrameStart, r.FrameEnd, r.FrameStep, r.FrameList))
		}
	}
	return frames, nil
}
