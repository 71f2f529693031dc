package app

import (
	"time"

	"svc.example/internal/ground/lease"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/webhook"
)

const (
	// longestPause bounds the pause between attempts of work that a caller
	// waits for.
	longestPause = time.Minute
	// patience is how many failures make a dead letter. Of work with pauses up
	// to an hour that is about eight hours: by then a full disk has been
	// noticed, and a host is up again.
	patience = 20
)

// queues returns how each queue of the service treats its work, by name. Every
// queue must be here: the reaper takes back lapsed leases of these queues only.
func (a *App) queues(p parts) map[string]lease.Queue {
	all := []lease.Queue{
		p.frames.Queue(),
		p.cuts.Leases(),
		p.previews.Leases(),
		p.movies.Leases(),
		p.board.ReferenceLeases(),
		p.rechecks.Leases(),
		artifact.Queue(),
		lease.Queue{Name: lease.ExpireQueue, LongestPause: time.Hour, MaxFailures: patience},
		lease.Queue{Name: intake.FetchQueue, LongestPause: longestPause, MaxFailures: patience},
		lease.Queue{Name: identity.LinkQueue, LongestPause: longestPause, MaxFailures: identity.MaxDeliveries},
		lease.Queue{Name: identity.InvitationQueue, LongestPause: longestPause, MaxFailures: patience},
		lease.Queue{Name: webhook.Queue, LongestPause: longestPause, MaxFailures: patience},
		lease.Queue{Name: alert.NoticeQueue, LongestPause: longestPause, MaxFailures: alert.MaxNotices},
		lease.Queue{Name: notice.Queue, LongestPause: longestPause, MaxFailures: notice.MaxTries},
		lease.Queue{Name: operators.Queue, LongestPause: longestPause, MaxFailures: operators.MaxTries},
		lease.Queue{Name: webhook.NoticeQueue, LongestPause: longestPause, MaxFailures: webhook.MaxNotices},
	}
	byName := map[string]lease.Queue{}
	for _, q := range all {
		q.Life = a.Config.LeaseLife
		byName[q.Name] = q
	}
	return byName
}
