package api

import (
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/job"
	"svc.example/internal/work/wallet"
)

// bodyExamples are examples of bodies, by their schemas' names.
func bodyExamples(at links.Links) map[string]any {
	s := &server{Rooms: Rooms{Links: at, Jobs: &job.Jobs{}, Rate: ratelimit.Policy{}}}
	secret := strings.Repeat("0aZ9bY8cX7d", 4)[:43]
	used := exampleTime(time.Hour)
	completed := exampleObject(at, job.FlowJobAPI, job.Completed)
	spend := new(int64(5000))

	var preflight preflightOutput
	b := &preflight.Body
	b.OK, b.Eligible, b.Filename, b.Renderer, b.QuoteRequired = true, true, exampleFile, contract.RendererID, true
	b.FrameStart, b.FrameEnd, b.FrameCount, b.PriceCents = 1, exampleFrames, exampleFrames, exampleFrames
	b.Currency, b.PricingVersion = contract.Currency, contract.PricingVersion
	var plan preflightInput
	plan.Body.Filename, plan.Body.Renderer, plan.Body.FrameStart, plan.Body.FrameEnd = exampleFile, contract.RendererID, 1, new(exampleFrames)
	var frames requoteInput
	frames.Body.FrameStart, frames.Body.FrameEnd, frames.Body.FrameStep = 1, 10, 1
	var money walletOutput
	money.Body.OK, money.Body.WorkspaceID, money.Body.AvailableCents, money.Body.ReservedCents, money.Body.Currency = true, exampleWorkspace, 9750, 250, contract.Currency
	var ledger transactionsOutput
	ledger.Body.OK = true
	ledger.Body.Transactions = []transactionBody{{
		TransactionID: "TXN-0198c0de000070008000000000000007", Kind: wallet.Reserved, Reference: "job:" + exampleJob, JobID: new(exampleJob), AmountCents: 250,
		Currency: contract.Currency, CreatedAt: exampleTime(time.Minute),
	}}
	var renders rendersOutput
	renders.Body.OK, renders.Body.Renders = true, []job.Object{completed}
	var keys signingKeysOutput
	keys.Body.OK = true
	keys.Body.Keys = []signingKey{{
		KeyID: exampleFrameSum, Algorithm: "ed25519", ValidFrom: exampleTime(0), Current: true,
		PublicKeyPEM: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
	}}
	var pages proofPagesInput
	var paged proofPagesOutput
	pages.Body.Shown, paged.Body.OK, paged.Body.Shown = true, true, true
	cents := contract.CentsPerFrame

	all := map[string]any{
		"Health":       healthBody{true, contract.Service, exampleTime(0)},
		"Capabilities": s.capabilitiesOf(job.QueueIdle), "Limits": s.limits(),
		"Pricing": pricingBody{
			OK: true, Contract: contract.PricingContract, Currency: contract.Currency, Model: contract.PricingModel, QuoteRequired: true,
			Amount: &cents, AmountMinor: &cents,
		},
		"LockedQuote": exampleQuoteBody(), "QuoteRequest": frames.Body, "PreflightRequest": plan.Body, "Preflight": preflight.Body,
		"StartRequest": map[string]any{"quote_id": exampleQuote, "legal_acceptance": contract.LegalAcceptance},
		"RenderObject": completed, "RenderDownload": exampleDownloadBody(at), "RenderReceipt": exampleReceiptBody(at), "Proof": exampleProofBody(at),
		"RenderFrames": exampleFramesBody(at), "WorkspaceRenders": renders.Body, "Wallet": money.Body, "WalletTransactions": ledger.Body,
		"SigningKeys": keys.Body, "ProofPagesInput": pages.Body, "ProofPagesOutput": paged.Body,
		"ApiKeyCreateRequest":   apiKeyCreateRequest{"render farm"},
		"ApiKeyCreated":         apiKeyCreated{true, contract.AccountKeyPrefix + secret, exampleKeyID, "render farm", exampleTime(0)},
		"ApiKeyList":            apiKeyList{true, []apiKeyMetadata{{exampleKeyID, "render farm", contract.AccountKeyPrefix + secret[:8] + "…", exampleTime(0), &used, nil}}},
		"ApiKeyRevoked":         apiKeyRevoked{true, exampleKeyID, true},
		"AgentKeyCreateRequest": agentKeyCreateRequest{"nightly agent", spend},
		"AgentKeyCreated":       agentKeyCreated{true, contract.AgentKeyPrefix + secret, exampleKeyID, "nightly agent", spend, exampleTime(0)},
		"AgentKeyList": agentKeyList{true, []agentKeyMetadata{
			{exampleKeyID, "nightly agent", contract.AgentKeyPrefix + secret[:8] + "…", spend, exampleTime(0), &used, nil},
		}},
		"LinkRequest": map[string]string{"email": "you@example.com"}, "Done": map[string]bool{"ok": true}, "SignedOut": map[string]bool{"ok": true},
		"Session": sessionBody{true, "you@example.com", exampleWorkspace},
	}
	exampleBoard(at, all)
	exampleWebhooks(all)
	return all
}

// exampleBoard adds the leaderboard's.
func exampleBoard(at links.Links, all map[string]any) {
	const result, slug = "BMR-0198c0de000070008000000000000008", "nvidia-geforce-rtx-4090"
	row := leaderboard.Row{
		ResultID: result, ReceiptID: exampleReceipt, GPUName: exampleDevice, GPUSlug: slug, DeviceName: exampleDevice, VRAMGB: new(int64(24)), Score: 5120.4,
		RenderSeconds: 92.3, RenderDevice: contract.RenderDevice, CreatedAt: exampleTime(0), BenchmarkVersion: "1", SceneVersion: "1", ScoringVersion: "1",
		GlobalPercentileLabel: "unknown", PublicResultURL: at.Result(result),
	}
	short := leaderboard.GPUShort{GPUName: exampleDevice, GPUSlug: slug, GPUVendor: "NVIDIA", VRAMGB: new(int64(24)), SampleCount: 1, AverageScore: 5120.4, TopScore: 5120.4}
	figures := leaderboard.Figures{
		GPUName: exampleDevice, GPUSlug: slug, GPUVendor: "NVIDIA", VRAMGB: new(int64(24)), SampleCount: 1, TopScore: &row.Score, MedianScore: &row.Score,
		AverageScore: &row.Score, AverageRenderSeconds: &row.RenderSeconds, MedianRenderSeconds: &row.RenderSeconds, BestRenderSeconds: &row.RenderSeconds,
		LastUpdated: &row.CreatedAt,
	}
	versions := leaderboard.Versions{Benchmark: "1", Scene: "1", Scoring: "1"}
	all["LeaderboardTop"] = topBody{true, leaderboard.Top{Rows: []leaderboard.TopRow{{Rank: 1, Row: row}}, SampleCount: 1}}
	all["LeaderboardLatest"] = latestBody{true, []leaderboard.Row{row}}
	all["LeaderboardGPUs"] = gpusBody{true, []leaderboard.GPUShort{short}}
	all["LeaderboardStats"] = statsBody{true, leaderboard.Stats{
		TotalSubmissions: 1, GPUCount: 1, TopScore: &row.Score, MedianScore: &row.Score, AverageScore: &row.Score, CommonGPUs: []leaderboard.GPUShort{short},
		ScoreFormula: "the sum of samples per minute over the scenes", LastUpdated: &row.CreatedAt, Versions: versions,
	}}
	all["LeaderboardGPU"] = gpuBody{true, leaderboard.GPU{Figures: figures, LatestResults: []leaderboard.Row{row}, BenchmarkVersions: []leaderboard.Versions{versions}}}
	all["LeaderboardComparison"] = comparisonBody{true, leaderboard.Comparison{A: figures, B: figures}}
	all["LeaderboardSearch"] = foundBody{true, leaderboard.Found{Query: "rtx 4090", ResultCount: 1, Results: []leaderboard.Hit{{
		Type: leaderboard.HitGPU, Title: exampleDevice, GPUSlug: slug, URL: at.GPU(slug), SampleCount: new(int64(1)),
	}}}}
	all["LeaderboardResult"] = resultBody{true, leaderboard.Result{
		Row: row, GPUVendor: "NVIDIA", GPUMemoryBytes: new(int64(25_757_220_864)), GPUDriver: "550.54.14", CPUName: "AMD Ryzen 9 7950X", OS: "linux",
		BlenderVersion: contract.BlenderVersion, BlenderBuildHash: "e1743a0317bc",
		Scenes: []benchmark.SceneRun{{
			Scene: benchmark.SceneNames()[0], Samples: 4096, RenderSeconds: 48, SamplesPerMinute: 5120, PixelSHA256: exampleFrameSum, ReferenceSHA256: benchmark.Reference(benchmark.SceneNames()[0]), MatchesReference: true,
		}},
		StartedAt: exampleTime(-5 * time.Minute), CompletedAt: exampleTime(-time.Minute),
		Global: leaderboard.Place{Rank: new(int64(1)), Among: 1, Label: "unknown"}, WithinGPU: leaderboard.Place{Rank: new(int64(1)), Among: 1, Label: "unknown"},
		WorkerKeyID: exampleFrameSum, LogIndex: 42,
	}}
}

// ownExample are the examples of one operation, where it differs from others
// of the same schema.
type ownExample struct{ request, answer any }

func operationExamples(at links.Links) map[string]ownExample {
	started := func(status job.Status) any { return exampleObject(at, job.FlowJobAPI, status) }
	older := func(status job.Status) any { return exampleObject(at, job.FlowPublicV1, status) }
	stream := "id: 3\nevent: frame\ndata: {\"frame\":1,…}\n\n"
	return map[string]ownExample{
		"startUpload": {answer: started(job.Queued)}, "cancelJob": {answer: started(job.Cancelled)},
		"createRender": {request: map[string]string{"upload_id": exampleUpload}, answer: older(job.AwaitingSubmit)},
		"submitRender": {answer: older(job.Queued)}, "cancelRender": {answer: older(job.Cancelled)}, "getRender": {answer: older(job.Completed)},
		"watchJob": {answer: stream}, "watchRender": {answer: stream},
		"getOpenAPI": {answer: map[string]any{"openapi": "3.1.0"}}, "getRootOpenAPI": {answer: map[string]any{"openapi": "3.1.0"}},
	}
}
