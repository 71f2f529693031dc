// Package split has several workers render one frame, each a strip of its rows.
//
// A worker that claims a frame that takes long may get a strip of it instead, if others are
// idle that render the others. The service holds the frame's lease meanwhile, so the frame
// counts as rendered by one worker: in its job's turn, in estimates and in the audit. Strips
// are leases of their own. When all are in and agree at each cut, the lease of the frame goes
// to a worker that finishes the frame from them, and delivers it as any other.
//
// What always holds: the rows of a strip never change; a strip counts for the worker that
// holds its lease; strips are rendered by workers of one class only, and of the kind that
// their job stays with; a frame is finished only if both strips at each cut show the same
// two rows there, GPUs but for their noise. Whatever goes wrong more often than a strip may fail, the frame is rendered
// whole. No strip ends a job or costs a frame an attempt. Strips come before waiting frames,
// since their job was charged for their frame when it was cut; a frame is cut for workers only
// that would be idle. A transaction locks the job's row before leases, the frame's lease
// before those of strips, and turns and workers last, as in package frames.
//
// The package owns the table strip. It leaves to render/strips where to cut, to frames the
// frame itself, to door/farm the HTTP. Start reading at Cuts.Cut, then claim.go, deliver.go and
// agree.go; tend.go gives up cuts that nobody continues.
package split

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// holder holds the lease of a frame while workers render its strips.
const holder = dispatch.ServiceHolder

// UsualAbove is how long a frame must take on one worker to be cut, if the operator sets
// nothing else. What a shorter frame gains is lost again in loading and joining.
const UsualAbove = 2 * time.Minute

// Cuts cuts frames and carries out workers' reports about strips. The fields are set once,
// before the first call; all methods are safe for concurrent use, also by several processes
// over one database. A nil Cuts never cuts.
type Cuts struct {
	DB      *db.DB
	Blobs   blob.Store
	Workers *dispatch.Workers
	// Above is how long a frame must take to be cut; 0 cuts none.
	Above time.Duration
	// LeaseLife is how long a worker keeps a strip without a heartbeat, FrameTime how long
	// it may take for one.
	LeaseLife, FrameTime time.Duration
	// Hold reserves memory for looking at a strip; nil does not.
	Hold func(ctx context.Context, bytes int64) (done func(), err error)
	Log  *slog.Logger
}

// Bounds on cuts.
const (
	// mostParts is how many strips a frame has at most: more gain little (docs/stills.md).
	mostParts = 8
	// itemsPerFrame is how many numbers of the queue a frame has.
	itemsPerFrame = 16
	// mostFailures is how often a strip may fail before its frame is rendered whole.
	mostFailures = 3
	// mostAttempts is how often a strip is tried, whatever became of it.
	mostAttempts = 6
	// mostBytes bounds the strips that a workspace has stored at a time. A frame beyond it is
	// rendered whole.
	mostBytes = 32 << 30
	// mostStripBytes bounds one strip.
	mostStripBytes = 2 << 30
)

// Work is what a worker got: a strip of a frame, or all strips of one to finish.
type Work struct {
	Job    job.Record
	Scene  string      // the name of the scene that was priced
	Lease  lease.Lease // of the strip, or of the frame
	Frame  int
	Strip  *Strip  // nil for one that finishes
	Finish []Strip // from the top; nil for one that renders
}

// Strip is a part of a frame.
type Strip struct {
	Part, Parts int         // from the top, from 0
	Rows        strips.Rows // of the frame that come from it
	Overlap     int         // rows that it shows of each neighbour
	Height      int         // of the frame
	GPU         bool        // GPUs render it

	// Of a strip that is in:
	SHA256       string
	SizeBytes    int64
	Above, Below string // the seam at each cut (strips.Strip.Seam); "" where there is none
}

// Shown are the rows that a strip shows, those of its neighbours included.
func (s Strip) Shown() strips.Rows { return s.Rows.Wider(s.Overlap, s.Height) }

func stripOf(r query.Strip) Strip {
	return Strip{
		Part: int(r.Part), Parts: int(r.Parts), Rows: strips.Rows{From: int(r.RowFrom), To: int(r.RowTo)}, Overlap: int(r.Overlap), Height: int(r.Height), GPU: dispatch.OnGPU(r.Class),
		SHA256: r.Sha256, SizeBytes: r.SizeBytes, Above: r.SeamAbove, Below: r.SeamBelow,
	}
}

// Owns reports whether a lease that a worker names is one of a strip.
func Owns(leaseID string) bool { return strings.HasPrefix(leaseID, dispatch.StripQueue+":") }

// LeaseID is the id of the lease of a strip.
func LeaseID(jobID string, frame, part int) string {
	return lease.ID(dispatch.StripQueue, jobID, itemOf(int64(frame), int64(part)))
}

// itemOf is the number of a strip in the queue; the queries compute the same.
func itemOf(frame, part int64) int64 { return frame*itemsPerFrame + part }

// placeOf is the strip of a number in the queue.
func placeOf(item int64) (frame, part int64) {
	part = (item%itemsPerFrame + itemsPerFrame) % itemsPerFrame
	return (item - part) / itemsPerFrame, part
}

// parse reads the id of a strip's lease, which comes from a worker.
func parse(leaseID string) (jobID string, item int64, ok bool) {
	parts := strings.Split(leaseID, ":")
	if len(parts) != 3 || parts[0] != dispatch.StripQueue {
		return "", 0, false
	}
	item, err := strconv.ParseInt(parts[2], 10, 64)
	return parts[1], item, err == nil
}

// IsOf reports whether the lease that a worker names is one of a strip of a frame.
func IsOf(leaseID, jobID string, frame int) bool {
	of, item, ok := parse(leaseID)
	at, _ := placeOf(item)
	return ok && of == jobID && at == int64(frame) && leaseID == lease.ID(dispatch.StripQueue, jobID, item)
}

func frameLease(jobID string, frame int64) string {
	return lease.ID(dispatch.FrameQueue, jobID, frame)
}

// rowsOf reads the strips of a frame, from the top; none of one that is whole.
func rowsOf(ctx context.Context, tx *db.Tx, jobID string, frame int64) ([]query.Strip, error) {
	rows, err := tx.StripsOf(ctx, query.StripsOfParams{JobID: jobID, Frame: frame})
	if err != nil {
		return nil, fmt.Errorf("read strips: %w", err)
	}
	return rows, nil
}

// complete reports whether all strips of a frame are in.
func complete(rows []query.Strip) bool {
	for _, r := range rows {
		if r.DeliveredAt == 0 {
			return false
		}
	}
	return len(rows) > 0
}

// avoiding adds workers to those that get a strip no more.
func avoiding(avoid string, workers ...string) string {
	all := strings.Fields(avoid)
	for _, w := range workers {
		if w != "" && !strings.Contains(" "+strings.Join(all, " ")+" ", " "+w+" ") {
			all = append(all, w)
		}
	}
	return strings.Join(all, " ")
}

// leaseLost is the one answer to a report that comes too late, for any reason.
func leaseLost(leaseID string) error {
	return fault.New(fault.LeaseLost, "The lease %s no longer belongs to this worker.", leaseID)
}
