package leaderboard

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// What workers sent carries checksums, over the whole row: why a receipt was rejected and
// which key a node has signed with cannot be derived from anything else. What is shown
// and counted carries none: it follows from the signed receipts.
var (
	receiptRows        = rowsum.Table[query.BenchmarkReceipt]{Name: "benchmark_receipt", Key: 1}
	nodeSigningKeyRows = rowsum.Table[query.NodeSigningKey]{Name: "node_signing_key", Key: 1}
)

// hiddenRows covers the whole row: why a result is hidden cannot be derived from
// anything else.
var hiddenRows = rowsum.Table[query.BenchmarkHidden]{Name: "benchmark_hidden", Key: 1}

// challengeRows covers the whole row: what was drawn, and what reference renders said,
// cannot be derived from anything else.
var challengeRows = rowsum.Table[query.BenchmarkChallenge]{Name: "benchmark_challenge", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{receiptRows, nodeSigningKeyRows, hiddenRows, challengeRows}
