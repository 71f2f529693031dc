package job

import (
	"time"

	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/dispatch"
)

// PositionOf lets the external tests of this package see the bound of queue_position: a
// queue of 1000 jobs is slow to build.
var PositionOf = positionOf

// EstimateOf is the estimate that a view shows of a job with these last frames, newest
// first, and one worker or more online.
func EstimateOf(record Record, held int64, begun float64, at []time.Time, took []time.Duration, now time.Time) Object {
	around := surroundings{forecast: &dispatch.Forecast{Online: 1}, accepted: map[string][]acceptedFrame{}}
	for i := range at {
		around.accepted[record.JobID] = append(around.accepted[record.JobID], acceptedFrame{at: at[i], took: took[i]})
	}
	o := shown(record)
	around.estimate(query.JobViewsRow{Job: record, Held: held, Progress: int64(1000 * begun)}, now, &o)
	return o
}
