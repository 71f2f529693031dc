package app

import (
	"context"

	"svc.example/internal/ground/links"
	"svc.example/internal/ground/osfile"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/process"
)

// trouble tells operators what is wrong.
func (a *App) trouble(at links.Links) *operators.Watch {
	w := &operators.Watch{
		Config: a.Config.Alerts, DB: a.DB, Keys: a.Keys, Host: process.Host(), Page: at.PublicURL,
		Free: func() (int64, error) { return osfile.Free(a.Config.Data) },
		Files: func() error {
			_, files := a.probe.check()
			return files
		},
	}
	if a.Config.Mail != nil {
		w.Send = a.Config.Mail.SendMessage
	}
	return w
}

// lookForTrouble returns the loop that looks what is wrong. While the database is away it says
// nothing: that is told elsewhere.
func (a *App) lookForTrouble(at links.Links) func(context.Context) {
	w := a.trouble(at)
	return func(ctx context.Context) {
		for failing := false; pause(ctx, operators.Every); {
			err := w.Look(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				a.Config.Log.Warn("cannot look for trouble to tell operators of", "err", err)
			}
			failing = err != nil
		}
	}
}
