package intake

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// What was received and what is awaited carry checksums, over the whole row.
var (
	uploadRows  = rowsum.Table[query.Upload]{Name: "upload", Key: 1}
	awaitedRows = rowsum.Table[query.AwaitedUpload]{Name: "awaited_upload", Key: 1, Later: []string{"TermsVersion"}}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{uploadRows, awaitedRows}
