package preview

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Previews carry checksums, over the whole row.
var previewRows = rowsum.Table[query.Preview]{Name: "preview", Key: 1, Later: []string{"Settings", "Bands"}}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{previewRows}
