package job

import (
	"context"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// page is what the store says of a page of jobs, in addition to their rows.
type page struct {
	quotes   map[string]query.Quote // by id
	uploads  map[string]query.AuditJobUploadsRow
	keys     map[string]string // the workspace of a key
	entries  map[string][]query.LedgerTransaction
	receipts map[string][]query.AuditJobReceiptsRow
	events   map[string][]query.WebhookEvent
	frames   map[string]query.AuditJobFramesRow
	newest   map[string]query.AuditJobLastFramesRow
	doubts   map[string]int64
	expiries map[string]bool // jobs whose artifact is due to be removed
	erased   map[string]bool // erased workspaces
}

// facts is one job, and what the store says of it.
type facts struct {
	job      Record
	quote    query.Quote              // zero when there is none
	upload   query.AuditJobUploadsRow // zero when there is none
	key      string                   // the workspace of the key that spent; "" when there is none
	entries  []query.LedgerTransaction
	receipts []query.AuditJobReceiptsRow
	events   []query.WebhookEvent
	frames   query.AuditJobFramesRow
	newest   query.AuditJobLastFramesRow
	doubts   int64
	expires  bool
	erased   bool // with its workspace
}

func (p page) of(job Record) facts {
	return facts{
		job: job, quote: p.quotes[job.QuoteID], upload: p.uploads[job.UploadID], key: p.keys[job.KeyID], entries: p.entries[job.JobID],
		receipts: p.receipts[job.JobID], events: p.events[job.JobID], frames: p.frames[job.JobID], newest: p.newest[job.JobID],
		doubts: p.doubts[job.JobID], expires: p.expiries[expiry(ExpireArtifact, job.JobID)], erased: p.erased[job.WorkspaceID],
	}
}

// readFacts reads what belongs to the jobs after the one named after, up to last: one
// statement for each table, for any number of jobs.
func readFacts(ctx context.Context, tx *db.Tx, after, last string) (p page, err error) {
	p = page{keys: map[string]string{}, expiries: map[string]bool{}, erased: map[string]bool{}}
	erased, err := tx.AuditJobErased(ctx, query.AuditJobErasedParams{After: after, Last: last})
	for _, workspaceID := range erased {
		p.erased[workspaceID] = true
	}
	if err != nil {
		return p, err
	}
	keys, err := tx.AuditJobKeys(ctx, query.AuditJobKeysParams{After: after, Last: last})
	for _, key := range keys {
		p.keys[key.KeyID] = key.WorkspaceID
	}
	if err != nil {
		return p, err
	}
	subjects, err := tx.AuditJobExpiries(ctx, query.AuditJobExpiriesParams{After: after, Last: last})
	for _, subject := range subjects {
		p.expiries[subject] = true
	}
	if err != nil {
		return p, err
	}
	doubts, err := tx.AuditJobDoubts(ctx, query.AuditJobDoubtsParams{After: after, Last: last})
	p.doubts = map[string]int64{}
	for _, row := range doubts {
		p.doubts[row.Subject] = row.Doubts
	}
	if err != nil {
		return p, err
	}
	return p, p.readRows(ctx, tx, after, last)
}

func (p *page) readRows(ctx context.Context, tx *db.Tx, after, last string) error {
	quotes, err := tx.AuditJobQuotes(ctx, query.AuditJobQuotesParams{After: after, Last: last})
	if err != nil {
		return err
	}
	p.quotes = byID(quotes, func(q query.Quote) string { return q.QuoteID })
	uploads, err := tx.AuditJobUploads(ctx, query.AuditJobUploadsParams{After: after, Last: last})
	if err != nil {
		return err
	}
	p.uploads = byID(uploads, func(u query.AuditJobUploadsRow) string { return u.UploadID })
	entries, err := tx.AuditJobLedger(ctx, query.AuditJobLedgerParams{After: after, Last: last})
	if err != nil {
		return err
	}
	p.entries = listed(entries, func(t query.LedgerTransaction) string { return t.JobID })
	receipts, err := tx.AuditJobReceipts(ctx, query.AuditJobReceiptsParams{After: after, Last: last})
	if err != nil {
		return err
	}
	p.receipts = listed(receipts, func(r query.AuditJobReceiptsRow) string { return r.JobID })
	events, err := tx.AuditJobEvents(ctx, query.AuditJobEventsParams{After: after, Last: last})
	if err != nil {
		return err
	}
	p.events = listed(events, func(e query.WebhookEvent) string { return e.JobID })
	frames, err := tx.AuditJobFrames(ctx, query.AuditJobFramesParams{After: after, Last: last})
	if err != nil {
		return err
	}
	p.frames = byID(frames, func(f query.AuditJobFramesRow) string { return f.JobID })
	newest, err := tx.AuditJobLastFrames(ctx, query.AuditJobLastFramesParams{After: after, Last: last})
	p.newest = byID(newest, func(f query.AuditJobLastFramesRow) string { return f.JobID })
	return err
}

func byID[Row any](rows []Row, id func(Row) string) map[string]Row {
	out := make(map[string]Row, len(rows))
	for _, row := range rows {
		out[id(row)] = row
	}
	return out
}

func listed[Row any](rows []Row, id func(Row) string) map[string][]Row {
	out := make(map[string][]Row, len(rows))
	for _, row := range rows {
		out[id(row)] = append(out[id(row)], row)
	}
	return out
}

// ended is when the job reached its terminal state; 0 before.
func (f facts) ended() int64 {
	switch Status(f.job.Status) {
	case Completed:
		return f.job.CompletedAt
	case Failed:
		return f.job.FailedAt
	case Cancelled:
		return f.job.CancelledAt
	}
	return 0
}

// ahead reports whether one of the job's times lies in the future.
func (f facts) ahead(now int64) bool {
	j := f.job
	return max(j.CreatedAt, j.SubmittedAt, j.ClaimedAt, j.CompletedAt, j.FailedAt, j.CancelledAt, j.UpdatedAt, j.ArtifactRemovedAt) > now+clockSlack
}

// artifactKeyOf reports whether key is one that a packing of the job writes.
func artifactKeyOf(jobID, key string) bool {
	attempt, found := strings.CutPrefix(key, "artifacts/"+jobID+"-")
	number, zipped := strings.CutSuffix(attempt, ".zip")
	return found && zipped && number != "" && strings.Trim(number, "0123456789") == ""
}
