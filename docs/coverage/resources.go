package coverage

// resources are spec 2.
func resources() []Rule {
	return []Rule{
		shown("2.1", "Health has ok, the service's name and the server's time, and nothing else",
			"api.TestTheDocumentHasThePublishedShapes", "api.TestHealthTellsTheTimeOfTheService").lines("ok", "service", "ts"),
		shown("2.2", "Pricing says the published constants; its optional members say 1 cent and no end",
			"api.TestDiscoverySaysThePublishedConstants", "api.TestTheDocumentHasThePublishedShapes").
			lines("ok", "contract", "currency", "model", "quote_required", "amount, amount_minor", "expires_at"),
		shown("2.3", "Capabilities says the published constants and the order of a caller's steps",
			"api.TestDiscoverySaysThePublishedConstants", "api.TestTheDocumentHasThePublishedShapes").
			lines("ok", "contract", "pricing, limits, cancellation, proof", "workflow"),
		shown("2.3", "There is exactly one renderer, with all its members constant",
			"api.TestDiscoverySaysThePublishedConstants", "api.TestTheDocumentHasThePublishedShapes").lines("renderers"),
		shown("2.3", "Availability has its three members; queue_state follows what happens",
			"api.TestTheDocumentHasThePublishedShapes", "api.TestCapabilitiesFollowTheQueue").lines("availability"),
		shown("2.3", "The member webhooks is constant and takes no further member",
			"api.TestDiscoverySaysThePublishedConstants", "api.TestTheDocumentHasThePublishedShapes").lines("webhooks"),
		shown("2.4", "Limits says the published figures, or the operator's", "api.TestDiscoverySaysThePublishedConstants", "operator.TestLimitsSayWhatTheFlagsSay", "api.TestTheDocumentHasThePublishedShapes").
			lines("ok", "contract", "frame_count", "accepted_extensions", "required_render_engine", "render_backend", "maximum_upload_size_bytes",
				"availability", "rate_limit"),
		shown("2.5", "A key's metadata has its six members, always; null says never used, or active",
			"api.TestAKeysSecretIsShownOnceAndItsMetadataAlways", "api.TestARevokedKeyIsRefusedOnTheNextRequestByEveryProcess", "api.TestTheDocumentHasThePublishedShapes").
			lines("key_id", "name", "masked_prefix", "created_at", "last_used_at", "revoked_at", "List"),
		shown("2.5", "A key is made by its name; the answer shows its secret, the only time",
			"api.TestAKeysSecretIsShownOnceAndItsMetadataAlways", "api.TestKeyNamesAreBounded").lines("Create, request", "Created"),
		shown("2.5", "Revoking answers with the key's id and nothing more", "api.TestARevokedKeyIsRefusedOnTheNextRequestByEveryProcess").lines("Revoked"),
		shown("2.6", "Every answer about a job is a RenderObject that may gain members",
			"api.TestTheDocumentHasThePublishedShapes", "api.TestTheOlderFlowLeadsToTheSameResults"),
		shown("2.7", "An upload needs its file; the other parts are checked, in any order",
			"api.TestBadRendersMeetTheirCode", "api.TestPreflightAndUploadCountFramesAlike").lines("file", "renderer", "frame_start, frame_end, frame_count"),
		shown("2.7", "A webhook is named at the upload", "api.TestAWebhookIsNamedAtTheUpload").lines("webhook_url", "webhook_secret"),
		shown("2.8", "Preflight takes a name and frames, and no other member",
			"api.TestBadRendersMeetTheirCode", "api.TestPreflightAndUploadCountFramesAlike", "api.TestTheDocumentHasThePublishedShapes").
			lines("filename", "renderer", "frame_start", "frame_end", "frame_count"),
		shown("2.9", "Proof names the job and where its receipt is", "api.TestTheOlderFlowLeadsToTheSameResults", "api.TestTheDocumentHasThePublishedShapes"),
		shown("2.10", "A workspace's renders are a list of RenderObject; pages neither skip nor repeat",
			"api.TestPagesNeverSkipNorRepeat", "api.TestTheDocumentHasThePublishedShapes"),
		shown("2.11", "A locked quote stands at the top level and inside quote, alike",
			"api.TestQuoteStandsAtBothPlaces", "api.TestTheDocumentHasThePublishedShapes").
			lines("upload_id", "quote_id", "frame_start, frame_end, frame_count", "price_cents", "pricing_version", "quote"),
		shown("2.11", "A scene beyond the envelope does not qualify, and its quote cannot be started",
			"api.TestASceneBeyondTheEnvelopeIsNotStarted", "quote.TestHostileSceneNeverLooksCheap").lines("qualified_1c"),
	}
}
