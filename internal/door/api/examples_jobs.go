package api

import (
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
)

// What the examples speak of: one upload, its quote and its job.
const (
	exampleRequestID = "req_0198c0de0000700080000000000000f1"
	exampleWait      = 1500 * time.Millisecond
	exampleUpload    = "UPL-0198c0de000070008000000000000001"
	exampleQuote     = "QTE-0198c0de000070008000000000000002"
	exampleJob       = "JOB-0198c0de000070008000000000000003"
	exampleReceipt   = "RCT-0198c0de000070008000000000000004"
	exampleWorkspace = "WSP-0198c0de000070008000000000000005"
	exampleKeyID     = "key_0198c0de000070008000000000000006"
	exampleFile      = "scene.blend"
	exampleFrames    = 250
	exampleDevice    = "NVIDIA GeForce RTX 4090"
)

var (
	exampleInputSum    = strings.Repeat("1f", 32)
	exampleArtifactSum = strings.Repeat("2e", 32)
	exampleFrameSum    = strings.Repeat("3d", 32)
)

// exampleTime is so long after the upload.
func exampleTime(after time.Duration) time.Time {
	return time.Date(2026, time.January, 15, 12, 0, 0, 0, time.UTC).Add(after)
}

func exampleQuoteBody() quoteBody {
	q := quote.Quote{
		QuoteID: exampleQuote, UploadID: exampleUpload, Status: quote.Open, FrameStart: 1, FrameEnd: exampleFrames, FrameStep: 1, FrameCount: exampleFrames,
		PriceCents: exampleFrames * contract.CentsPerFrame, Currency: contract.Currency, PricingVersion: contract.PricingVersion, Qualified1C: true,
		CreatedAt: exampleTime(0), ExpiresAt: exampleTime(contract.QuoteLifetime), InputSHA256: exampleInputSum, InputSizeBytes: 734003, Filename: exampleFile,
		Warnings: []quote.Warning{{Code: quote.WarnScriptsDisabled, Message: "The file carries Python that would run on load or in drivers; it is not run."}},
	}
	return quoteBody{OK: true, Quote: q, Inner: q, Scene: quote.Scene{
		Name: "Scene", Engine: contract.Engine, ResolutionX: 1920, ResolutionY: 1080, ResolutionPercentage: 100, Samples: 128, FPS: 24,
		FrameStart: 1, FrameEnd: exampleFrames, FrameStep: 1, FileVersion: "4.1", MissingFiles: []quote.MissingFile{}, LinkedLibraries: []string{},
		Scripts: []string{"rig_ui.py"}, UsesAutorunScripts: true, FileOutputNodes: []string{}, OutputFormat: "PNG",
	}}
}

// exampleObject is the job in a state, as both flows show it.
func exampleObject(at links.Links, flow job.Flow, status job.Status) job.Object {
	o := job.Object{
		OK: true, JobID: exampleJob, WorkspaceID: exampleWorkspace, Flow: flow, Status: status, State: status, Renderer: contract.RendererID,
		Application: contract.Application, Version: contract.BlenderVersion, Engine: contract.Engine, Filename: exampleFile, InputSHA256: exampleInputSum,
		InputSizeBytes: 734003, FrameStart: 1, FrameEnd: exampleFrames, FrameStep: 1, FrameCount: exampleFrames, QuoteID: exampleQuote, UploadID: exampleUpload,
		PriceCents: exampleFrames, ReservedCents: exampleFrames, Currency: contract.Currency, Cancellable: status.Cancellable(),
		CreatedAt: exampleTime(time.Minute), UpdatedAt: exampleTime(time.Minute),
	}
	if status != job.AwaitingSubmit {
		o.SubmittedAt = new(exampleTime(time.Minute))
	}
	switch status {
	case job.Queued:
		o.QueuePosition, o.WaitingReason = new(1), new(job.WorkersBusy)
	case job.Cancelled:
		o.ReservedCents, o.CancelledAt, o.UpdatedAt = 0, new(exampleTime(2*time.Minute)), exampleTime(2*time.Minute)
	case job.Completed:
		done := exampleTime(30 * time.Minute)
		o.RenderDevice, o.DeviceName, o.ClaimedAt = new(contract.RenderDevice), new(exampleDevice), new(exampleTime(90*time.Second))
		o.FramesCompleted, o.ProgressPercent, o.RenderSeconds, o.ReservedCents, o.ChargedCents = exampleFrames, 100, 1612.5, 0, exampleFrames
		o.CompletedAt, o.UpdatedAt, o.ArtifactExpiresAt = &done, done, new(done.Add(contract.ArtifactRetention))
		o.DownloadURL, o.ReceiptURL, o.ProofURL = new(exampleDownload(at)), new(at.JobReceipt(flow.JobsPath(), exampleJob)), new(at.JobProof(flow.JobsPath(), exampleJob))
	}
	return o
}

func exampleDownload(at links.Links) string {
	return at.Page(links.DownloadPath+exampleJob, url.Values{"expires": {"1768485600"}, "signature": {strings.Repeat("4c", 32)}})
}

func exampleDownloadBody(at links.Links) any {
	var out downloadOutput
	out.Body.Object = exampleObject(at, job.FlowJobAPI, job.Completed)
	out.Body.Download = artifact.Download{
		URL: exampleDownload(at), Filename: exampleJob + ".zip", ContentType: "application/zip", SizeBytes: 412876001, SHA256: exampleArtifactSum,
		ExpiresAt: exampleTime(90 * time.Minute),
	}
	return out.Body
}

func exampleReceiptBody(at links.Links) any {
	var out receiptOutput
	out.Body.Object = exampleObject(at, job.FlowJobAPI, job.Completed)
	out.Body.Receipt = receipt.Receipt{
		ReceiptID: exampleReceipt, JobID: exampleJob, WorkspaceID: exampleWorkspace,
		Input:    receipt.File{Filename: exampleFile, SHA256: exampleInputSum, SizeBytes: 734003},
		Artifact: receipt.File{Filename: exampleJob + ".zip", SHA256: exampleArtifactSum, SizeBytes: 412876001},
		Frames: []receipt.Frame{{
			Frame: 1, File: "frame_0001.png", SHA256: exampleFrameSum, PixelSHA256: exampleArtifactSum, SizeBytes: 1651504, RenderSeconds: 6.45,
		}},
		FrameStart: 1, FrameEnd: exampleFrames, FrameStep: 1, FrameCount: exampleFrames, RenderDevice: contract.RenderDevice, DeviceName: exampleDevice,
		Renderer: receipt.Renderer{
			ID: contract.RendererID, Application: contract.Application, Version: contract.BlenderVersion, BuildHash: "e1743a0317bc", Engine: contract.Engine,
		},
		Switched: []string{}, RenderSeconds: 1612.5, QuoteID: exampleQuote, PricingVersion: contract.PricingVersion, ChargedCents: exampleFrames,
		Currency: contract.Currency, StartedAt: exampleTime(90 * time.Second), CompletedAt: exampleTime(30 * time.Minute), LogIndex: new(int64(41)),
	}
	out.Body.Envelope = receiptEnvelope{
		PayloadType: "application/vnd.in-toto+json", Payload: base64.StdEncoding.EncodeToString([]byte(`{"_type":"https://in-toto.io/Statement/v1"}`)),
		Signatures: []receiptSignature{{KeyID: exampleFrameSum, Sig: base64.StdEncoding.EncodeToString(make([]byte, 64))}},
	}
	return out.Body
}

func exampleProofBody(at links.Links) any {
	var out proofOutput
	b := &out.Body
	b.OK, b.JobID, b.Proof, b.ReceiptURL = true, exampleJob, contract.ProofKind, at.JobReceipt(links.NodeJobsPath, exampleJob)
	b.ReceiptID, b.ArtifactSHA256, b.ProofPage = exampleReceipt, exampleArtifactSum, at.ProofPage(exampleReceipt)
	b.Inclusion = receipt.Inclusion{
		LogIndex: 41, InclusionProof: []string{base64.StdEncoding.EncodeToString(make([]byte, 32))},
		Checkpoint: "svc.example/log\n42\n" + base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n\n— svc.example/log " + base64.StdEncoding.EncodeToString(make([]byte, 68)) + "\n",
	}
	b.Version, b.RenderDevice, b.DeviceName = contract.BlenderVersion, contract.RenderDevice, exampleDevice
	return out.Body
}

func exampleFramesBody(at links.Links) any {
	var out framesOutput
	out.Body.OK, out.Body.JobID = true, exampleJob
	out.Body.Frames = []frameBody{{
		Frame: 1, File: "frame_0001.png", SHA256: exampleFrameSum, PixelSHA256: exampleArtifactSum, SizeBytes: 1651504, Width: 1920, Height: 1080,
		RenderSeconds: 6.45, RenderDevice: contract.RenderDevice, DeviceName: exampleDevice, AcceptedAt: exampleTime(2 * time.Minute),
		PreviewURL: at.Preview(exampleJob, 1),
	}}
	return out.Body
}
