package dispatch

import (
	"math"
	"time"
)

// FrameTime is how long frames took to render: their mean, the shortest and the longest.
type FrameTime struct{ Mean, Low, High time.Duration }

// Finish estimates the seconds until the last frame of a job that has left frames to
// render, if each takes the given time. It assumes that all workers whose Blenders have
// what the scene needs, of the job's kind, share their time as Next does, until the job has what it needs. By
// then each of the workspace's jobs has received as much, or needs less, and so has each
// workspace. A workspace with a limit has no more workers than that at once. The range runs from the best case, where competing jobs of unknown length
// need nothing, to the worst, where they always use their full share. ok is false while
// no such worker is online.
func (o *Forecast) Finish(jobID, workspace string, asks Asks, left float64, each FrameTime) (seconds float64, span ETARange, ok bool) {
	with := func(each time.Duration) work {
		// However many workers there are, a single one renders the last frame.
		return work{all: left * each.Seconds(), last: min(1, left) * each.Seconds()}
	}
	return o.finish(jobID, workspace, o.Able(asks).Workers, with(each.Mean), with(each.Low), with(each.High))
}

// finish is Finish for a job with so much work, at least and at most, that shares so many
// workers with the others.
func (o *Forecast) finish(jobID, workspace string, workers int64, mean, low, high work) (seconds float64, span ETARange, ok bool) {
	if workers == 0 {
		return 0, span, false
	}
	until := func(own work, unknown func(queuedJob) float64) float64 {
		all, ours := o.sharedWork(jobID, workspace, own.all, unknown)
		together := max(all/float64(workers), own.last)
		if most := o.queues[workspace].most; most > 0 {
			together = max(together, ours/float64(min(workers, most)))
		}
		return together
	}
	seconds = until(mean, queuedJob.work)
	span.LowSeconds = until(low, func(queuedJob) float64 { return 0 })
	span.HighSeconds = until(high, func(queuedJob) float64 { return math.Inf(1) })
	return seconds, span, true
}

// priorityOf is the priority of a job; the default of one that came after the forecast.
func (o *Forecast) priorityOf(jobID, workspace string) int64 {
	for _, t := range o.queues[workspace].jobs {
		if t.jobID == jobID {
			return t.priority
		}
	}
	return DefaultPriority
}

// work is what a job's waiting frames will take, in seconds.
func (t queuedJob) work() float64 { return float64(t.waiting*t.charge) / 1e6 }

// sharedWork is what all workers together will have worked when a job has received own,
// in seconds, and how much of that for its workspace. Jobs of its workspace with a higher priority receive all that they need first, and
// those with a lower one nothing. unknown is what a job needs of which no frame is in.
func (o *Forecast) sharedWork(jobID, workspace string, own float64, unknown func(queuedJob) float64) (all, ours float64) {
	need := func(t queuedJob) float64 {
		if t.measured {
			return t.work()
		}
		return unknown(t)
	}
	priority := o.priorityOf(jobID, workspace)
	ours = own
	for _, t := range o.queues[workspace].jobs {
		switch {
		case t.jobID == jobID || t.priority < priority:
		case t.priority > priority:
			ours += need(t)
		default:
			ours += min(own, need(t))
		}
	}
	all = ours
	for other, l := range o.queues {
		if other == workspace {
			continue
		}
		sum := 0.0
		for _, t := range l.jobs {
			sum += need(t)
		}
		all += min(ours, sum)
	}
	return all, ours
}
