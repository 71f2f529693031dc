package app

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	"svc.example/internal/ground/outbound"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// openWebhooks makes the webhooks of this process.
func (a *App) openWebhooks() *webhook.Hooks {
	c := webhook.Config{
		DB: a.DB, LockWorkspace: identity.LockWorkspace, Keys: a.sealed, Guard: outbound.New(a.Config.Webhooks),
		Random: rand.Reader, Jitter: mathrand.Float64, Life: a.Config.WebhookLife, LeaseLife: a.Config.LeaseLife, Followers: a.Config.Watchers, Attempted: a.metrics.WebhookAttempt, TestMode: a.test, Log: a.Config.Log,
	}
	if public := a.Config.PublicURL; public != "" && !a.test {
		c.JobPage = func(jobID string) string { return public + "/console/jobs/" + jobID }
	}
	if a.test {
		c.SignedAt = func(time.Time) time.Time { return time.Now() } // receivers have no moved clock
	}
	return webhook.New(c)
}

// warnOfWebhooks logs a loud warning when webhooks may call addresses that are
// not public. That setting is for tests; with callers from outside it would
// open the private network to them.
func (a *App) warnOfWebhooks() {
	if len(a.Config.Webhooks.Allow) == 0 && a.Config.Webhooks.Roots == nil {
		return
	}
	a.Config.Log.Warn("WEBHOOKS MAY CALL ADDRESSES THAT ARE NOT PUBLIC, or trust authorities of your own: for tests only, never with strangers' keys",
		"allowed", a.Config.Webhooks.Allow, "own_authorities", a.Config.Webhooks.Roots != nil)
}

// notices returns the sender of mails to owners whose endpoint was disabled.
// Without a mail server it logs whom the operator should tell.
func (a *App) notices() webhook.Notices {
	n := webhook.Notices{DB: a.DB, Log: a.Config.Log}
	if a.Config.Mail != nil {
		n.Send = a.Config.Mail.Send
	}
	return n
}
