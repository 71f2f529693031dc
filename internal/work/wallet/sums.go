package wallet

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// An entry of the ledger carries a checksum. Its postings and the wallets follow from it.
var entryRows = rowsum.Table[query.LedgerTransaction]{
	Name: "ledger_transaction", Key: 1,
	After: func(ctx context.Context, tx *db.Tx, last query.LedgerTransaction) ([]query.LedgerTransaction, error) {
		return tx.AuditLedger(ctx, last.TransactionID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.LedgerTransaction, sum string) error {
		return tx.LedgerSum(ctx, query.LedgerSumParams{RowSum: sum, TransactionID: r.TransactionID})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{entryRows}
