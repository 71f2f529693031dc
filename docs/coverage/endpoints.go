package coverage

// endpoints are spec 4 and 4.1.
func endpoints() []Rule {
	const served = "api.TestEveryPublishedRouteIsServedAndDescribed"
	return []Rule{
		shown("4.1", "What machines read first is public", "api.TestDiscoverySaysThePublishedConstants", "api.TestEveryRouteLetsInWhomItSaysAndNobodyElse", served).
			lines("GET /health", "GET /capabilities", "GET /pricing", "GET /limits"),
		shown("4.1", "The OpenAPI document is served; every answer of the tests is checked against it, and a client made from it works",
			"api.TestTheServedDocumentIsThePrintedOne", "clients.TestATypeScriptClientMadeFromTheDocumentRendersAJob", "api.TestEveryBodyHasAnExampleThatFitsItsSchema", "api.TestThePrintedDocumentIsTheServedOne", "api.TestTheDocumentDescribesWebhooks", served).lines("GET /openapi.json"),
		shown("4.1", "Preflight takes an account key and answers with the price of the frames",
			"api.TestPreflightAndUploadCountFramesAlike", "api.TestBadRendersMeetTheirCode", served).lines("POST /renders/preflight"),
		shown("4.1", "The older flow's routes lead from the upload to the proof", "api.TestTheOlderFlowLeadsToTheSameResults", served).
			lines("POST /renders", "POST /renders/{job_id}/submit", "GET /renders/{job_id}", "GET /renders/{job_id}/download",
				"GET /renders/{job_id}/receipt", "GET /renders/{job_id}/proof"),
		shown("4.1", "Cancel answers with the job; what is not there is 404, what is claimed 409",
			"api.TestCancellingAnUnsubmittedRenderReleases", "api.TestBadRequestsMeetTheirCode", "api.TestTheOlderFlowLeadsToTheSameResults", served).
			lines("POST /renders/{job_id}/cancel"),
		shown("4.1", "The workspace's renders are listed, newest first", "api.TestPagesNeverSkipNorRepeat", "api.TestRendersAreListedByStatus", served).
			lines("GET /workspace/renders"),
		shown("4.1", "A session lists, makes and revokes account keys", "api.TestAKeysSecretIsShownOnceAndItsMetadataAlways",
			"api.TestKeyNamesAreBounded", "api.TestAnEleventhActiveKeyIsRefusedUntilOneIsRevoked", "api.TestKeysOfOthersAndOfOtherKindsAreNotFound", served).
			lines("GET /api-keys", "POST /api-keys", "DELETE /api-keys/{key_id}"),
		shown("4.1 rule 1", "Preflight locks nothing and reserves nothing", "api.TestInspectAndQuoteSpendNothing"),
		shown("4.1 rule 2", "An upload of another kind than a form answers 415", "api.TestBadRendersMeetTheirCode", "api.TestAFormIsTakenWholeOrRefusedByName"),
		shown("4.1 rule 3", "104857600 bytes pass; one more answers 413 and leaves nothing behind",
			"clients.TestTheLargestUploadPassesAndOneByteMoreLeavesNothing", "clients.TestARefusedUploadLeavesNothing"),
		shown("4.1 rule 4", "Of a cancel and a claim at once, one wins", "money.TestCancelAndClaimHaveOneWinner"),
		shown("4.1 rule 5", "What another workspace has is 404 on every job route",
			"api.TestEveryRouteLetsInWhomItSaysAndNobodyElse", "api.TestEveryLinkOfAJobOpensForItsReader", "clients.TestAnotherWorkspacesThingsAreNotThere"),
	}
}

// idempotentUpload is spec 4.2.
func idempotentUpload() []Rule {
	const bad = "api.TestBadHeaderGroupsMeetTheirCode"
	return []Rule{
		shown("4.2", "The same key again gives the first answer, and no second billable job",
			"api.TestTheSameUploadAgainIsTheSameRender", "api.TestTheSameJSONInAnotherOrderIsTheSameRequest", "api.TestAHundredEqualUploadsAreOne", "api.TestNoEffectIsKeptWithoutItsAnswer",
			"idempotency.TestReplaysFollowTheModel").lines("Idempotency-Key"),
		shown("4.2", "The fingerprint is the SHA-256 of the seven lines; another is refused",
			"api.TestTheFingerprintIsThatOfTheSevenLines", bad).lines("X-Svc-Request-Fingerprint"),
		shown("4.2", "Each header has its form, and says what the upload is", bad, "api.TestEveryHeaderOfTheGroupHasItsForm").
			lines("X-Svc-Filename", "X-Svc-Renderer", "X-Svc-Frame-Start", "X-Svc-Frame-End", "X-Svc-Frame-Count", "X-Svc-Size-Bytes", "X-Svc-Content-SHA256"),
		shown("4.2", "All nine or none: each of them missing is named, with the JSON form too", bad, "api.TestTheNineHeadersCountForTheJSONFormToo", "api.TestEachMissingHeaderOfTheGroupIsNamed"),
	}
}

// jobAPI is spec 4.3.
func jobAPI() []Rule {
	const served = "api.TestEveryPublishedRouteIsServedAndDescribed"
	return []Rule{
		shown("4.3", "Inspect takes a file and answers with a locked quote; it spends nothing",
			"api.TestQuoteStandsAtBothPlaces", "api.TestInspectAndQuoteSpendNothing", "processes.TestTheCommandLineTellsTheWholeStory", served).lines("POST /node/v1/uploads/inspect"),
		shown("4.3", "Start answers with the job, its price reserved", "money.TestStartingAQuoteManyTimesAtOnceIsOneJobAndOneReserve", "api.TestBadRequestsMeetTheirCode", served).
			lines("POST /node/v1/uploads/{upload_id}/start"),
		shown("4.3", "The job is read by its id", "processes.TestTheCommandLineTellsTheWholeStory", "api.TestCredentialsAndWorkspacesAreKeptApart", served).
			lines("GET /node/v1/jobs/{job_id}"),
		shown("4.3 rule 1", "Start without quote_id or legal_acceptance, or with price_cents, is refused", "api.TestBadRequestsMeetTheirCode"),
		shown("4.3 rule 2", "Completed work is a ZIP behind download_url, and a receipt of its SHA-256",
			"clients.TestADownloadLinkAuthorisesItselfForAWhile", "processes.TestTheCommandLineTellsTheWholeStory", "client.TestVerifyDistinguishesAnHonestJobFromAChangedOne"),
	}
}

// uploadByID is spec 4.4.
func uploadByID() []Rule {
	return []Rule{
		shown("4.4", "An upload's key carries the hash of its file, which is checked", "api.TestTheUploadKeyIsCheckedAgainstTheBytes").lines("POST /uploads"),
		shown("4.4", "JSON with the upload's id makes the job, once for a key",
			"api.TestAnUploadByJSONTakesTheFramesOfItsQuote", "api.TestAJSONRequestAgainIsAnsweredAlike").lines("POST /renders"),
	}
}
