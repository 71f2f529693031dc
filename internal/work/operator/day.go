package operator

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
)

// Hour is what the service did in an hour.
type Hour struct {
	Begins time.Time
	// Unfinished are the jobs that were in the queue or rendered at its end: now, in the last one.
	Unfinished int64
	// Frames were delivered by so many Workers.
	Frames, Workers int64
	ChargedCents    int64
}

// dayHours is how many hours LastDay reads.
const dayHours = 24

// skew is how far the clocks of this service's processes may differ, for a bound of ids.
const skew = time.Hour

// LastDay gives the last 24 hours, the oldest first. The last one is that of now.
func LastDay(ctx context.Context, tx *db.Tx) ([]Hour, error) {
	const micros = int64(time.Hour / time.Microsecond)
	first := tx.Now/micros - dayHours + 1
	hours := make([]Hour, dayHours)
	for i := range hours {
		hours[i].Begins = db.Time((first + int64(i)) * micros)
	}
	since, firstID := first*micros, id.Since(id.Transaction, hours[0].Begins.Add(-skew))
	frames, err := tx.FramesByHour(ctx, since)
	if err != nil {
		return nil, fmt.Errorf("count the frames of the day: %w", err)
	}
	charges, err := tx.ChargesByHour(ctx, query.ChargesByHourParams{First: firstID, Since: since})
	if err != nil {
		return nil, fmt.Errorf("add up the charges of the day: %w", err)
	}
	spans, err := tx.JobSpans(ctx, query.JobSpansParams{First: firstID, Since: since})
	if err != nil {
		return nil, fmt.Errorf("read the jobs of the day: %w", err)
	}
	at := func(hour int64) *Hour { return &hours[max(0, min(dayHours-1, hour-first))] } // a clock may be ahead
	for _, f := range frames {
		at(f.Hour).Frames, at(f.Hour).Workers = f.Frames, f.Workers
	}
	for _, c := range charges {
		at(c.Hour).ChargedCents += c.Cents
	}
	for _, span := range spans {
		for i := range hours {
			if hour := first + int64(i); span.Began <= hour && (span.Ended == 0 || span.Ended > hour) {
				hours[i].Unfinished += span.Jobs
			}
		}
	}
	return hours, nil
}
