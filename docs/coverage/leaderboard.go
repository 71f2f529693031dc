package coverage

// leaderboard is spec 4.6.
func leaderboard() []Rule {
	return []Rule{
		beingBuilt("4.6", "The best results, by score").lines("GET /node/v1/leaderboard/top"),
		beingBuilt("4.6", "The summary of all").lines("GET /node/v1/leaderboard/stats"),
		beingBuilt("4.6", "One result, in the shape of a receipt").lines("GET /node/v1/leaderboard/result/<result_id>", "Result"),
		beingBuilt("4.6", "One GPU: figures, newest results, percentiles when there are enough samples").lines("GET /node/v1/leaderboard/gpu/<gpu_slug>", "GPU"),
		beingBuilt("4.6", "Two GPUs side by side").lines("GET /node/v1/leaderboard/compare/<gpu_a>/<gpu_b>"),
		beingBuilt("4.6", "Results and GPUs by public receipt members").lines("GET /node/v1/leaderboard/search?q=<query>", "Search"),
		beingBuilt("4.6", "The newest results: 25 unless asked otherwise, at most 100").lines("GET /node/v1/leaderboard/latest?limit=<n>"),
		beingBuilt("4.6", "All comes from stored receipts; what is unknown is null or the word unknown; nothing stored is empty lists and zero counts"),
	}
}
