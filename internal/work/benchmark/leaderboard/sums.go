package leaderboard

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// What workers sent carries checksums, over the whole row: why a receipt was rejected and
// which key a node has signed with follow from nothing else. What is shown and counted
// carries none: it follows from the signed receipts.
var (
	receiptRows = rowsum.Table[query.BenchmarkReceipt]{
		Name: "benchmark_receipt", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.BenchmarkReceipt) ([]query.BenchmarkReceipt, error) {
			return tx.BenchmarkReceiptAfter(ctx, last.ResultID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.BenchmarkReceipt, sum string) error {
			return tx.BenchmarkReceiptSum(ctx, query.BenchmarkReceiptSumParams{RowSum: sum, ResultID: r.ResultID})
		},
	}
	nodeSigningKeyRows = rowsum.Table[query.NodeSigningKey]{
		Name: "node_signing_key", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.NodeSigningKey) ([]query.NodeSigningKey, error) {
			return tx.NodeSigningKeyAfter(ctx, last.KeyID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.NodeSigningKey, sum string) error {
			return tx.NodeSigningKeySum(ctx, query.NodeSigningKeySumParams{RowSum: sum, KeyID: r.KeyID})
		},
	}
)

// hiddenRows covers the whole row: why a result is hidden follows from nothing else.
var hiddenRows = rowsum.Table[query.BenchmarkHidden]{
	Name: "benchmark_hidden", Key: 1,
	After: func(ctx context.Context, tx *db.Tx, last query.BenchmarkHidden) ([]query.BenchmarkHidden, error) {
		return tx.BenchmarkHiddenAfter(ctx, last.ResultID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.BenchmarkHidden, sum string) error {
		return tx.BenchmarkHiddenSum(ctx, query.BenchmarkHiddenSumParams{RowSum: sum, ResultID: r.ResultID})
	},
}

// challengeRows covers the whole row: what was drawn, and what reference renders said,
// follow from nothing else.
var challengeRows = rowsum.Table[query.BenchmarkChallenge]{
	Name: "benchmark_challenge", Key: 1,
	After: func(ctx context.Context, tx *db.Tx, last query.BenchmarkChallenge) ([]query.BenchmarkChallenge, error) {
		return tx.ChallengeAfter(ctx, last.ChallengeID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.BenchmarkChallenge, sum string) error {
		return tx.ChallengeSum(ctx, query.ChallengeSumParams{RowSum: sum, ChallengeID: r.ChallengeID})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{receiptRows, nodeSigningKeyRows, hiddenRows, challengeRows}
