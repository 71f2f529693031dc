package idempotency

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// A key and its answer carry a checksum. It leaves out when a hold lapses, which changes
// while the request is worked on and means nothing afterwards.
var keyRows = rowsum.Table[query.Idempotency]{Name: "idempotency", Key: 3, Except: []string{"LapsesAt"}}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{keyRows}
