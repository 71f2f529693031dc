package coverage

// leaderboard is spec 4.6.
func leaderboard() []Rule {
	const (
		told   = "api.TestTheLeaderboardTellsWhatReceiptsSay"
		order  = "leaderboard.TestOrderIsExactWhateverTheResults"
		search = "api.TestSearchFindsByPublicMembersAndNothingElse"
		empty  = "api.TestAnEmptyLeaderboardSaysSo"
	)
	return []Rule{
		shown("4.6", "The best results, by score", told, order).lines("GET /node/v1/leaderboard/top"),
		shown("4.6", "The summary of all", told, order).lines("GET /node/v1/leaderboard/stats"),
		shown("4.6", "One result, in the shape of a receipt", told, order).lines("GET /node/v1/leaderboard/result/<result_id>", "Result"),
		shown("4.6", "One GPU: figures, newest results, percentiles when there are enough samples", told, order).lines("GET /node/v1/leaderboard/gpu/<gpu_slug>", "GPU"),
		shown("4.6", "Two GPUs side by side", told).lines("GET /node/v1/leaderboard/compare/<gpu_a>/<gpu_b>"),
		shown("4.6", "Results and GPUs by public receipt members", search).lines("GET /node/v1/leaderboard/search?q=<query>", "Search"),
		shown("4.6", "The newest results: 25 unless asked otherwise, at most 100", "api.TestTheNewestAre25UnlessAskedOtherwise", empty).lines("GET /node/v1/leaderboard/latest?limit=<n>"),
		shown("4.6", "The place that a score would have; a bad score is 400", "api.TestAScoreIsPlacedAmongResults").lines("GET /node/v1/leaderboard/rank?score=<n>"),
		shown("4.6", "The flat members of results and lists say what receipts say", "api.TestTheFlatMembersOfAResultSayWhatItsReceiptSays", "api.TestTheFlatMembersOfListsAreCounted", "benchmark.TestAMachineIsHashedByItsDocumentedLines"),
		shown("4.6", "A run answers a challenge that the service draws; others are unverified and not ranked", "leaderboard.TestAChallengeIsAnsweredByItsOwnRunAlone", "leaderboard.TestAResultWithoutAChallengeIsShownAndNotRanked", "leaderboard.TestRunsOfAKeyNeitherOverlapNorComeTooOften", "blender.TestABenchmarkOfACPUIsShownAsCPUAndInNoTable"),
		shown("4.6", "A worker of another key confirms a sample, and the best ten", "leaderboard.TestAResultAmongTheBestWaitsForAReferenceOfAnotherKey", "leaderboard.TestEachAnswerIsSampledByItsShare", "leaderboard.TestOnlyAWorkerOfTheSameKindMakesAReference", "leaderboard.TestAReferenceThatEndsEarlyIsAskedForAgain"),
		shown("4.6", "Names that look alike are one GPU, and a key has one voice", "benchmark.TestNamesThatLookAlikeAreOneGPU", "leaderboard.TestAKeySpeaksByItsNewestResult", "leaderboard.TestForgedResultsOfAFewKeysMoveNoFigureFar"),
		shown("4.6", "All comes from stored receipts; what is unknown is null or the word unknown; nothing stored is empty lists and zero counts",
			empty, told, "leaderboard.TestWhatDoesNotCountIsKeptWithItsReasonAndShownNowhere"),
	}
}
