package app

import (
	"time"

	"svc.example/internal/ground/lease"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/webhook"
)

const (
	// longestPause is the pause of work that somebody waits for.
	longestPause = time.Minute
	// patience is how often other work is tried: with pauses up to an hour, for
	// about eight hours. A disk that is full or a host that is down is back by then.
	patience = 20
)

// queues says how the work of each queue is treated, by name.
func (a *App) queues(p parts) map[string]lease.Queue {
	all := []lease.Queue{
		p.frames.Queue(),
		artifact.Queue(),
		lease.Queue{Name: lease.ExpireQueue, LongestPause: time.Hour, MaxFailures: patience},
		lease.Queue{Name: intake.FetchQueue, LongestPause: longestPause, MaxFailures: patience},
		lease.Queue{Name: identity.LinkQueue, LongestPause: longestPause, MaxFailures: identity.MaxDeliveries},
		lease.Queue{Name: webhook.Queue, LongestPause: longestPause, MaxFailures: patience},
		lease.Queue{Name: webhook.NoticeQueue, LongestPause: longestPause, MaxFailures: webhook.MaxNotices},
	}
	byName := map[string]lease.Queue{}
	for _, q := range all {
		q.Life = a.Config.LeaseLife
		byName[q.Name] = q
	}
	return byName
}
