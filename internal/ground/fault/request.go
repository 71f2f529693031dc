package fault

import "context"

type requestKey struct{}

// WithRequestID returns a context of the request with this id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestID is the id of the request that a context belongs to; "" for the service's own
// work.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}
