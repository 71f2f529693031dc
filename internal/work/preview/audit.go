package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/id"
)

// clockSlack is how far times may run against each other: the machine's clock may be set
// back. An hour, in microseconds.
const clockSlack = 3_600_000_000

// Audit reads every preview, page by page, and reports those that differ from their
// upload, their lease or their own status. An error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	for after := ""; ; {
		rows, err := tx.AuditPreviews(ctx, after)
		if err != nil {
			return fmt.Errorf("audit previews: %w", err)
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			previewRows.Check(r.Preview, breach)
			if why := strange(r, tx.Now); why != "" {
				breach("a preview is what was ordered", r.Preview.PreviewID, "%s", why)
			}
			if why := strangeState(r); why != "" {
				breach("a preview's lease and picture follow from its status", r.Preview.PreviewID, "%s: %s", r.Preview.Status, why)
			}
		}
		after = rows[len(rows)-1].Preview.PreviewID
	}
	orphans, err := tx.AuditPreviewLeases(ctx)
	if err != nil {
		return fmt.Errorf("audit the leases of previews: %w", err)
	}
	for _, leaseID := range orphans {
		breach("a preview's lease and picture follow from its status", leaseID, "there is no such preview")
	}
	return nil
}

// strange says how a preview contradicts what Order makes, or a worker ends; "" if it
// does not.
func strange(r query.AuditPreviewsRow, now int64) string {
	p := r.Preview
	switch {
	case !id.Valid(id.Preview, p.PreviewID) || r.Owner == "" || r.Owner != p.WorkspaceID:
		return fmt.Sprintf("it belongs to %q, its upload to %q", p.WorkspaceID, r.Owner)
	case p.Frame < contract.MinFrames || p.Frame > contract.MaxFrameNumber || p.Ordinal < 1:
		return fmt.Sprintf("it is number %d, of frame %d", p.Ordinal, p.Frame)
	case p.CreatedAt < r.UploadedAt-clockSlack || p.CreatedAt > now+clockSlack || p.ClaimedAt < p.BegunAt-clockSlack,
		p.BegunAt != 0 && p.BegunAt < p.CreatedAt-clockSlack, p.EndedAt != 0 && p.EndedAt < max(p.CreatedAt, p.ClaimedAt)-clockSlack, (p.BegunAt == 0) != (p.ClaimedAt == 0):
		return fmt.Sprintf("it is of %d, begun at %d, claimed at %d, ended at %d; its upload is of %d", p.CreatedAt, p.BegunAt, p.ClaimedAt, p.EndedAt, r.UploadedAt)
	case p.RenderUs < 0 || (p.RenderUs > 0) != (p.FrameUs > 0) || p.FrameLowUs > p.FrameUs || p.FrameUs > p.FrameHighUs || p.FrameLowUs < 0,
		(p.RenderUs > 0) != (p.FrameLowUs > 0):
		return fmt.Sprintf("it took %d microseconds, a frame %d, %d to %d", p.RenderUs, p.FrameUs, p.FrameLowUs, p.FrameHighUs)
	case p.WorkerID != "" && !id.Valid(id.Node, p.WorkerID), (p.RenderUs > 0) != (p.Device != ""), p.Device != "" && p.Device != "GPU" && p.Device != "CPU":
		return fmt.Sprintf("worker %q rendered it on %q", p.WorkerID, p.Device)
	case r.RemovedAt != 0 && !slices.Contains([]Status{Failed, Expired}, Status(p.Status)):
		return fmt.Sprintf("it is %s, and its upload is removed", p.Status)
	}
	return ""
}

// strangeState says what contradicts a preview's status; "" for nothing.
func strangeState(r query.AuditPreviewsRow) string {
	p := r.Preview
	lease := map[Status]string{Queued: "waiting", Rendering: "held", Ready: "", Failed: "", Expired: ""}
	want, known := lease[Status(p.Status)]
	ended := known && want == ""
	shown := Status(p.Status) == Ready
	switch {
	case !known:
		return "there is no such status"
	case r.LeaseState != want || (want == "held" && r.LeaseHolder != p.WorkerID):
		return fmt.Sprintf("its lease is %q of %q, its worker %q", r.LeaseState, r.LeaseHolder, p.WorkerID)
	case ended != (p.EndedAt != 0):
		return fmt.Sprintf("it ended at %d", p.EndedAt)
	case shown != (p.BlobKey != ""), shown != digest.Is(p.Sha256), !shown && p.Sha256 != "", shown != (p.SizeBytes > 0), p.SizeBytes < 0,
		shown != (p.Width > 0), shown != (p.Height > 0), min(p.Width, p.Height) < 0, max(p.Width, p.Height) > contract.PreviewSide:
		return fmt.Sprintf("its picture is %q with the hash %q, %d bytes, %dx%d", p.BlobKey, p.Sha256, p.SizeBytes, p.Width, p.Height)
	case shown && !strings.HasPrefix(p.BlobKey, "previews/"+p.PreviewID+"/"), shown && p.RenderUs == 0:
		return fmt.Sprintf("its picture is %q, and took %d microseconds", p.BlobKey, p.RenderUs)
	case (Status(p.Status) == Failed) != (p.FaultCode != ""), (p.FaultCode == "") != (p.FaultText == ""):
		return fmt.Sprintf("its failure is %q: %q", p.FaultCode, p.FaultText)
	}
	return ""
}
