package dispatch

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// What a worker registered with, its trust and its key's, and failed attempts carry
// checksums: they cannot be derived from anything else. A worker's sum excludes when it
// was last seen, which every report changes, when it left, and its kind and pools, which follow
// from others.
var (
	workerRows  = rowsum.Table[query.Worker]{Name: "worker", Key: 1, Except: []string{"SeenAt", "LeftAt", "Kind", "Pools"}, Later: []string{"Unable", "Strips", "Tags", "Reserved", "RowsSha256"}}
	failureRows = rowsum.Table[query.FailedAttempt]{Name: "failed_attempt", Key: 2}
	trustRows   = rowsum.Table[query.KeyStanding]{Name: "key_standing", Key: 1}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{workerRows, failureRows, trustRows}
