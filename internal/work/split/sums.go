package split

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

var stripRows = rowsum.Table[query.Strip]{Name: "strip", Key: 3}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{stripRows}
