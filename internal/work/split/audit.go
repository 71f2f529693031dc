package split

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/digest"
	"svc.example/internal/work/job"
)

// Audit reads every strip, page by page, and reports those that are not as they were written,
// do not make up their frame, or contradict their leases. An error means that the audit did not
// finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	after := query.AuditStripsParams{}
	last := query.Strip{}
	for {
		rows, err := tx.AuditStrips(ctx, after)
		if err != nil {
			return fmt.Errorf("audit strips: %w", err)
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			stripRows.Check(r.Strip, breach)
			if why := strange(r, last); why != "" {
				breach("strips make up their frame", fmt.Sprintf("%s/%d/%d", r.Strip.JobID, r.Strip.Frame, r.Strip.Part), "%s", why)
			}
			last = r.Strip
			after = query.AuditStripsParams{JobID: last.JobID, Frame: last.Frame, Part: last.Part}
		}
	}
	orphans, err := tx.AuditStripLeases(ctx)
	if err != nil {
		return fmt.Errorf("audit the leases of strips: %w", err)
	}
	for _, leaseID := range orphans {
		breach("a strip's lease follows from its row", leaseID, "there is no such strip")
	}
	return nil
}

// strange says how a strip contradicts itself, the one above it or its frame; "" if it does not.
func strange(r query.AuditStripsRow, above query.Strip) string {
	s := r.Strip
	first := above.JobID != s.JobID || above.Frame != s.Frame
	in := s.DeliveredAt != 0
	ended := job.Status(r.Status).Terminal()
	switch {
	case s.Part < 0 || s.Part >= s.Parts || s.Parts < 2 || s.Parts > mostParts || first != (s.Part == 0):
		return fmt.Sprintf("it is number %d of %d", s.Part, s.Parts)
	case s.RowFrom >= s.RowTo || (first && s.RowFrom != 0) || (!first && s.RowFrom != above.RowTo) || (s.Part == s.Parts-1) != (s.RowTo == s.Height):
		return fmt.Sprintf("it has the rows %d to %d of %d", s.RowFrom, s.RowTo, s.Height)
	case s.Overlap < 1 || s.Class == "":
		return fmt.Sprintf("it overlaps by %d rows, for workers of %q", s.Overlap, s.Class)
	case in != digest.Is(s.Sha256) || in != (s.SizeBytes > 0) || in != (s.WorkerID != "") || in != (s.Attempt > 0):
		return fmt.Sprintf("worker %q delivered it at %d in attempt %d, with %d bytes", s.WorkerID, s.DeliveredAt, s.Attempt, s.SizeBytes)
	case s.IsOpen == 0 && (!in || s.BlobKey != ""):
		return "its frame is accepted, and it is not in or has bytes"
	case s.IsOpen == 0 && r.Accepted != s.Frame:
		return "it is of an accepted frame that is not there"
	case s.IsOpen == 1 && in != (s.BlobKey != ""):
		return fmt.Sprintf("its bytes are %q", s.BlobKey)
	case s.IsOpen == 1 && !ended && (in != (r.LeaseState == "") || r.FrameLease == ""):
		return fmt.Sprintf("its lease is %q, that of its frame %q", r.LeaseState, r.FrameLease)
	}
	return ""
}
