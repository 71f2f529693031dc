// Package preview shows one frame of an upload before its price is accepted: small,
// coarse, and free.
//
// What always holds: a preview is not a job; it moves no money and has no receipt, no
// webhook and no queue position. A worker gets one only when no frame waits for it, holds
// one at a time, and abandons it when a frame comes. Limits bound the previews for each
// upload and each day, in all processes together; a preview that no worker has begun does
// not count. Repeating an order while its preview is in progress or done returns that one.
// A picture is on disk before its row names it, and is removed after
// contract.PreviewRetention, or with its upload. A transaction locks the workspace's row
// before the upload's, that before the previews', and leases last.
//
// The package owns the table preview. Package dispatch chooses frames, project has the
// files, framecheck judges pictures, and the doors speak HTTP. Start reading at
// Previews.Order, then claim.go and accept.go; estimate.go estimates what a frame takes.
package preview

import (
	"log/slog"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/dispatch"
)

// Queue is the lease engine's queue of previews: the subject is the preview's id, the item
// the frame's number.
const Queue = "preview"

// ExpirePreview is what this package removes at its time: the subjects of
// lease.ExpireQueue are this, a slash and the preview's id.
const ExpirePreview = "preview"

// Status of a preview.
type Status string

// Statuses. queued and rendering alternate until one of the others ends them; only ready
// changes once more, to expired.
const (
	Queued    Status = "queued"
	Rendering Status = "rendering"
	Ready     Status = "ready"
	Failed    Status = "failed"
	Expired   Status = "expired" // no worker had time, or the picture or the upload is gone
)

// Limits bound the free previews of a workspace.
type Limits struct {
	Upload int // previews of an upload
	Day    int // previews of a workspace within 24 hours
}

// Off reports that there are no previews.
func (l Limits) Off() bool { return l.Upload < 1 || l.Day < 1 }

// Previews orders previews and carries out workers' reports on them. The fields are set
// once, before the first call; all methods are safe for concurrent use, also by several
// processes over one database.
type Previews struct {
	DB        *db.DB
	Blobs     blob.Store
	Whole     *blob.Whole // what of Blobs was hashed, one for the process
	Links     links.Links
	Limits    Limits
	Forecasts *dispatch.Forecasts // the queue that estimates rest on
	LeaseLife time.Duration       // how long a worker keeps a preview without a heartbeat
	Log       *slog.Logger        // failed previews and refused pictures
}

const (
	// longestHold bounds the time from a claim to its report, despite heartbeats: it
	// includes fetching the files, and then contract.PreviewTime for rendering.
	longestHold = 10 * time.Minute
	// day is the time within which Limits.Day counts.
	day = 24 * time.Hour
)

// Owns reports whether a lease that a worker names is one of a preview.
func Owns(leaseID string) bool { return strings.HasPrefix(leaseID, Queue+":") }

// Of is the preview of a lease that a worker names, "" for an id of another form.
func Of(leaseID string) string {
	parts := strings.Split(leaseID, ":")
	if len(parts) != 3 || parts[0] != Queue {
		return ""
	}
	return parts[1]
}

// LeaseID is the id of the lease of a preview.
func LeaseID(previewID string, frame int) string { return lease.ID(Queue, previewID, int64(frame)) }
