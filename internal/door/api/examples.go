package api

import (
	"encoding/base64"
	"maps"
	"time"

	"svc.example/internal/door/api/account"
	"svc.example/internal/door/api/document"
	"svc.example/internal/door/api/public"
	"svc.example/internal/door/api/sample"
	"svc.example/internal/door/api/webhooks"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/job"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/share"
)

// examples returns the examples of every operation, with URLs built by at. The
// handlers' own types make them, so an example cannot have a member that the
// response does not have.
func examples(at links.Links) document.Examples {
	bodies := jobExamples(at)
	maps.Copy(bodies, public.Examples(at))
	maps.Copy(bodies, account.Examples(at))
	maps.Copy(bodies, webhooks.Examples())
	return document.Examples{Bodies: bodies, Operations: operationExamples(at)}
}

// operationExamples returns examples for operations that share a schema but
// show different states of a job.
func operationExamples(at links.Links) map[string]document.Example {
	started := func(status job.Status) any { return sample.Job(at, job.FlowJobAPI, status) }
	older := func(status job.Status) any { return sample.Job(at, job.FlowPublicV1, status) }
	stream := "id: 3\nevent: frame\ndata: {\"frame\":1,…}\n\n"
	return map[string]document.Example{
		"startUpload": {Answer: started(job.Queued)}, "cancelJob": {Answer: started(job.Cancelled)},
		"pauseJob": {Answer: started(job.Queued)}, "resumeJob": {Answer: started(job.Queued)}, "setJobPriority": {Answer: started(job.Queued)}, "setJobTags": {Answer: started(job.Queued)},
		"pauseRender": {Answer: older(job.Queued)}, "resumeRender": {Answer: older(job.Queued)}, "setRenderPriority": {Answer: older(job.Queued)}, "setRenderTags": {Answer: older(job.Queued)},
		"createRender": {Request: map[string]string{"upload_id": sample.UploadID}, Answer: older(job.AwaitingSubmit)},
		"receiveStripeEvent": {
			Request: map[string]any{"id": "evt_1a2b", "type": "checkout.session.completed", "data": map[string]any{"object": map[string]any{"object": "checkout.session"}}},
			Answer:  map[string]bool{"ok": true},
		},
		"submitRender": {Answer: older(job.Queued)}, "cancelRender": {Answer: older(job.Cancelled)}, "getRender": {Answer: older(job.Completed)},
		"watchJob": {Answer: stream}, "watchRender": {Answer: stream},
		"getOpenAPI": {Answer: map[string]any{"openapi": "3.1.0"}}, "getRootOpenAPI": {Answer: map[string]any{"openapi": "3.1.0"}},
	}
}

// jobExamples returns the bodies of quotes and jobs, by schema name.
func jobExamples(at links.Links) map[string]any {
	var preflight preflightOutput
	b := &preflight.Body
	b.OK, b.Eligible, b.Filename, b.Renderer, b.QuoteRequired = true, true, sample.Filename, contract.RendererID, true
	b.FrameStart, b.FrameEnd, b.FrameCount, b.PriceCents = 1, sample.Frames, sample.Frames, sample.Frames
	b.Currency, b.PricingVersion = contract.Currency, contract.Published().Current().Version
	var plan preflightInput
	plan.Body.Filename, plan.Body.Renderer, plan.Body.FrameStart, plan.Body.FrameEnd = sample.Filename, contract.RendererID, 1, new(sample.Frames)
	var frames requoteInput
	frames.Body.FrameStart, frames.Body.FrameEnd, frames.Body.FrameStep = new(1), new(10), new(1)
	return map[string]any{
		"LockedQuote": exampleQuoteBody(), "QuoteRequest": frames.Body, "RerenderRequest": map[string]any{"frames": "3,7-9"}, "PriorityRequest": map[string]int{"priority": 80}, "TagsRequest": map[string][]string{"tags": sample.Tags()}, "PreflightRequest": plan.Body, "Preflight": preflight.Body,
		"StartRequest":   map[string]any{"quote_id": sample.QuoteID, "legal_acceptance": contract.LegalAcceptance},
		"RenderObject":   sample.Job(at, job.FlowJobAPI, job.Completed),
		"RenderDownload": exampleDownloadBody(at), "RenderReceipt": exampleReceiptBody(at), "Proof": exampleProofBody(at),
		"PreviewRequest": map[string]int{"frame": 125}, "Preview": examplePreviewBody(at),
		"CommentsRequest": map[string]bool{"allowed": true}, "JobComments": map[string]any{"ok": true, "comments": []share.Comment{exampleComment()}},
		"ShareRequest": map[string]any{"download": true, "expires_at": sample.Time(30 * 24 * time.Hour)}, "JobShare": shareBody{true, exampleShare(new(at.SharePage(sample.ShareToken)))},
		"SharedJobs": map[string]any{"ok": true, "shares": []share.Share{exampleShare(nil)}}, "ShareEnded": map[string]any{"ok": true, "job_id": sample.JobID, "deleted": true},
		"ProjectRequest": exampleProject(), "Part": partBody{OK: true, SHA256: sample.InputSHA256, SizeBytes: 734003},
		"RenderFrames": exampleFramesBody(at), "UploadDeleted": map[string]any{"ok": true, "upload_id": sample.UploadID, "deleted": true},
	}
}

func exampleProject() any {
	var in projectInput
	in.Body.Main = "shots/" + sample.Filename
	in.Body.Files = []project.Listed{
		{Path: "shots/" + sample.Filename, SizeBytes: 734003, Parts: []string{sample.InputSHA256}},
		{Path: "textures/wood.png", SizeBytes: 41000000, Parts: []string{sample.FrameSHA256, sample.ArtifactSHA256}},
	}
	return in.Body
}

func exampleComment() share.Comment {
	return share.Comment{CommentID: sample.CommentID, JobID: sample.JobID, Frame: 118, Author: "Ada", Text: "The hand clips through the table.", CreatedAt: sample.Time(48 * time.Hour)}
}

func exampleShare(address *string) share.Share {
	return share.Share{
		JobID: sample.JobID, Filename: sample.Filename, ShareURL: address, Download: true, Proof: true, Comments: true, OpenComments: 1,
		CreatedAt: sample.Time(40 * time.Minute), ExpiresAt: sample.Time(30 * 24 * time.Hour), Views: 12, LastViewedAt: new(sample.Time(48 * time.Hour)),
	}
}

func exampleQuoteBody() quoteBody {
	q := quote.Quote{
		QuoteID: sample.QuoteID, UploadID: sample.UploadID, Status: quote.Open, FrameStart: 1, FrameEnd: sample.Frames, FrameStep: 1, FrameCount: sample.Frames, FrameList: "1-250",
		PriceCents: contract.Published().Current().Price(sample.Frames), Currency: contract.Currency, PricingVersion: contract.Published().Current().Version, Qualified1C: true,
		CreatedAt: sample.Time(0), ExpiresAt: sample.Time(contract.Published().Current().QuoteLifetime), InputSHA256: sample.InputSHA256, InputSizeBytes: 734003, Filename: sample.Filename,
		Warnings: []quote.Warning{quote.Warn(quote.WarnScriptsDisabled, nil, "The file carries Python that would run on load or in drivers.")},
	}
	return quoteBody{OK: true, Quote: q, Inner: q, TermsURL: "https://svc.example/terms", FrameSeconds: int(contract.FrameTime.Seconds()), Scene: quote.Scene{
		Name: "Scene", Engine: contract.Engine, ResolutionX: 1920, ResolutionY: 1080, ResolutionPercentage: 100, Samples: 128, FPS: 24,
		FrameStart: 1, FrameEnd: sample.Frames, FrameStep: 1, FileVersion: "4.1", MissingFiles: []quote.MissingFile{}, Simulations: []quote.Simulation{}, LinkedLibraries: []string{},
		Scripts: []string{"rig_ui.py"}, UsesAutorunScripts: true, FileOutputNodes: []string{}, Denoising: []string{}, OutputFormat: "PNG",
	}}
}

func examplePreviewBody(at links.Links) previewBody {
	return previewBody{OK: true, View: preview.View{
		PreviewID: sample.PreviewID, UploadID: sample.UploadID, Status: preview.Ready, Frame: 125,
		ImageURL: new(at.To(links.PreviewImagePath + sample.PreviewID + "?expires=1768485600&signature=" + sample.FrameSHA256)), Width: new(640), Height: new(360),
		Findings: []quote.Warning{quote.Warn(quote.WarnScriptsDisabled, nil, "The file carries Python that would run on load or in drivers.")},
		Seconds:  new(1.84), Estimate: &preview.Estimate{FrameLow: 5.1, FrameHigh: 9.6, TotalLow: new(212.5), TotalHigh: new(400.0)},
		CreatedAt: sample.Time(10 * time.Second), ExpiresAt: new(sample.Time(contract.PreviewRetention)),
	}}
}

func exampleDownloadBody(at links.Links) any {
	var out downloadOutput
	out.Body.Object = sample.Job(at, job.FlowJobAPI, job.Completed)
	out.Body.Download = artifact.Download{
		URL: sample.DownloadURL(at), Filename: sample.JobID + ".zip", ContentType: "application/zip", SizeBytes: 412876001, SHA256: sample.ArtifactSHA256,
		ExpiresAt: sample.Time(90 * time.Minute),
	}
	return out.Body
}

func exampleReceiptBody(at links.Links) any {
	var out receiptOutput
	out.Body.Object = sample.Job(at, job.FlowJobAPI, job.Completed)
	out.Body.Receipt = receipt.Receipt{
		ReceiptID: sample.ReceiptID, JobID: sample.JobID, WorkspaceID: sample.WorkspaceID,
		Input:    receipt.Input{File: receipt.File{Filename: sample.Filename, SHA256: sample.InputSHA256, SizeBytes: 734003}},
		Artifact: receipt.File{Filename: sample.JobID + ".zip", SHA256: sample.ArtifactSHA256, SizeBytes: 412876001},
		Frames: []receipt.Frame{{
			Frame: 1, File: "frame_0001.png", SHA256: sample.FrameSHA256, PixelSHA256: sample.ArtifactSHA256, SizeBytes: 1651504, RenderSeconds: 6.45,
		}},
		FrameStart: 1, FrameEnd: sample.Frames, FrameStep: 1, FrameCount: sample.Frames, RenderDevice: contract.RenderDevice, DeviceName: sample.Device,
		Renderer: receipt.Renderer{
			ID: contract.RendererID, Application: contract.Application, Version: contract.BlenderVersion, BuildHash: "e1743a0317bc", Engine: contract.Engine,
		},
		Switched: []string{}, RenderSeconds: 1612.5, QuoteID: sample.QuoteID, PricingVersion: contract.Published().Current().Version, ChargedCents: sample.Frames,
		Currency: contract.Currency, StartedAt: sample.Time(90 * time.Second), CompletedAt: sample.Time(30 * time.Minute), LogIndex: new(int64(41)),
	}
	out.Body.Envelope = receiptEnvelope{
		PayloadType: "application/vnd.in-toto+json", Payload: base64.StdEncoding.EncodeToString([]byte(`{"_type":"https://in-toto.io/Statement/v1"}`)),
		Signatures: []receiptSignature{{KeyID: sample.FrameSHA256, Sig: base64.StdEncoding.EncodeToString(make([]byte, 64))}},
	}
	return out.Body
}

func exampleProofBody(at links.Links) any {
	var out proofOutput
	b := &out.Body
	b.OK, b.JobID, b.Proof, b.ReceiptURL = true, sample.JobID, contract.ProofKind, at.JobReceipt(links.NodeJobsPath, sample.JobID)
	b.ReceiptID, b.ArtifactSHA256, b.ProofPage = sample.ReceiptID, sample.ArtifactSHA256, at.ProofPage(sample.ReceiptID)
	b.Inclusion = receipt.Inclusion{
		LogIndex: 41, InclusionProof: []string{base64.StdEncoding.EncodeToString(make([]byte, 32))},
		Checkpoint: "svc.example/log\n42\n" + base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n\n— svc.example/log " + base64.StdEncoding.EncodeToString(make([]byte, 68)) + "\n",
	}
	b.Version, b.RenderDevice, b.DeviceName = contract.BlenderVersion, contract.RenderDevice, sample.Device
	return out.Body
}

func exampleFramesBody(at links.Links) any {
	var out framesOutput
	out.Body.OK, out.Body.JobID = true, sample.JobID
	out.Body.Frames = []frameBody{{
		Frame: 1, File: "frame_0001.png", SHA256: sample.FrameSHA256, PixelSHA256: sample.ArtifactSHA256, SizeBytes: 1651504, Width: 1920, Height: 1080,
		RenderSeconds: 6.45, RenderDevice: contract.RenderDevice, DeviceName: sample.Device, AcceptedAt: sample.Time(2 * time.Minute),
		PreviewURL: at.Preview(links.RendersPath, sample.JobID, 1), FileURL: at.FrameFile(links.RendersPath, sample.JobID, 1),
		Outputs: []frameOutputBody{{
			Name: "passes/depth_0001.exr", SHA256: sample.FrameSHA256, SizeBytes: 8312044, FileURL: links.FrameOutput(at.FrameFile(links.RendersPath, sample.JobID, 1), "passes/depth_0001.exr"),
			PreviewURL: links.FrameOutput(at.Preview(links.RendersPath, sample.JobID, 1), "passes/depth_0001.exr"),
		}},
	}}
	return out.Body
}
