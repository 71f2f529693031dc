package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/buildoption"
)

// Forecast is the queue and the workers at one moment. It predicts what Next will choose:
// claims follow each other by queue position, and each is charged the mean time of its
// job's accepted frames, or assumedFrameTime if there are none. It cannot predict how
// long frames really take, whose file a worker has open, and what arrives.
//
// A Forecast does not change and may be shared.
type Forecast struct {
	// Online counts the workers that are neither offline nor suspended, and Idle those of
	// them that hold no frame.
	Online, Idle int64
	// Unable counts the online workers that cannot work; it is read only while none can.
	Unable int64

	at      int64 // microseconds since 1970
	workers able
	queues  map[string]workspaceQueue // of the jobs that an online worker may take, or of all while none is online
	starts  []firstClaim              // of those with no frame claimed yet, the next one first
	place   map[string]int            // of each job with no frame claimed yet, 1 = next; those that no worker may take come last
}

// workspaceQueue is a workspace's jobs with waiting frames that are not paused.
type workspaceQueue struct {
	served int64 // microseconds that the workspace received
	most   int64 // how many of its frames may be rendered at once; 0 for any number
	held   int64 // of one with such a limit: the frames that are
	jobs   []queuedJob
}

// queuedJob is a job with waiting frames.
type queuedJob struct {
	jobID   string
	served  int64 // microseconds that the job received, against its rivals in the queue
	waiting int64 // frames
	charge  int64 // microseconds that a claim of one frame costs, 1 or more
	queued  bool  // none of its frames was ever claimed

	priority int64

	measured bool // charge is the mean of frames that are in
}

// firstClaim is when the first frame of a job is claimed: when its workspace has received
// so much time.
type firstClaim struct {
	full      bool  // its workspace has all the frames in workers' hands that it may have: others come first
	served    int64 // microseconds
	workspace string
	jobID     string
}

// full reports that a workspace has all the frames in workers' hands that it may have.
func (l workspaceQueue) full() bool { return l.most > 0 && l.held >= l.most }

// compareClaims orders claims as Next does: the least served workspace first, and of two
// alike the one with the lower id; those that may have no more frames come last.
func compareClaims(a, b firstClaim) int {
	if a.full != b.full {
		if a.full {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.served, b.served), cmp.Compare(a.workspace, b.workspace))
}

// ReadForecast reads the queue. Its cost grows with the number of jobs that wait: about
// 20 ms for 10,000.
func ReadForecast(ctx context.Context, tx *db.Tx) (*Forecast, error) {
	workers, err := tx.WorkersIdle(ctx, query.WorkersIdleParams{Since: onlineSince(tx), Now: tx.Now})
	if err != nil {
		return nil, fmt.Errorf("count workers: %w", err)
	}
	rows, err := tx.TurnsWaiting(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the turns: %w", err)
	}
	o := &Forecast{at: tx.Now, workers: workers, queues: map[string]workspaceQueue{}, place: map[string]int{}}
	for _, r := range workers {
		o.Online, o.Idle = o.Online+r.Online, o.Idle+r.Idle
	}
	if o.Online == 0 {
		if o.Unable, err = tx.WorkersUnable(ctx, query.WorkersUnableParams{Since: onlineSince(tx), Drained: drained}); err != nil {
			return nil, fmt.Errorf("count workers: %w", err)
		}
	}
	held, err := heldOfLimited(ctx, tx)
	if err != nil {
		return nil, err
	}
	var stranded []string
	for _, r := range rows {
		if o.Online > 0 && o.Able(Asks{buildoption.Set(r.Needs), r.Kind, r.Pools}).Workers == 0 {
			if r.Status == "queued" {
				stranded = append(stranded, r.Party)
			}
			continue
		}
		l := o.queues[r.Within]
		l.served, l.most, l.held = r.WorkspaceServedUs, r.MostHeld, held[r.Within]
		l.jobs = append(l.jobs, queuedJob{
			jobID: r.Party, priority: r.Priority, served: r.ServedUs, waiting: r.Waiting, queued: r.Status == "queued", measured: r.FramesCompleted > 0,
			charge: max(1, meanFrameTime(Job{FramesCompleted: r.FramesCompleted, RenderUs: r.RenderUs})),
		})
		o.queues[r.Within] = l
	}
	o.foresee()
	for i, jobID := range stranded {
		o.place[jobID] = len(o.starts) + i + 1
	}
	return o, nil
}

// Asks is what a job asks of workers.
type Asks struct {
	Needs buildoption.Set // what their Blenders must be built with
	Kind  string          // the kind that it stays with; "" is none
	Pools int64           // those that its workspace requires; 0 for no tags
}

// Able counts the online workers that have all that a job asks.
func (o *Forecast) Able(a Asks) Capable { return o.workers.of(a) }

// able is the online workers, by kind, by pools and by what their Blenders were built without.
type able []query.WorkersIdleRow

// of counts the workers that have all that a job asks. TurnOpen applies the same rule to one
// worker.
func (a able) of(asks Asks) (c Capable) {
	pools := cmp.Or(asks.Pools, openPool)
	if asks.Pools == AnyPool {
		pools = 0
	}
	for _, r := range a {
		if buildoption.Set(r.Lacks)&asks.Needs == 0 && pools&r.Pools == pools && (asks.Kind == "" || asks.Kind == anyKind || asks.Kind == r.Kind) {
			c.Workers, c.Idle = c.Workers+r.Online, c.Idle+r.Idle
		}
	}
	return c
}

// foresee orders the first claims of all queued jobs.
func (o *Forecast) foresee() {
	for workspace, l := range o.queues {
		for _, c := range l.firstClaims() {
			c.workspace, c.full = workspace, l.full()
			o.starts = append(o.starts, c)
		}
	}
	slices.SortFunc(o.starts, compareClaims)
	for i, c := range o.starts {
		o.place[c.jobID] = i + 1
	}
}

// firstClaims lists the first claims of a queue's waiting jobs, which come by priority.
// Newcomers start level, so nearly all have received the same: such jobs follow each other.
func (l workspaceQueue) firstClaims() (claims []firstClaim) {
	for i, j := range l.jobs {
		if !j.queued {
			continue
		}
		at := int64(0)
		if before := i - 1; before >= 0 && l.jobs[before].queued && l.jobs[before].served == j.served && l.jobs[before].priority == j.priority {
			at = claims[len(claims)-1].served + l.jobs[before].charge
		} else {
			at = l.before(j.priority, j.served, j.jobID)
		}
		claims = append(claims, firstClaim{served: at, jobID: j.jobID})
	}
	return claims
}

// before is what the workspace has received when a job of a priority that itself received
// served is next in it: every job of a higher priority claims all its frames, and every one of
// the same priority that has received less claims frames until it is level.
func (l workspaceQueue) before(priority, served int64, jobID string) int64 {
	at := l.served
	for _, j := range l.jobs {
		if j.priority > priority {
			at += j.waiting * j.charge
			continue
		}
		behind := served - j.served
		if behind < 0 || j.jobID == jobID || j.priority < priority {
			continue
		}
		claims := (behind + j.charge - 1) / j.charge
		if behind%j.charge == 0 && j.jobID < jobID {
			claims++
		}
		at += min(claims, j.waiting) * j.charge
	}
	return at
}

// Position is the place of a queued job among all queued jobs, in the order in which
// workers will claim their first frames; 1 is next. served and workspaceServed come
// from its queue positions; they place a job that was queued, or resumed, after the forecast
// was read.
func (o *Forecast) Position(jobID, workspace string, priority, served, workspaceServed int64) int {
	if place, known := o.place[jobID]; known {
		return place
	}
	l, known := o.queues[workspace]
	if !known {
		l.served = workspaceServed
	}
	before, _ := slices.BinarySearchFunc(o.starts, firstClaim{served: l.before(priority, served, jobID), workspace: workspace, full: l.full()}, compareClaims)
	return before + 1
}

// Wait says why no worker renders any of a job's frames.
type Wait int

// Reasons to wait.
const (
	WaitIsOver     Wait = iota // an idle worker may take a frame: it will with its next request
	WaitForAny                 // no worker is online
	WaitForAble                // all that are online say that they cannot work
	WaitForCapable             // some are online, and none may take any of the job's frames
	WaitForIdle                // all workers that may take one render other frames
	WaitForLimit               // its workspace has as many frames in workers' hands as it may have
)

// Capable counts the online workers that may take a waiting frame of a job, and those of
// them that hold no frame.
type Capable struct{ Workers, Idle int64 }

// WaitOf says why a job waits that has waiting frames and none in progress. If no attempt
// of a job failed and no picture is to be confirmed, all workers whose Blenders have what
// it needs may take its frames: capable is what Able counts. FindCapable judges other
// jobs. workspace is the job's; "" where its limit does not count.
func (o *Forecast) WaitOf(workspace string, capable Capable) Wait {
	switch {
	case o.Online == 0 && o.Unable > 0:
		return WaitForAble
	case o.Online == 0:
		return WaitForAny
	case capable.Workers == 0:
		return WaitForCapable
	case o.queues[workspace].full():
		return WaitForLimit
	case capable.Idle == 0:
		return WaitForIdle
	}
	return WaitIsOver
}

// FindCapable counts the workers that Next would give a waiting frame of a job, if no
// other job had any, for the rendering jobs of a workspace with ids from oldest to newest.
func FindCapable(ctx context.Context, tx *db.Tx, workspaceID, oldest, newest string) (map[string]Capable, error) {
	rows, err := tx.WorkersFor(ctx, query.WorkersForParams{WorkspaceID: workspaceID, Oldest: oldest, Newest: newest, Since: onlineSince(tx), Now: tx.Now})
	if err != nil {
		return nil, fmt.Errorf("find workers for jobs: %w", err)
	}
	found := map[string]Capable{}
	for _, r := range rows {
		found[r.JobID] = Capable{Workers: r.Able, Idle: r.Idle}
	}
	return found, nil
}

// Forecasts keeps the last forecast for all callers within Life. The zero value and nil
// read it again each time.
type Forecasts struct {
	Life time.Duration

	last    atomic.Pointer[Forecast]
	took    atomic.Int64 // nanoseconds that its read took
	reading sync.Mutex
}

// longestShare bounds the share of time in which forecasts are read: a long queue is read
// less often.
const longestShare = 20

// Now returns a forecast that is at most Life old, or longestShare times as old as its
// read takes. No caller waits for another's read: it gets the last one instead.
func (o *Forecasts) Now(ctx context.Context, tx *db.Tx) (*Forecast, error) {
	return o.Since(ctx, tx, 0)
}

// Since is Now for a caller that needs a forecast no older than a moment, in microseconds
// since 1970. The moment must not move, so that this costs at most one more read.
func (o *Forecasts) Since(ctx context.Context, tx *db.Tx, moment int64) (*Forecast, error) {
	if o == nil || o.Life == 0 {
		return ReadForecast(ctx, tx)
	}
	last := o.last.Load()
	if last != nil && last.at < moment {
		last = nil
	}
	if last != nil && tx.Now-last.at < max(o.Life, longestShare*time.Duration(o.took.Load())).Microseconds() {
		return last, nil
	}
	if !o.reading.TryLock() {
		if last != nil {
			return last, nil
		}
		return ReadForecast(ctx, tx)
	}
	defer o.reading.Unlock()
	begun := time.Now()
	next, err := ReadForecast(ctx, tx)
	if err != nil {
		return nil, err
	}
	o.took.Store(int64(time.Since(begun)))
	o.last.Store(next)
	return next, nil
}
