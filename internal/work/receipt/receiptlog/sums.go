package receiptlog

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// The log's name carries a checksum. The rest of the row follows from the leaves.
var nameRows = rowsum.Table[query.ReceiptLog]{Name: "receipt_log", Key: 1, Except: []string{"Size", "Peaks"}}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{nameRows}
