package quote

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// A quote carries a checksum. It leaves out who accepted it: the audit holds that against
// the job.
var quoteRows = rowsum.Table[query.Quote]{Name: "quote", Key: 1, Except: []string{"AcceptedAt", "JobID"}}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{quoteRows}
