package document

import (
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// codesOf lists the error codes of an operation, in the order of fault.Table.
// Tests compare every refusal that they get with the document.
func codesOf(op *huma.Operation) []fault.Code {
	if own, brings := op.Metadata[Codes].([]fault.Code); brings {
		return ordered(slices.Concat(commonCodes(), own))
	}
	can := slices.Concat(commonCodes(), ownCodes()[op.OperationID])
	if takesSession(op) && operation.RoleFor(op) != identity.Viewer {
		can = append(can, fault.InsufficientRole)
	}
	return ordered(can)
}

// Codes names the member of an operation's Metadata that has its error codes besides
// commonCodes, as a []fault.Code. Operations without it are listed below.
const Codes = "codes"

// ordered returns codes in the order of fault.Table, each once.
func ordered(codes []fault.Code) (all []fault.Code) {
	for _, row := range fault.Table() {
		if slices.Contains(codes, row.Code) {
			all = append(all, row.Code)
		}
	}
	return all
}

// ownCodes are those of each operation besides commonCodes.
var ownCodes = sync.OnceValue(func() map[string][]fault.Code {
	all := map[string][]fault.Code{}
	for _, some := range []map[string][]fault.Code{operationCodes(), shareCodes(), queueCodes(), invoiceCodes(), filterCodes()} {
		for id, codes := range some {
			all[id] = append(all[id], codes...)
		}
	}
	return all
})

// takesSession reports whether a person may call an operation from a browser.
func takesSession(op *huma.Operation) bool {
	return slices.ContainsFunc(op.Security, func(scheme map[string][]string) bool {
		_, is := scheme[operation.SessionScheme]
		return is
	})
}

// commonCodes are the codes that every operation can answer with.
func commonCodes() []fault.Code {
	return []fault.Code{fault.RateLimited, fault.Internal, fault.Unavailable}
}

// operationCodes lists the codes of each operation besides commonCodes. Add a
// new operation here: a missing code fails the test that gets it.
func operationCodes() map[string][]fault.Code {
	type codes = []fault.Code
	all := func(of ...codes) codes { return slices.Concat(of...) }
	key, ours := codes{fault.Unauthenticated}, codes{fault.CrossOriginRefused}
	session, bad := all(key, ours), codes{fault.InvalidRequest}
	sent := codes{fault.BodyTruncated, fault.EncodingNotSupported, fault.UploadTooSlow}
	json := all(sent, codes{fault.InvalidRequest, fault.BodyTooLarge, fault.UnsupportedMedia})
	once := all(sent, codes{fault.InvalidRequest, fault.IdempotencyKeyReused, fault.IdempotencyInProgress})
	frames := codes{fault.InvalidFrameRange, fault.FrameRangeTooLarge}
	file := all(sent, codes{
		fault.InvalidRequest, fault.FieldRepeated, fault.UnsupportedRenderer, fault.UnsupportedFile, fault.FileDamaged, fault.FileTooNew, fault.NoScene, fault.NoCamera, fault.PictureTooSmall, fault.ViewPathUnsafe, fault.EngineNotSupported,
		fault.UploadTooLarge, fault.UploadTooSlow, fault.StorageLimitReached, fault.UnsupportedMedia,
	}, frames)
	archive := all(file, codes{fault.InvalidSettings, fault.InvalidArchive, fault.InvalidProjectPath, fault.MainFileAmbiguous})
	group := codes{fault.IdempotencyHeadersIncomplete, fault.FingerprintMismatch, fault.SizeMismatch, fault.ContentHashMismatch, fault.HeaderMismatch}
	money := codes{fault.InsufficientFunds, fault.SpendLimitReached, fault.PriceAboveMax, fault.WorkspaceFrozen, fault.QuoteNotQualified, fault.NotAcceptingJobs}
	job := all(key, codes{fault.RenderNotFound})
	result := all(job, codes{fault.RenderNotCompleted})
	rerender := all(result, json, once, frames, codes{fault.UploadNotFound, fault.StorageLimitReached})
	made := codes{fault.FrameNotFound, fault.ArtifactExpired, fault.ResultDamaged}
	film := codes{fault.ArtifactExpired, fault.MovieNotReady, fault.MovieUnavailable, fault.PreconditionFailed, fault.RangeNotSatisfiable}
	preview, ranged := all(job, bad, made), codes{fault.PreconditionFailed, fault.RangeNotSatisfiable}
	look := all(json, once, codes{fault.UploadNotFound, fault.InvalidFrameRange, fault.PreviewsOff, fault.PreviewLimitReached, fault.WorkspaceFrozen})
	createKey := all(session, json, codes{fault.InvalidKeyName, fault.KeyLimitReached})
	revokeKey := all(session, codes{fault.KeyNotFound})
	hook, endpoint := codes{fault.InvalidWebhookURL, fault.WebhookSecretShort}, all(session, codes{fault.EndpointNotFound})
	return map[string][]fault.Code{
		"getHealth": nil, "getCapabilities": nil, "getPricing": nil, "getLimits": nil, "listSigningKeys": nil, "getOpenAPI": nil, "getRootOpenAPI": nil,
		"inspectUpload": all(session, archive),
		"createProject": all(session, json, once, frames, codes{
			fault.InvalidSettings, fault.InvalidProjectPath, fault.PartsMissing, fault.UnsupportedFile, fault.FileDamaged, fault.FileTooNew, fault.NoScene, fault.NoCamera, fault.PictureTooSmall, fault.ViewPathUnsafe,
			fault.EngineNotSupported, fault.UploadTooLarge, fault.UploadTooSlow, fault.StorageLimitReached,
		}),
		"sendPart": all(session, sent, bad, codes{fault.ContentHashMismatch, fault.UploadTooLarge, fault.UploadTooSlow, fault.StorageLimitReached}),
		"quoteUpload": all(session, json, once, frames, codes{
			fault.InvalidSettings, fault.UploadNotFound, fault.StorageLimitReached, fault.NoCamera, fault.PictureTooSmall, fault.ViewPathUnsafe, fault.EngineNotSupported, fault.FileDamaged, fault.UnsupportedFile, fault.FileTooNew,
		}),
		"startUpload": all(session, json, once, money, hook, codes{
			fault.PriceNotAccepted, fault.LegalRequired, fault.UploadNotFound, fault.QuoteNotFound, fault.QuoteExpired,
		}),
		"getInspectedUpload": all(session, codes{fault.UploadNotFound}), "deleteInspectedUpload": all(session, codes{fault.UploadNotFound, fault.UploadInUse}),
		"getUpload": all(key, codes{fault.UploadNotFound}), "deleteUpload": all(key, codes{fault.UploadNotFound, fault.UploadInUse}),
		"previewInspectedUpload": all(session, look), "getInspectedUploadPreview": all(session, bad, codes{fault.UploadNotFound, fault.PreviewNotFound}),
		"previewUpload": all(key, look), "getUploadPreview": all(key, bad, codes{fault.UploadNotFound, fault.PreviewNotFound}),
		"getPreviewImage": all(key, bad, codes{fault.PreconditionFailed, fault.RangeNotSatisfiable, fault.PreviewNotFound}),
		"getJob":          job, "cancelJob": all(job, once, codes{fault.RenderNotCancellable}), "watchJob": all(job, bad), "rerenderJob": rerender,
		"getJobDownload": all(result, codes{fault.ArtifactExpired}), "getJobReceipt": all(result, ours), "getJobProof": all(result, ours),

		"preflightRender": all(key, json, once, frames, codes{fault.UnsupportedFile, fault.UnsupportedRenderer}),
		"createRender":    all(key, file, once, group, money, hook, codes{fault.UnsupportedRenderer, fault.UploadNotFound, fault.BodyTooLarge}),
		"submitRender":    all(job, once, codes{fault.RenderNotSubmittable, fault.NotAcceptingJobs}),
		"createUpload":    all(key, archive, once, codes{fault.ContentHashMismatch}),
		"getRender":       job, "cancelRender": all(job, once, codes{fault.RenderNotCancellable}), "watchRender": all(job, bad), "rerenderRender": rerender,
		"getRenderDownload": all(result, codes{fault.ArtifactExpired}), "getRenderReceipt": result, "getRenderProof": result,
		"listRenderFrames": job, "getRenderFramePreview": preview, "getRenderFrameFile": all(preview, ranged), "getRenderLog": job,
		"listJobFrames": job, "getJobFramePreview": preview, "getJobFrameFile": all(preview, ranged), "getJobLog": job,
		"getRenderContactSheet": all(job, made), "getRenderLoop": all(job, made), "getJobContactSheet": all(job, made, ours), "getJobLoop": all(job, made, ours),
		"getRenderMovie": all(result, film), "getJobMovie": all(result, film, ours),
		"downloadArtifact": all(key, bad, codes{fault.PreconditionFailed, fault.RangeNotSatisfiable, fault.RenderNotFound, fault.ArtifactExpired, fault.ResultDamaged}),

		"getLeaderboardTop": nil, "getLeaderboardStats": nil, "listLeaderboardGPUs": nil, "getLeaderboardLatest": bad, "getLeaderboardRank": bad, "searchLeaderboard": bad,
		"getLeaderboardResult": all(bad, codes{fault.ResultNotFound}), "getLeaderboardGPU": all(bad, codes{fault.GPUNotFound}),
		"compareLeaderboardGPUs": all(bad, codes{fault.GPUNotFound}),

		"listRenders": all(key, bad), "listJobs": all(key, bad), "watchWorkspace": all(key, bad), "watchNodeWorkspace": all(key, bad),
		"createTopUp": all(session, json, codes{fault.TopUpLimitReached, fault.PaymentsUnavailable}), "listTopUps": all(session, bad), "getTopUp": all(session, bad, codes{fault.TopUpNotFound}), "setWalletAlert": all(session, json),
		"receiveStripeEvent": all(json, codes{fault.InvalidSignature, fault.PaymentsUnavailable}), "getWallet": session, "listTransactions": all(session, bad), "getSpend": all(session, bad), "setProofPages": all(session, json),
		"listApiKeys": session, "createApiKey": createKey, "revokeApiKey": revokeKey,
		"listAgentKeys": session, "createAgentKey": all(createKey, codes{fault.WrongMode}), "revokeAgentKey": revokeKey,
		"getTestClock": all(session, codes{fault.WrongMode}), "moveTestClock": all(session, json, codes{fault.WrongMode}),

		"createWebhookEndpoint": all(session, json, hook, codes{fault.EndpointLimitReached}), "listWebhookEndpoints": session, "getWebhookEndpoint": endpoint,
		"changeWebhookEndpoint": all(endpoint, json, codes{fault.InvalidWebhookURL}), "deleteWebhookEndpoint": endpoint,
		"rotateWebhookSecret": all(endpoint, json, codes{fault.WebhookSecretShort}), "testWebhookEndpoint": all(endpoint, codes{fault.EndpointDisabled}),
		"redeliverSince": all(endpoint, json, codes{fault.EndpointDisabled}), "listEndpointDeliveries": all(endpoint, bad),
		"listWebhookDeliveries": all(session, codes{fault.RenderNotFound}), "redeliverWebhook": all(session, codes{fault.RenderNotFound, fault.DeliveryNotFound, fault.EndpointDisabled}),

		"askForLink": all(ours, json), "showLink": {fault.LinkInvalid}, "signIn": all(ours, sent, bad, codes{fault.LinkInvalid, fault.BodyTooLarge}),
		"getSession": session, "signOut": session,
		"startOpenID": {fault.RouteNotFound}, "finishOpenID": {fault.RouteNotFound, fault.SignInFailed},
	}
}

// shareCodes lists the codes of the operations on share links.
func shareCodes() map[string][]fault.Code {
	read := []fault.Code{fault.Unauthenticated, fault.RenderNotFound, fault.ShareNotFound}
	end := append(slices.Clone(read), fault.InsufficientScope)
	create := []fault.Code{
		fault.Unauthenticated, fault.RenderNotFound, fault.InsufficientScope, fault.ShareLimitReached, fault.InvalidRequest, fault.BodyTooLarge, fault.UnsupportedMedia,
		fault.BodyTruncated, fault.EncodingNotSupported, fault.UploadTooSlow, fault.IdempotencyKeyReused, fault.IdempotencyInProgress,
	}
	list := []fault.Code{fault.Unauthenticated}
	comments := []fault.Code{fault.Unauthenticated, fault.RenderNotFound}
	allow := append(slices.Clone(end), fault.InvalidRequest, fault.BodyTooLarge, fault.UnsupportedMedia, fault.BodyTruncated, fault.EncodingNotSupported, fault.UploadTooSlow)
	return map[string][]fault.Code{
		"shareJob": create, "getJobShare": read, "unshareJob": end, "shareRender": create, "getRenderShare": read, "unshareRender": end,
		"listRenderShares": list, "listJobShares": list, "allowJobComments": allow, "allowRenderComments": allow, "listJobComments": comments, "listRenderComments": comments,
	}
}

// invoiceCodes lists the codes of the operations on invoices.
func invoiceCodes() map[string][]fault.Code {
	read := []fault.Code{fault.Unauthenticated, fault.CrossOriginRefused, fault.InvalidRequest, fault.InvoiceNotFound}
	return map[string][]fault.Code{"listInvoices": read, "getInvoice": read, "getInvoicePDF": read}
}

// queueCodes lists the codes of the operations on a job's place in the queue and its tags.
func queueCodes() map[string][]fault.Code {
	pause := []fault.Code{fault.Unauthenticated, fault.RenderNotFound, fault.RenderNotPausable}
	resume := append(slices.Clone(pause), fault.PausedByOperator)
	priority := append(slices.Clone(pause), fault.InvalidRequest, fault.BodyTooLarge, fault.UnsupportedMedia, fault.BodyTruncated, fault.EncodingNotSupported, fault.UploadTooSlow)
	tags := slices.DeleteFunc(slices.Clone(priority), func(c fault.Code) bool { return c == fault.RenderNotPausable })
	return map[string][]fault.Code{
		"setJobTags": tags, "setRenderTags": tags,
		"pauseJob": pause, "resumeJob": resume, "setJobPriority": priority, "pauseRender": pause, "resumeRender": resume, "setRenderPriority": priority,
	}
}

// filterCodes lists the codes of the operations on saved filters.
func filterCodes() map[string][]fault.Code {
	list := []fault.Code{fault.Unauthenticated, fault.CrossOriginRefused}
	end := append(slices.Clone(list), fault.FilterNotFound)
	save := append(slices.Clone(list), fault.FilterLimitReached, fault.InvalidRequest, fault.BodyTooLarge, fault.UnsupportedMedia, fault.BodyTruncated, fault.EncodingNotSupported, fault.UploadTooSlow)
	return map[string][]fault.Code{"listFilters": list, "saveFilter": save, "changeFilter": append(slices.Clone(save), fault.FilterNotFound), "deleteFilter": end}
}
