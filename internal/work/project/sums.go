package project

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Content carries a checksum: where its bytes are cannot be derived from anything else.
// Projects follow from their uploads.
var contentRows = rowsum.Table[query.Content]{Name: "content", Key: 2}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{contentRows}
