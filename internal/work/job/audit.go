package job

import (
	"context"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
)

// clockSlack is how far times of one job may run against each other. On SQLite they come
// from the machine's clock, which may be set back.
const clockSlack = 3_600_000_000 // an hour, in microseconds

// Audit reads every job, page by page, and compares it with what else the store says of it:
// its quote, its upload, its money, its receipt, its event, its frames and its key. It
// reports jobs that differ, and jobs that no lease will ever advance. It returns the number
// of jobs. An error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, book contract.Book, breach func(rule, subject, format string, args ...any)) (jobs int, err error) {
	for after := ""; ; {
		rows, err := tx.AuditJobs(ctx, after)
		if err != nil {
			return jobs, fmt.Errorf("audit jobs: %w", err)
		}
		if len(rows) == 0 {
			break
		}
		last := rows[len(rows)-1].JobID
		known, err := readFacts(ctx, tx, after, last)
		if err != nil {
			return jobs, fmt.Errorf("audit jobs: %w", err)
		}
		for _, row := range rows {
			f := known.of(row)
			if f.erased {
				erasedJobRows.Check(row, breach)
			} else {
				jobRows.Check(row, breach)
			}
			for _, check := range []func(facts, func(rule, subject, format string, args ...any)){
				auditOrder, auditPrice(book), auditMoney, auditState, auditTimes, auditEndOfFrames, auditFrames, auditEvent,
			} {
				check(f, breach)
			}
			if f.ahead(tx.Now) {
				breach("a job's times are in order", row.JobID, "one of them lies in the future")
			}
		}
		jobs, after = jobs+len(rows), last
	}
	return jobs, auditLeases(ctx, tx, breach)
}

// auditLeases reports jobs whose next step is on no queue: they would wait forever.
func auditLeases(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	packaging, err := tx.AuditPackaging(ctx)
	if err != nil {
		return fmt.Errorf("audit jobs in packaging: %w", err)
	}
	for _, jobID := range packaging {
		breach("a job in packaging is packed", jobID, "no lease of queue %s", PackageQueue)
	}
	awaiting, err := tx.AuditAwaiting(ctx)
	if err != nil {
		return fmt.Errorf("audit jobs that await their submit: %w", err)
	}
	for _, jobID := range awaiting {
		breach("a job waits for its submit for a day at most", jobID, "no lease ends the wait")
	}
	return nil
}
