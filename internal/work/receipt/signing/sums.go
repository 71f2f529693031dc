package signing

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Published keys carry checksums: from when and until when a key is valid cannot be
// derived from anything else.
var keyRows = rowsum.Table[query.SigningKey]{Name: "signing_key", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{keyRows}
