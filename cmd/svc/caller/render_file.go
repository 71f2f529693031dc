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
	"svc.example/internal/work/receipt"
)

// Options say what to render and where to show it.
type Options struct {
	Client  *client.Client
	File    string     // a .blend; empty to follow jobID instead
	JobID   string     // a job that was started before; empty to start file
	Frames  FrameRange // not set: the scene's own
	Folder  string     // for everything fetched; empty: one named after file and job
	Accept  func(context.Context, *client.Quote) error
	Display terminal.Display
}

// Result is what came of it. After a failure it holds what is known: a
// JobID means that the job was started.
type Result struct {
	OK           bool            `json:"ok"`
	JobID        string          `json:"job_id"`
	ReceiptID    string          `json:"receipt_id"`
	ChargedCents int64           `json:"charged_cents"`
	Currency     string          `json:"currency"`
	Folder       string          `json:"folder"` // of the frames
	Frames       []string        `json:"frames"` // paths, by frame number
	ZIP          string          `json:"zip"`
	SHA256       string          `json:"sha256"` // of the ZIP
	Receipt      string          `json:"receipt"`
	SigningKey   string          `json:"signing_key"`
	Proof        string          `json:"proof"`
	Checkpoint   string          `json:"checkpoint"`
	Renderer     string          `json:"renderer"` // "Blender", or what rendered in its place
	RenderDevice string          `json:"render_device"`
	DeviceName   string          `json:"device_name"`
	Version      string          `json:"version"` // of Blender
	Switched     []string        `json:"switched"`
	Checks       []receipt.Check `json:"checks"`
	Error        *renderError    `json:"error"`
}

// Run takes a file the whole way: price, start, wait, fetch, verify,
// unpack. It unpacks only what the receipt proves.
func Run(ctx context.Context, o Options) (Result, error) {
	result := Result{JobID: o.JobID, Frames: []string{}, Switched: []string{}, Checks: []receipt.Check{}}
	var inputSHA256 string // known where the file is
	if o.JobID == "" {
		quote, err := inspect(ctx, o)
		if err != nil {
			return result, err
		}
		printQuote(o.Display, quote)
		if err := o.Accept(ctx, quote); err != nil {
			return result, err
		}
		// Once accepted, a Ctrl-C must not leave unknown whether money was reserved.
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

// inspect uploads the file and makes sure that the price is for these bytes.
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

// unknownStartError is a start of which no answer came: the job may be there, and its
// price reserved.
type unknownStartError struct {
	quote *client.Quote
	cause error
}

func (e *unknownStartError) Error() string {
	return fmt.Sprintf("it is not known whether the render was started and %s held for it: %v. "+
		"Starting the same quote again gives the one job, and spends once; rendering the file again would spend again:\n"+
		"  curl -H \"Authorization: Bearer $SVC_KEY\" -H 'Content-Type: application/json' \\\n"+
		"    -d '{\"quote_id\":%q,\"legal_acceptance\":%q}' \"$SVC_SERVER/node/v1/uploads/%s/start\"\n"+
		"Then follow its job_id:\n  svc render --job JOB-…",
		terminal.Money(e.quote.PriceCents, e.quote.Currency), e.cause, e.quote.QuoteID, client.LegalV1, e.quote.UploadID)
}

func (e *unknownStartError) Unwrap() error { return e.cause }

// startFailure tells a start that the service refused from one of which nobody
// knows.
func startFailure(quote *client.Quote, err error) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code != "" && refused.Status != http.StatusInternalServerError {
		return err
	}
	return &unknownStartError{quote, err}
}

// jobError is a job that ended without a picture.
type jobError struct{ job *client.Job }

func (e *jobError) Error() string {
	if e.job.Failure == nil {
		return fmt.Sprintf("job %s was %s; nothing was charged", e.job.JobID, e.job.Status)
	}
	return strings.TrimSpace(fmt.Sprintf("job %s failed: %s (%s); nothing was charged. %s",
		e.job.JobID, e.job.Failure.Message, e.job.Failure.Code, e.job.Failure.SuggestedAction))
}

// follow waits for the job's end and shows the way there.
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
				return // the pace is that of rendering, not of waiting
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

// doneOf is how far a job is, in terminal.FrameParts: its frames, and of those under way
// what the service says, less than one.
func doneOf(job *client.Job) int64 {
	whole := terminal.FrameParts * int64(job.FramesCompleted)
	said := int64(job.ProgressPercent / 100 * terminal.FrameParts * float64(job.FrameCount))
	return min(max(whole, said), whole+terminal.FrameParts-1, terminal.FrameParts*int64(job.FrameCount))
}

// leftText tells when the job will be done, as far as the service can say.
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

func inSeconds(s float64) string {
	return (time.Duration(s) * time.Second).String()
}

// waitingText tells what a job is about, in words.
func waitingText(job *client.Job) string {
	switch {
	case job.WaitingReason == "no_worker_online":
		return "waiting: no worker is online yet"
	case job.WaitingReason == "workers_busy":
		return "waiting: all workers are busy"
	case job.Status == client.StatusRendering && job.DeviceName != "":
		return fmt.Sprintf("rendering on %s (%s)", job.DeviceName, job.RenderDevice)
	}
	return job.Status
}

// fetch downloads, verifies and unpacks a completed job.
func (r *Result) fetch(ctx context.Context, o Options, job *client.Job, inputSHA256 string) error {
	r.Folder = o.Folder
	if r.Folder == "" {
		tail := job.JobID[max(0, len(job.JobID)-8):]
		r.Folder = strings.TrimSuffix(filepath.Base(job.Filename), filepath.Ext(job.Filename)) + "-" + tail
	}
	if err := os.MkdirAll(r.Folder, 0o755); err != nil {
		return fmt.Errorf("make the folder for the frames: %w", err)
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

func (r *Result) download(ctx context.Context, o Options) error {
	artifact, err := o.Client.Artifact(ctx, r.JobID)
	if err != nil {
		return err
	}
	if artifact.Filename == "" || artifact.Filename != filepath.Base(artifact.Filename) {
		return fmt.Errorf("the service names the ZIP %q, which is no file name", artifact.Filename)
	}
	r.ZIP = filepath.Join(r.Folder, artifact.Filename)
	meter := o.Display.Meter("download", terminal.InBytes)
	defer meter.End()
	_, err = o.Client.Download(ctx, r.JobID, r.ZIP, meter.Move)
	return err
}

// verify fetches the receipt, its proof and the keys, checks them and the ZIP as
// svc verify does, and keeps all beside the ZIP for later.
func (r *Result) verify(ctx context.Context, o Options) (*receipt.Receipt, error) {
	reply, err := o.Client.Receipt(ctx, r.JobID)
	if err != nil {
		return nil, err
	}
	logged, err := o.Client.Proof(ctx, r.JobID)
	if err != nil {
		return nil, err
	}
	published, err := o.Client.SigningKeys(ctx) // last: a key may just have been changed
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

// keep writes what svc verify needs: the receipt, its proof and the service's
// keys, since receipt and checkpoint may be signed by different ones. The
// checkpoint also has a file by itself, for other tools.
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

// unpack writes the frames of a verified ZIP: its names have no folder, its
// entries are just these.
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
