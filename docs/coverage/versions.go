package coverage

// versions are spec 9.
func versions() []Rule {
	return []Rule{
		shown("9 rule 1", "The routes stand under /v1 and /node/v1", "api.TestEveryPublishedRouteIsServedAndDescribed"),
		shown("9 rule 2", "The document is OpenAPI 3.1.0, its version 2.0.0, at both its addresses", "api.TestTheServedDocumentIsThePrintedOne"),
		shown("9 rule 3", "Pricing, capabilities and limits say their contract strings", "api.TestDiscoverySaysThePublishedConstants"),
		shown("9 rule 4", "Quotes carry pricing_version", "api.TestQuoteStandsAtBothPlaces"),
		shown("9 rule 4", "Benchmark results carry their three versions", "api.TestTheLeaderboardTellsWhatReceiptsSay"),
		shown("9 rule 5", "The older upload and submit are served", "api.TestTheOlderFlowLeadsToTheSameResults"),
	}
}
