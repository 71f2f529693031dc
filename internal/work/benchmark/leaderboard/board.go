// Package leaderboard stores benchmark receipts and answers public queries: ranks,
// percentiles, medians, comparisons, searches.
//
// What always holds: an accepted receipt is countersigned, logged, ranked and shown in one
// transaction. A rejected one is stored with its reason and never shown. Ranks and
// percentiles are exact at the moment of the reading transaction, ties included, and cost the
// same for any number of results (tally.go explains how). Results are compared only under
// equal benchmark, scene and scoring versions. A CPU's result is shown but never ranked, and
// neither is one that no challenge verified. Each key has one voice in every count. Every
// published value comes from a stored receipt.
//
// Package benchmark decides what a receipt is and whether it counts, receiptlog keeps the
// log, and the doors speak HTTP.
//
// Start reading at Board, then Submit for writes and read.go for queries. challenge.go draws
// what a run must render, reference.go gets it confirmed, voices.go decides which results
// count.
package leaderboard

import (
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/receipt/signing"
)

// Versions are what is measured and how it is scored. Only results with equal
// versions are compared.
type Versions struct {
	Benchmark string `json:"benchmark_version"`
	Scene     string `json:"scene_version"`
	Scoring   string `json:"scoring_version"`
}

// Current returns the versions of this service.
func Current() Versions {
	return Versions{contract.BenchmarkVersion, contract.SceneVersion, contract.ScoringVersion}
}

// versionsOf are the versions that the receipt names.
func versionsOf(r benchmark.Receipt) Versions {
	return Versions{r.BenchmarkVersion, r.SceneVersion, r.ScoringVersion}
}

// Board accepts receipts and answers queries. The fields are set once, before the first
// call; all methods are safe for concurrent use.
type Board struct {
	DB    *db.DB
	Keys  *signing.Ring // countersigns accepted receipts
	Links links.Links   // public addresses of results and GPUs
	Blobs blob.Store    // keeps the pictures of challenges
	// References is how many results of a hundred a reference render must confirm, in
	// addition to those that would be among the best; 0 to 100.
	References int
	LeaseLife  time.Duration // how long a worker keeps a reference render without a heartbeat
	// AllowSynthetic accepts receipts of workers that render nothing. They are marked
	// wherever they are shown.
	AllowSynthetic bool
}
