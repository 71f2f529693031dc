package quote

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// A quote carries a checksum. It excludes which job accepted the quote: the audit
// compares that with the job.
var quoteRows = rowsum.Table[query.Quote]{Name: "quote", Key: 1, Except: []string{"AcceptedAt", "JobID"}, Later: []string{"Settings", "Scene", "Reused", "ReusedCents"}}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{quoteRows}
