package identity

import "context"

type watchedKey struct{}

// Watched lets whoever serves a request learn, once it is answered, for which
// workspace it was: workspace is "" when no credential was accepted.
func Watched(ctx context.Context) (watched context.Context, workspace func() string) {
	seen := new(string)
	return context.WithValue(ctx, watchedKey{}, seen), func() string { return *seen }
}

// Acts tells whoever watches for which workspace a door acts.
func Acts(ctx context.Context, workspaceID string) {
	if seen, ok := ctx.Value(watchedKey{}).(*string); ok {
		*seen = workspaceID
	}
}
