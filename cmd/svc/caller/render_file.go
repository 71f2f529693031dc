package caller

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/work/receipt"
)

// Options says what Run renders and where it shows the progress.
type Options struct {
	Client *client.Client
	File   string     // path of a .blend; "" follows JobID instead
	JobID  string     // a job that is already started; "" starts File
	Frames FrameRange // the zero value takes the scene's own range
	Folder string     // for everything fetched; "" takes one named after file and job
	// Accept decides about the price before anything is spent. Its error ends Run
	// and is returned as it is.
	Accept  func(context.Context, *client.Quote) error
	Display terminal.Display
}

// Result is what Run has achieved, and the form of --json. After a failure it holds
// what is known so far: a JobID means that the job was started.
type Result struct {
	OK           bool            `json:"ok"`
	JobID        string          `json:"job_id"`
	ReceiptID    string          `json:"receipt_id"`
	ChargedCents int64           `json:"charged_cents"`
	Currency     string          `json:"currency"`
	Folder       string          `json:"folder"` // that has the frames
	Frames       []string        `json:"frames"` // paths, in the order of frame numbers
	ZIP          string          `json:"zip"`
	SHA256       string          `json:"sha256"`  // of the ZIP
	Receipt      string          `json:"receipt"` // path, as are the next three
	SigningKey   string          `json:"signing_key"`
	Proof        string          `json:"proof"`
	Checkpoint   string          `json:"checkpoint"`
	Renderer     string          `json:"renderer"` // "Blender", or the synthetic renderer's name
	RenderDevice string          `json:"render_device"`
	DeviceName   string          `json:"device_name"`
	Version      string          `json:"version"`  // of Blender
	Switched     []string        `json:"switched"` // settings of the scene that the worker changed
	Checks       []receipt.Check `json:"checks"`   // every step of the verification, failed ones too
	Error        *renderError    `json:"error"`
}

// Run takes a file all the way: price, start, wait, fetch, verify, unpack. It unpacks
// only what the receipt proves.
//
// The end of ctx stops it at any step but one: the start itself runs to its end.
// Running it again with the JobID continues after any failure, downloads included.
// Errors are those of package client, an *unknownStartError, a *jobError, and
// receipt.ErrBadSignature, ErrBadArtifact and ErrNotInLog.
func Run(ctx context.Context, o Options) (Result, error) {
	result := Result{JobID: o.JobID, Frames: []string{}, Switched: []string{}, Checks: []receipt.Check{}}
	var inputSHA256 string // "" where a job is followed and no file is at hand
	if o.JobID == "" {
		quote, err := inspect(ctx, o)
		if err != nil {
			return result, err
		}
		printQuote(o.Display, quote)
		if err := o.Accept(ctx, quote); err != nil {
			return result, err
		}
		// After the yes, Ctrl-C must not leave it unknown whether money is reserved.
		job, err := o.Client.Start(context.WithoutCancel(ctx), quote.UploadID, quote.QuoteID,
			client.StartRequest{LegalAcceptance: client.LegalV1})
		if err != nil {
			return result, startFailure(quote, err)
		}
		result.JobID, inputSHA256 = job.JobID, quote.InputSHA256
		o.Display.Say("started %s", job.JobID)
	}
	job, err := follow(ctx, o, result.JobID)
	if err != nil {
		return result, err
	}
	return result, result.fetch(ctx, o, job, inputSHA256)
}

// inspect uploads the file and returns its locked quote. The service's hash must be
// that of the local bytes: otherwise the person would accept a price for, and later
// get a receipt over, something else than the file on their disk.
func inspect(ctx context.Context, o Options) (*client.Quote, error) {
	file, err := os.Open(o.File)
	if err != nil {
		return nil, fmt.Errorf("open the file to render: %w", err)
	}
	defer file.Close()
	sum, err := digest.Of(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", o.File, err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read %s: %w", o.File, err)
	}
	upload := o.Display.Meter("upload", terminal.InBytes)
	defer upload.End()
	request := client.InspectRequest{Filename: filepath.Base(o.File), Body: file, Progress: upload.Move}
	if o.Frames.Given {
		request.FrameStart, request.FrameEnd, request.FrameStep = &o.Frames.Start, &o.Frames.End, &o.Frames.Step
	}
	quote, err := o.Client.Inspect(ctx, request)
	if err != nil {
		return nil, err
	}
	if quote.InputSHA256 != sum {
		return nil, fmt.Errorf("the service received other bytes than %s: SHA-256 %s instead of %s", o.File, quote.InputSHA256, sum)
	}
	return quote, nil
}

// unknownStartError is a start without an answer: the job may exist, with its price
// reserved. Its text shows how to find out at no cost, since starting one quote again
// returns the same job (decisions 6).
type unknownStartError struct {
	quote *client.Quote
	cause error
}

func (e *unknownStartError) Error() string {
	return fmt.Sprintf("it is not known whether the render was started and %s reserved for it: %v. "+
		"Starting the same quote again returns the same job and spends nothing more. Rendering the file again would spend again. Run:\n"+
		"  curl -H \"Authorization: Bearer $SVC_KEY\" -H 'Content-Type: application/json' \\\n"+
		"    -d '{\"quote_id\":%q,\"legal_acceptance\":%q}' \"$SVC_SERVER/node/v1/uploads/%s/start\"\n"+
		"Then follow its job_id:\n  svc render --job JOB-…",
		terminal.Money(e.quote.PriceCents, e.quote.Currency), e.cause, e.quote.QuoteID, client.LegalV1, e.quote.UploadID)
}

// Unwrap returns what the client saw, such as a lost connection.
func (e *unknownStartError) Unwrap() error { return e.cause }

// startFailure separates a start that the service refused from one whose outcome is
// unknown. Only an error of the service itself, one with a code, is a refusal; a 500
// may come after the transaction was committed, and a proxy's answer proves nothing.
func startFailure(quote *client.Quote, err error) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code != "" && refused.Status != http.StatusInternalServerError {
		return err
	}
	return &unknownStartError{quote, err}
}

// jobError is a job that ended without a result: failed or cancelled. The whole
// reservation was released.
type jobError struct{ job *client.Job }

func (e *jobError) Error() string {
	if e.job.Failure == nil {
		return fmt.Sprintf("job %s was %s; nothing was charged", e.job.JobID, e.job.Status)
	}
	return strings.TrimSpace(fmt.Sprintf("job %s failed: %s (%s); nothing was charged. %s",
		e.job.JobID, plaintext.Line(e.job.Failure.Message), e.job.Failure.Code, e.job.Failure.SuggestedAction))
}

// follow waits until the job is terminal and shows its progress. It returns a
// *jobError unless the job is completed.
//
// The count shown never goes back: a frame event may come before a job event that was
// written earlier, and after a lost connection the job is read instead of its events.
func follow(ctx context.Context, o Options, jobID string) (*client.Job, error) {
	frames := o.Display.Meter("frames", terminal.InFrames)
	defer frames.End()
	var done, total int64
	waiting := ""
	job, err := o.Client.Follow(ctx, jobID, func(e client.Event) {
		switch {
		case e.Frame != nil:
			done = max(done, terminal.FrameParts*int64(e.Frame.FramesCompleted))
		case e.Job != nil:
			done, total = max(done, doneOf(e.Job)), terminal.FrameParts*int64(e.Job.FrameCount)
			frames.Expect(leftText(e.Job))
			if now := waitingText(e.Job); now != waiting {
				waiting = now
				o.Display.Say("%s", now)
			}
			if e.Job.Status == client.StatusQueued {
				return // the estimate must not count the time in the queue
			}
		}
		frames.Move(done, total)
	})
	if err != nil {
		return nil, err
	}
	if job.Status != client.StatusCompleted {
		return nil, &jobError{job}
	}
	return job, nil
}

// doneOf is how far a job is, in terminal.FrameParts. Completed frames count whole.
// The rest comes from the service's percentage and always stays below one frame more,
// so that a frame is never shown as done before it is accepted.
func doneOf(job *client.Job) int64 {
	whole := terminal.FrameParts * int64(job.FramesCompleted)
	reported := int64(job.ProgressPercent / 100 * terminal.FrameParts * float64(job.FrameCount))
	return min(max(whole, reported), whole+terminal.FrameParts-1, terminal.FrameParts*int64(job.FrameCount))
}

// leftText is the service's estimate of the time left, "" when it has none. The range
// is shown where it adds something in whole seconds.
func leftText(job *client.Job) string {
	if job.ETASeconds == nil {
		return ""
	}
	text := inSeconds(*job.ETASeconds) + " left"
	if r := job.ETARange; r != nil && inSeconds(r.LowSeconds) != inSeconds(r.HighSeconds) {
		text += fmt.Sprintf(" (%s to %s)", inSeconds(r.LowSeconds), inSeconds(r.HighSeconds))
	}
	return text
}

// inSeconds formats seconds, rounded down, as in "3m20s".
func inSeconds(s float64) string {
	return (time.Duration(s) * time.Second).String()
}

// waitingText describes in words what happens to the job right now. The reasons are
// those of the API's waiting_reason (decisions 5).
func waitingText(job *client.Job) string {
	switch {
	case job.WaitingReason == "no_worker_online":
		return "waiting: no worker is online yet"
	case job.WaitingReason == "no_capable_worker":
		return "waiting: none of the workers that are online can render this job"
	case job.WaitingReason == "workers_busy":
		return "waiting: all workers that can render this job are busy"
	case job.Status == client.StatusRendering && job.DeviceName != "":
		return fmt.Sprintf("rendering on %s (%s)", job.DeviceName, job.RenderDevice)
	}
	return job.Status
}

// fetch downloads, verifies and unpacks a completed job. Without a given folder it
// makes one whose name ends with the job's last 8 characters: two jobs of one file do
// not overwrite each other, and a second call for the same job finds what is there.
//
// A receipt can be valid and still belong to another job or file. So its job, and
// where the file is known its input hash, must be the ones that were asked for.
func (r *Result) fetch(ctx context.Context, o Options, job *client.Job, inputSHA256 string) error {
	r.Folder = o.Folder
	if r.Folder == "" {
		suffix := job.JobID[max(0, len(job.JobID)-8):]
		r.Folder = strings.TrimSuffix(filepath.Base(job.Filename), filepath.Ext(job.Filename)) + "-" + suffix
	}
	if err := os.MkdirAll(r.Folder, 0o755); err != nil {
		return fmt.Errorf("create the folder for the frames: %w", err)
	}
	if err := r.download(ctx, o); err != nil {
		return err
	}
	signed, err := r.verify(ctx, o)
	if err != nil {
		return err
	}
	if signed.JobID != job.JobID || (inputSHA256 != "" && signed.Input.SHA256 != inputSHA256) {
		return fmt.Errorf("%w: it is the receipt of job %s over input %s", receipt.ErrBadSignature, signed.JobID, signed.Input.SHA256)
	}
	r.ReceiptID, r.ChargedCents, r.Currency, r.SHA256 = signed.ReceiptID, signed.ChargedCents, signed.Currency, signed.Artifact.SHA256
	r.Renderer = signed.Renderer.Application
	r.RenderDevice, r.DeviceName, r.Version, r.Switched = signed.RenderDevice, signed.DeviceName, signed.Renderer.Version, signed.Switched
	return r.unpack(signed.Frames)
}

// download fetches the ZIP. The file name comes from the service and must be a plain
// name: with a folder in it, it could write outside of r.Folder.
func (r *Result) download(ctx context.Context, o Options) error {
	artifact, err := o.Client.Artifact(ctx, r.JobID)
	if err != nil {
		return err
	}
	if artifact.Filename == "" || artifact.Filename != filepath.Base(artifact.Filename) {
		return fmt.Errorf("the service names the ZIP %q, which is not a file name", artifact.Filename)
	}
	r.ZIP = filepath.Join(r.Folder, artifact.Filename)
	meter := o.Display.Meter("download", terminal.InBytes)
	defer meter.End()
	_, err = o.Client.Download(ctx, r.JobID, r.ZIP, meter.Move)
	return err
}

// verify fetches the receipt, its proof and the service's keys, checks all of them
// and the ZIP in the same way as svc verify, and stores them beside the ZIP for later.
// Checks is set whether or not they pass.
func (r *Result) verify(ctx context.Context, o Options) (*receipt.Receipt, error) {
	reply, err := o.Client.Receipt(ctx, r.JobID)
	if err != nil {
		return nil, err
	}
	logged, err := o.Client.Proof(ctx, r.JobID)
	if err != nil {
		return nil, err
	}
	published, err := o.Client.SigningKeys(ctx) // last, so that a key rotated just now is among them
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
	report, err := proof.VerifyFile(document, keys, r.ZIP)
	if err != nil {
		return nil, err
	}
	report.InLog(&receipt.Inclusion{LogIndex: logged.LogIndex, InclusionProof: logged.InclusionProof, Checkpoint: logged.Checkpoint}, keys, nil)
	r.Checks = report.Checks
	if err := report.Err(); err != nil {
		return nil, err
	}
	return report.Receipt, r.keep(reply.Envelope, logged, keys)
}

// keep writes the files that svc verify needs: the receipt, its proof and all keys of
// the service, because receipt and checkpoint may be signed by different ones. The
// checkpoint also gets a file of its own, for other tools. Each file appears whole or
// not at all.
func (r *Result) keep(envelope []byte, logged *client.Proof, keys []receipt.PublicKey) error {
	logText, err := json.MarshalIndent(logged, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the proof: %w", err)
	}
	var public []byte
	for _, key := range keys {
		text, err := key.PEM()
		if err != nil {
			return err
		}
		public = append(public, text...)
	}
	for _, file := range []struct {
		path    *string
		name    string
		content []byte
	}{
		{&r.Receipt, "receipt.json", append(envelope, '\n')},
		{&r.Proof, proof.ProofFile, append(logText, '\n')},
		{&r.Checkpoint, "checkpoint", []byte(logged.Checkpoint)},
		{&r.SigningKey, proof.KeyFile, public},
	} {
		*file.path = filepath.Join(r.Folder, file.name)
		if err := atomicfile.Replace(*file.path, file.content, 0o644); err != nil {
			return fmt.Errorf("keep the proof: %w", err)
		}
	}
	return nil
}

// unpack writes the frames of a verified ZIP, in the receipt's order. Verification has
// shown that the ZIP has exactly these entries and that no name contains a folder.
func (r *Result) unpack(frames []receipt.Frame) error {
	archive, err := zip.OpenReader(r.ZIP)
	if err != nil {
		return fmt.Errorf("unpack the frames: %w", err)
	}
	defer archive.Close()
	for _, frame := range frames {
		path := filepath.Join(r.Folder, frame.File)
		if err := unpackFrame(&archive.Reader, receipt.FrameEntry(frame.File), path); err != nil {
			return fmt.Errorf("unpack frame %d: %w", frame.Frame, err)
		}
		r.Frames = append(r.Frames, path)
	}
	return nil
}

// unpackFrame writes one entry of the ZIP to path, over a file that is there. The
// error of Close counts: a full disk may show only then.
func unpackFrame(archive *zip.Reader, entry, path string) error {
	from, err := archive.Open(entry)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}
