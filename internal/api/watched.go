package api

import "context"

type watchedKey struct{}

// Watched lets the caller of a handler learn, once it has answered, for which
// workspace it acted: workspace is "" when no credential was accepted.
func Watched(ctx context.Context) (watched context.Context, workspace func() string) {
	seen := new(string)
	return context.WithValue(ctx, watchedKey{}, seen), func() string { return *seen }
}

// tell passes the workspace on to whoever watches.
func tell(ctx context.Context, workspaceID string) {
	if seen, ok := ctx.Value(watchedKey{}).(*string); ok {
		*seen = workspaceID
	}
}
