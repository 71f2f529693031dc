package app

import "context"

// CallPublicURL is one look of the self-check, without its pauses.
func (a *App) CallPublicURL(ctx context.Context, public string) error {
	return a.callPublicURL(ctx, public)
}
