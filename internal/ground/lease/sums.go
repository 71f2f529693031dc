package lease

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Dead letters carry checksums. Leases carry none: they change all the time, and follow
// from what they are for.
var deadLetterRows = rowsum.Table[query.DeadLetter]{Name: "dead_letter", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{deadLetterRows}
