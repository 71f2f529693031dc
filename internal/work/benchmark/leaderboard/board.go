// Package leaderboard keeps benchmark receipts and answers what the public asks
// of them: ranks, percentiles, medians, comparisons, searches.
//
// What always holds:
//   - A receipt that counts is countersigned, logged, ranked and shown in one
//     transaction; one that does not is kept with the reason and shown nowhere.
//   - Whatever is told of order is exact, ties included, at the moment of the
//     transaction that reads it, and costs the same however many results there
//     are (tally.go says how).
//   - Results are compared only under equal benchmark, scene and scoring
//     versions. A CPU's result is shown and never ranked.
//   - Nothing is told that no stored receipt says.
//
// It leaves to others: what a receipt is and whether it counts (benchmark), the
// log (receiptlog), and every wire (the doors farm, api and web).
//
// Start reading at Board, then Submit; read.go is what the public asks.
package leaderboard

import (
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/receipt/signing"
)

// Versions are what is measured and how it is scored. Results are compared only
// where all three are equal.
type Versions struct {
	Benchmark string `json:"benchmark_version"`
	Scene     string `json:"scene_version"`
	Scoring   string `json:"scoring_version"`
}

// Current are the versions of this service.
func Current() Versions {
	return Versions{contract.BenchmarkVersion, contract.SceneVersion, contract.ScoringVersion}
}

func versionsOf(r benchmark.Receipt) Versions {
	return Versions{r.BenchmarkVersion, r.SceneVersion, r.ScoringVersion}
}

// Board takes receipts and answers questions.
type Board struct {
	DB    *db.DB
	Keys  *signing.Ring
	Links links.Links
	// AllowSynthetic takes receipts of workers that render nothing; they are
	// marked wherever they are shown.
	AllowSynthetic bool
}
