package caller

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

// fakeService is a service that has already rendered. It accepts the file whose hash
// the receipt names and replays the events of the job.
type fakeService struct {
	*httptest.Server
	job       receipttest.Job
	key       signingkey.Key
	events    string
	inspect   map[string]any // the answer to an upload
	started   atomic.Int64
	leafFlip  byte   // changes the leaf in the log
	noAnswer  bool   // a start succeeds, but its answer is lost
	refusal   string // the answer to each start, instead of a job
	expired   int64  // so many starts are answered that the quote has expired
	inspected atomic.Int64
	asked     atomic.Value // the frames of the last upload
	available atomic.Int64 // cents in the wallet

	rerendered atomic.Int64
}

// sceneFile is what the receipt's input hash is of.
var sceneFile = demo.Scene()

func startFakeService(t *testing.T) *fakeService {
	t.Helper()
	job, err := receipttest.Complete(3)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(sceneFile)
	job.Receipt.Input.SHA256 = hex.EncodeToString(sum[:])
	job.Manifest.Input = job.Receipt.Input.File
	if err := job.Pack(); err != nil {
		t.Fatal(err)
	}
	key, err := signingkey.New(strings.NewReader(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	d := &fakeService{job: job, key: key, events: strings.Join([]string{
		`id: 1`, `event: job`, `data: {"job_id":"JOB-1","status":"queued","waiting_reason":"no_worker_online","frame_count":3}`, ``,
		`id: 2`, `event: job`, `data: {"job_id":"JOB-1","status":"rendering","frame_count":3}`, ``,
		`id: 3`, `event: frame`, `data: {"job_id":"JOB-1","frame":1,"frames_completed":1}`, ``,
		`id: 4`, `event: job`, `data: {"job_id":"JOB-1","status":"completed","filename":"scene.blend","frame_count":3,"frames_completed":3}`, ``, ``,
	}, "\n"), inspect: map[string]any{
		"upload_id": "UPL-1", "quote_id": "QTE-1", "price_cents": 3, "currency": "USD", "frame_start": 1, "frame_end": 3, "frame_step": 1,
		"frame_count": 3, "qualified_1c": true, "maximum_frame_seconds": 7200, "filename": "scene.blend", "input_sha256": job.Receipt.Input.SHA256, "input_size_bytes": 5,
		"expires_at": "2026-01-03T00:00:00Z", "scene": map[string]any{"name": "Scene", "resolution_x": 4, "resolution_y": 3, "resolution_percentage": 100, "samples": 1},
		"warnings": []any{map[string]any{"code": "scripts_disabled", "message": "scripts are not run"}},
	}}
	d.available.Store(100)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/wallet", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"available_cents":%d,"currency":"USD"}`, d.available.Load())
	})
	mux.HandleFunc("POST /node/v1/uploads/inspect", func(w http.ResponseWriter, r *http.Request) {
		d.inspected.Add(1)
		d.asked.Store(r.FormValue("frames"))
		json.NewEncoder(w).Encode(d.inspect)
	})
	mux.HandleFunc("POST /node/v1/uploads/UPL-1/start", func(w http.ResponseWriter, _ *http.Request) {
		started := d.started.Add(1)
		if d.noAnswer {
			panic(http.ErrAbortHandler)
		}
		refusal := d.refusal
		if started <= d.expired {
			refusal = `{"error":{"code":"quote_expired","message":"it expired"}}`
		}
		if refusal != "" {
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, refusal)
			return
		}
		io.WriteString(w, `{"job_id":"JOB-1","status":"queued","frame_count":3}`)
	})
	mux.HandleFunc("GET /node/v1/jobs/JOB-1", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"job_id":"JOB-1","status":"completed","filename":"scene.blend","frame_start":1,"frame_end":3,"frame_step":1,"frame_count":3}`)
	})
	mux.HandleFunc("GET /node/v1/jobs/JOB-0", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"job_id":"JOB-0","status":"completed","filename":"scene.blend","frame_start":1,"frame_end":9,"frame_step":1,"frame_count":9}`)
	})
	mux.HandleFunc("POST /node/v1/jobs/JOB-0/rerender", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Frames string `json:"frames"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			panic(err)
		}
		d.rerendered.Add(1)
		answer := maps.Clone(d.inspect)
		answer["rerender_of"], answer["frame_list"] = "JOB-0", asked.Frames
		json.NewEncoder(w).Encode(answer)
	})
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/events", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, d.events) })
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/download", d.download)
	mux.HandleFunc("GET /zip", func(w http.ResponseWriter, _ *http.Request) { w.Write(d.job.ZIP) })
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/receipt", d.receipt)
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/proof", d.proof)
	mux.HandleFunc("GET /v1/signing-keys", d.signingKeys)
	d.Server = httptest.NewServer(mux)
	t.Cleanup(d.Close)
	return d
}

func (d *fakeService) download(w http.ResponseWriter, _ *http.Request) {
	sum := sha256.Sum256(d.job.ZIP)
	fmt.Fprintf(w, `{"download":{"url":"%s/zip","filename":"scene.zip","size_bytes":%d,"sha256":"%s"}}`,
		d.URL, len(d.job.ZIP), hex.EncodeToString(sum[:]))
}

// leaf is where the receipt is in the log of five.
const leaf = 2

func (d *fakeService) envelope() []byte {
	index := int64(leaf)
	d.job.Receipt.LogIndex = &index
	envelope, err := receipt.Sign(d.job.Receipt, d.key)
	if err != nil {
		panic(err)
	}
	return envelope
}

func (d *fakeService) proof(w http.ResponseWriter, _ *http.Request) {
	leaves, err := receipttest.Leaves(d.envelope(), leaf, 5)
	if err != nil {
		panic(err)
	}
	leaves[leaf][0] ^= d.leafFlip
	proof, err := receipttest.Prove(leaves, leaf, d.key)
	if err != nil {
		panic(err)
	}
	json.NewEncoder(w).Encode(proof)
}

func (d *fakeService) receipt(w http.ResponseWriter, _ *http.Request) {
	envelope := json.RawMessage(d.envelope())
	json.NewEncoder(w).Encode(map[string]any{"job_id": "JOB-1", "receipt": d.job.Receipt, "envelope": envelope})
}

func (d *fakeService) signingKeys(w http.ResponseWriter, _ *http.Request) {
	text, err := d.key.Public().PEM()
	if err != nil {
		panic(err)
	}
	json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{"key_id": d.key.Public().ID(), "public_key_pem": string(text), "current": true}}})
}

// options render the scene file for a person who accepts; what they see is written to
// the buffer.
func (d *fakeService) options(t *testing.T) (Options, *bytes.Buffer) {
	t.Helper()
	api, err := client.New(d.URL, "svc_agent_test")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "scene.blend")
	if err := os.WriteFile(file, sceneFile, 0o644); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	return Options{Client: api, Server: d.URL, File: file, Folder: filepath.Join(folder, "out"),
		Accept:  func(context.Context, Offer) error { return nil },
		Display: terminal.NewDisplay(&seen, time.Now), Human: &seen}, &seen
}

func TestRenderLeavesProvenFramesBehind(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, seen := d.options(t)
	result, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range result.Frames {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, d.job.Pictures[i]) {
			t.Errorf("frame %s: %d bytes, error %v", path, len(got), err)
		}
	}
	if len(result.Frames) != 3 || result.ChargedCents != 3 || result.SHA256 != d.job.Receipt.Artifact.SHA256 {
		t.Errorf("result %+v", result)
	}
	for _, want := range []string{"3 frames", "$0.03, locked until 2026-01-03", "2h for each frame", "scripts are not run", "waiting: no worker is online yet", "$1.00 available", "started JOB-1", "frames: 3 of 3, 100 %"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("%q was not shown:\n%s", want, seen)
		}
	}
	// What was kept can be verified alone, later and elsewhere.
	found, err := (&proof.Verify{Receipt: result.Receipt}).Check()
	if err != nil || !found.OK || found.Artifact != result.ZIP {
		t.Errorf("found %+v, error %v", found, err)
	}
}

// Money may be reserved: "nothing was spent" would be a guess, and rendering the file
// again would be paid again.
func TestStartWithoutAnAnswerIsNotShownAsNone(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.noAnswer = true
	o, _ := d.options(t)
	var err error
	if o.Client, err = client.New(d.URL, "svc_agent_test", client.WithAttempts(1)); err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), o)
	if result.JobID != "" || d.started.Load() != 1 || err == nil {
		t.Fatalf("job %q, %d starts, error %v", result.JobID, d.started.Load(), err)
	}
	for _, want := range []string{"not known", "$0.03", "Run the same command again", "never paid twice", filepath.Join(o.Folder, "job.json")} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not shown: %v", want, err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if shown := explain(ctx, d.URL, result, err); !errors.Is(shown, err) {
		t.Errorf("after a Ctrl-C it is shown as %v", shown)
	}
}

func TestRenderUnpacksOnlyWhatTheReceiptProves(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	at := bytes.Index(d.job.ZIP, d.job.Pictures[1])
	d.job.ZIP[at+40] ^= 1
	o, _ := d.options(t)
	_, err := Run(t.Context(), o)
	var exit *terminal.ExitError
	if !errors.As(proof.WithExitCode(err), &exit) || exit.ExitCode() != terminal.ExitBadArtifact {
		t.Fatalf("error %v", err)
	}
	if frames, _ := filepath.Glob(filepath.Join(o.Folder, "*.png")); len(frames) != 0 {
		t.Errorf("unpacked: %v", frames)
	}
}

func TestRenderRefusesAReceiptThatIsNotInTheLog(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.leafFlip = 1
	o, _ := d.options(t)
	_, err := Run(t.Context(), o)
	var exit *terminal.ExitError
	if !errors.As(proof.WithExitCode(err), &exit) || exit.ExitCode() != terminal.ExitNotInLog {
		t.Fatalf("error %v", err)
	}
	if frames, _ := filepath.Glob(filepath.Join(o.Folder, "*.png")); len(frames) != 0 {
		t.Errorf("unpacked: %v", frames)
	}
}

func TestRenderRefusesAReceiptOfOtherBytes(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.job.Receipt.Input.SHA256 = strings.Repeat("0", 64)
	d.job.Manifest.Input = d.job.Receipt.Input.File
	if err := d.job.Pack(); err != nil {
		t.Fatal(err)
	}
	o, _ := d.options(t)
	if _, err := Run(t.Context(), o); !errors.Is(err, receipt.ErrBadSignature) {
		t.Errorf("error %v", err)
	}
}

func TestNothingIsStartedForOtherBytesOrWithoutAYes(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	o.Accept = func(context.Context, Offer) error { return errDeclined }
	if _, err := Run(t.Context(), o); !errors.Is(err, errDeclined) {
		t.Errorf("error %v", err)
	}
	d.inspect["input_sha256"] = strings.Repeat("0", 64)
	o, _ = d.options(t)
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("error %v", err)
	}
	if d.started.Load() != 0 {
		t.Errorf("%d jobs were started", d.started.Load())
	}
}

func TestPriceIsNeverAcceptedWithoutAPerson(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out.WriteString("yes\n")
	out.Close()
	offer := Offer{PriceCents: 20, Currency: "USD", Frames: 20}
	err = terms{in: in, out: io.Discard}.accept(t.Context(), offer)
	var exit *terminal.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != terminal.ExitUsage || !strings.Contains(err.Error(), "$0.20") || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("error %v", err)
	}
	if err := (terms{yes: true, in: in}).accept(t.Context(), offer); err != nil {
		t.Errorf("--yes is a yes: %v", err)
	}
}

// What stands against an order is said before the question: nobody accepts terms for a job
// that cannot start.
func TestAPriceThatCannotBePaidIsNotAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		available int64
		most      *int64
		says      string
	}{
		"wallet":  {available: 1, says: "you need $0.02 more. Add credit at http://127.0.0.1:"},
		"ceiling": {available: 100, most: new(int64(2)), says: "the price is $0.03, and --max-price allows $0.02"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startFakeService(t)
			d.available.Store(c.available)
			o, seen := d.options(t)
			o.Accept, o.MaxCents = neverAsked(t), c.most
			if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.says) || d.started.Load() != 0 {
				t.Errorf("%d started, error %v, seen:\n%s", d.started.Load(), err, seen)
			}
		})
	}
}

func TestAListOfFramesIsOneQuoteAndOneJob(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	if err := o.Frames.UnmarshalText([]byte("7, 1-2x1,")); err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), o)
	if err != nil || result.JobID != "JOB-1" || d.asked.Load() != "1-2,7" || d.inspected.Load() != 1 || d.started.Load() != 1 {
		t.Errorf("asked for %q, %d quotes, %d starts, error %v", d.asked.Load(), d.inspected.Load(), d.started.Load(), err)
	}
}

func TestOnlyASceneIsUploaded(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	for name, content := range map[string][]byte{"notes.txt": []byte("to do"), "cut.blend": sceneFile[:len(sceneFile)/2]} {
		for _, alone := range []bool{false, true} {
			o, _ := d.options(t)
			o.File, o.Files.NoFiles = filepath.Join(t.TempDir(), name), alone
			if err := os.WriteFile(o.File, content, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), o); err == nil || d.inspected.Load() != 0 {
				t.Errorf("%s, alone %t: %d uploads, error %v", name, alone, d.inspected.Load(), err)
			}
		}
	}
}

// What is no regular file, such as a device or a pipe, is refused before anything reads it.
func TestOnlyFilesAndFoldersAreScenes(t *testing.T) {
	t.Parallel()
	if _, _, err := mainFile(os.DevNull, FileFlags{}); err == nil || !strings.Contains(err.Error(), "is not a file or folder") {
		t.Errorf("%s: %v", os.DevNull, err)
	}
}

// A folder stands for the one scene in it, and is the project's.
func TestAFolderIsRenderedByItsScene(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	o.File = filepath.Dir(o.File)
	if _, err := Run(t.Context(), o); err != nil || d.started.Load() != 1 {
		t.Errorf("%d started, error %v", d.started.Load(), err)
	}
	if err := os.WriteFile(filepath.Join(o.File, "other.BLEND"), sceneFile, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "other.BLEND, scene.blend") || d.started.Load() != 1 {
		t.Errorf("%d started, error %v", d.started.Load(), err)
	}
	o.File = t.TempDir()
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "has no .blend") {
		t.Errorf("error %v", err)
	}
}

func TestAnAmountIsReadInDollars(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Price{"2": 200, "2.5": 250, "$0.07": 7, "12.34": 1234} {
		var p Price
		if err := p.UnmarshalText([]byte(text)); err != nil || p != want {
			t.Errorf("%s: %d cents, error %v", text, p, err)
		}
	}
	for _, bad := range []string{"", "-1", "1,5", "1.234", "2 USD", "1e3", ".5", "99999999999"} {
		var p Price
		if err := p.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %d cents", bad, p)
		}
	}
}

func TestStartedJobIsFetchedByItsNameAlone(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	o.File, o.JobID = "", "JOB-1"
	result, err := Run(t.Context(), o)
	if err != nil || len(result.Frames) != 3 || d.started.Load() != 0 {
		t.Errorf("result %+v, %d started, error %v", result, d.started.Load(), err)
	}
}

func TestInterruptedRenderSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.events = "id: 1\nevent: job\ndata: {\"job_id\":\"JOB-1\",\"status\":\"rendering\",\"frame_count\":3}\n\n"
	o, seen := d.options(t)
	ctx, cancel := context.WithCancel(t.Context())
	o.Display = &cancelling{Display: o.Display, cancel: cancel}
	result, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) || result.JobID != "JOB-1" {
		t.Fatalf("result %+v, error %v, seen %s", result, err, seen)
	}
	text := interrupted("http://host", result).Error()
	if !strings.Contains(text, "svc render --job JOB-1 --server http://host") {
		t.Error(text)
	}
}

func TestAcceptedStartIsNeverLeftUnknown(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	ctx, cancel := context.WithCancel(t.Context())
	o.Accept = func(context.Context, Offer) error { cancel(); return nil }
	result, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) || result.JobID != "JOB-1" || d.started.Load() != 1 {
		t.Errorf("%d started, result %+v, error %v", d.started.Load(), result, err)
	}
}

// cancelling is a person who presses Ctrl-C once the render is under way.
type cancelling struct {
	terminal.Display
	cancel context.CancelFunc
}

func (c *cancelling) Say(format string, args ...any) {
	c.Display.Say(format, args...)
	if fmt.Sprintf(format, args...) == client.StatusRendering {
		c.cancel()
	}
}
