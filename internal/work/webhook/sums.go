package webhook

import (
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// The rows of this package that cannot be derived from anything else carry checksums,
// over the whole row. A delivery has none: it follows from its event, its endpoint and
// its attempts.
var (
	endpointRows = rowsum.Table[query.WebhookEndpoint]{Name: "webhook_endpoint", Key: 1}
	secretRows   = rowsum.Table[query.WebhookSecret]{Name: "webhook_secret", Key: 1}
	attemptRows  = rowsum.Table[query.WebhookAttempt]{Name: "webhook_attempt", Key: 2}
	eventRows    = rowsum.Table[query.WebhookEvent]{
		Name: "webhook_event", Key: 1,
		Except: []string{"Seq"}, // auditEvents counts them
		Later:  []string{"RequestID"},
	}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{endpointRows, secretRows, attemptRows, eventRows}
