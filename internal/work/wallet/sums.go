package wallet

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// An entry of the ledger carries a checksum. Its postings and the wallets follow from it.
var entryRows = rowsum.Table[query.LedgerTransaction]{Name: "ledger_transaction", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{entryRows}
