package app

import "context"

// CallPublicURL is one look of the self-check, without its pauses.
func (a *App) CallPublicURL(ctx context.Context, public string) error {
	return a.callPublicURL(ctx, public)
}

// TendTestWorlds is one round over the test worlds, without the pause before
// it.
func (a *App) TendTestWorlds(ctx context.Context) error { return a.worlds.tendOnce(ctx) }
