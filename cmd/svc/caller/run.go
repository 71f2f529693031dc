package caller

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"svc.example/client"
	"svc.example/cmd/svc/failure"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/receipt"
)

// Options says what Run renders and where it shows the progress.
type Options struct {
	Client       *client.Client
	Server       string          // its address, as job.json names it
	File         string          // path of a .blend; "" follows JobID instead
	Files        FileFlags       // which files go with it
	JobID        string          // a job that is already started; "" starts File
	RerenderOf   string          // an ended job, of which Frames are rendered again; "" starts File
	Frames       FrameList       // the zero value takes the scene's own range
	Settings     client.Settings // what else differs from the file
	Reuse        bool            // take over frames of earlier jobs that show the same
	Tags         []string        // of the job
	MaxCents     *int64          // the most that the job may cost; nil for any price that is accepted
	Folder       string          // for everything fetched; "" takes one named after the file
	Again        bool            // order again, even if Folder has the same render
	AllowMissing bool            // render also where files that the scene uses are missing
	// Accept decides about the price before anything is spent. Its error ends Run
	// and is returned as it is.
	Accept  func(context.Context, Offer) error
	Display terminal.Display
	Human   io.Writer // that Display writes to, where pictures are shown
}

// Offer is what a person is asked to accept.
type Offer struct {
	Frames     int
	Reused     int // of Frames, those that are taken over at no cost
	PriceCents int64
	Currency   string
	// Look shows a frame for free, by which a person decides. Its error is for them to
	// read; the offer stands.
	Look func(context.Context) error
}

// Result is what Run has achieved for one job, and the form of --json. After a failure
// it holds what is known so far: a JobID means that the job was started.
type Result struct {
	OK             bool            `json:"ok"`
	JobID          string          `json:"job_id"`
	Resumed        bool            `json:"resumed"` // an earlier command has ordered it
	ReceiptID      string          `json:"receipt_id"`
	ChargedCents   int64           `json:"charged_cents"`
	Currency       string          `json:"currency"`
	Test           bool            `json:"test,omitempty"`         // of test mode: nothing was rendered or paid
	ElapsedSeconds float64         `json:"elapsed_seconds"`        // from the first claim of a frame to the end
	Folder         string          `json:"folder"`                 // that has the frames
	Frames         []string        `json:"frames"`                 // paths, in the order of frame numbers
	ReusedCount    int             `json:"reused_frame_count"`     // of Frames, those that were taken over at no cost
	OutputCount    int             `json:"output_count,omitempty"` // files besides the frames, which only the ZIP has
	ContactSheet   string          `json:"contact_sheet"`          // path, as is the next one; "" where there is none
	Loop           string          `json:"loop"`
	Movie          string          `json:"movie,omitempty"` // path, where the scene's output is a movie
	ZIP            string          `json:"zip"`
	SHA256         string          `json:"sha256"`  // of the ZIP
	Receipt        string          `json:"receipt"` // path, as are the next four
	Keys           string          `json:"keys"`
	SigningKey     string          `json:"signing_key"`
	Proof          string          `json:"proof"`
	Checkpoint     string          `json:"checkpoint"`
	Renderer       string          `json:"renderer"` // "Blender", or the synthetic renderer's name
	RenderDevice   string          `json:"render_device"`
	DeviceName     string          `json:"device_name"`
	Version        string          `json:"version"`  // of Blender
	Switched       []string        `json:"switched"` // settings of the scene that the worker changed
	Checks         []receipt.Check `json:"checks"`   // every step of the verification, failed ones too
	// Findings are what a person should check in the frames, according to the
	// receipt.
	Findings framecheck.Findings `json:"findings"`
	Error    *failure.Failure    `json:"error"`

	rendered bool // the job is complete at the service, whether or not it is fetched
}

// Run takes a file all the way: price, start, wait, fetch, verify, unpack. It unpacks
// only what the receipt proves. The result is never nil; it has no JobID before the job was
// started.
//
// The end of ctx stops it at any step but one: the start itself runs to its end. The
// same Run again continues after any failure and any end of the process, downloads
// included, and never pays twice: see jobFile. Errors are those of package client, an
// *unknownStartError, a *missingError, a *priceError, a *fundsError, a *jobError, and
// receipt.ErrBadSignature, ErrBadArtifact and ErrNotInLog.
func Run(ctx context.Context, o Options) (*Result, error) {
	r := &run{Options: o}
	j, err := r.order(ctx)
	if j == nil {
		return newResult(&jobFile{}, false), err
	}
	result := newResult(j, r.resumed)
	if err == nil {
		err = r.complete(ctx, j, result)
	}
	result.OK, result.Error = err == nil, failureOf(err)
	return result, err
}

// newResult is what is known of a job before it is followed. Its lists are empty and
// not null in JSON.
func newResult(j *jobFile, resumed bool) *Result {
	return &Result{JobID: j.JobID, Folder: j.folder, Resumed: resumed, Frames: []string{}, Switched: []string{}, Checks: []receipt.Check{}, Findings: framecheck.Findings{}}
}

// run is one Run.
type run struct {
	Options
	scene   *scene // of Options.File, until everything is ordered
	resumed bool   // an earlier command has ordered it
}

// complete follows a job to its end and fetches its frames, or finds that this was
// done before. One process at a time works on a job's folder.
func (r *run) complete(ctx context.Context, j *jobFile, result *Result) error {
	unlock, err := lock(j.folder, "job")
	if err != nil {
		return err
	}
	defer unlock()
	if j.State == stateFinished && result.readKept(j) == nil {
		return nil
	}
	job, err := follow(ctx, r.Options, j.JobID)
	if _, ended := errors.AsType[*jobError](err); ended {
		j.State = stateEnded
		return errors.Join(err, j.save())
	}
	if err != nil {
		return err
	}
	result.rendered = true
	if err := result.fetch(ctx, r.Options, job, j); err != nil {
		return err
	}
	j.State = stateFinished
	return j.save()
}

// out is the folder of the command, which one job can have for itself.
func (o Options) out(filename string) string {
	if o.Folder != "" {
		return o.Folder
	}
	name := strings.TrimSuffix(filepath.Base(filename), filepath.Ext(filename))
	if name == "" || name == "." || name == string(filepath.Separator) {
		name = "render"
	}
	return name
}
