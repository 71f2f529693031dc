package inflight

import "context"

type recordKey struct{}

// WithWorkspaceRecord lets the server learn, after a request, which workspace it was
// for: "" when no credential was accepted. The request log needs it, but authentication
// happens further in. Call workspaceID only after the handler has returned: the record
// has no lock.
func WithWorkspaceRecord(ctx context.Context) (recorded context.Context, workspaceID func() string) {
	record := new(string)
	return context.WithValue(ctx, recordKey{}, record), func() string { return *record }
}

// RecordWorkspace records the workspace of a request. Without a record in ctx it does
// nothing.
func RecordWorkspace(ctx context.Context, workspaceID string) {
	if record, ok := ctx.Value(recordKey{}).(*string); ok {
		*record = workspaceID
	}
}
