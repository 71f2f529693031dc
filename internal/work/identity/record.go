package identity

import "context"

type recordKey struct{}

// WithWorkspaceRecord lets whoever serves a request read, once it is answered, for
// which workspace it was: "" when no credential was accepted.
func WithWorkspaceRecord(ctx context.Context) (recorded context.Context, workspaceID func() string) {
	record := new(string)
	return context.WithValue(ctx, recordKey{}, record), func() string { return *record }
}

// RecordWorkspace says for which workspace a request is. Without a record in ctx
// it does nothing.
func RecordWorkspace(ctx context.Context, workspaceID string) {
	if record, ok := ctx.Value(recordKey{}).(*string); ok {
		*record = workspaceID
	}
}
