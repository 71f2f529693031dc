package mcpbridge

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress passes the service's progress notifications on to the agent. Each call gets a
// token of its own: two calls of an agent may share one. The zero value has no calls.
type progress struct {
	mu   sync.Mutex
	open map[string]func(context.Context, *mcp.ProgressNotificationParams) // by token
}

// progressKey finds what wanted stored in a context.
type progressKey struct{}

// wanted stores where the progress of a call goes, if its agent has sent a token for it.
func wanted(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	return context.WithValue(ctx, progressKey{}, func(ctx context.Context, told *mcp.ProgressNotificationParams) {
		here := *told
		here.ProgressToken = token
		_ = req.Session.NotifyProgress(ctx, &here) // it fails when the agent is gone
	})
}

// listen asks the service for the progress of a call, where wanted has stored that somebody
// wants it, until stop.
func (p *progress) listen(ctx context.Context, params *mcp.CallToolParams) (stop func()) {
	pass, is := ctx.Value(progressKey{}).(func(context.Context, *mcp.ProgressNotificationParams))
	if !is {
		return func() {}
	}
	token := rand.Text()
	params.SetProgressToken(token)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]func(context.Context, *mcp.ProgressNotificationParams){}
	}
	p.open[token] = pass
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, token)
	}
}

// receive handles a notification of the service. One that comes after the answer of its call
// is dropped.
func (p *progress) receive(ctx context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	p.mu.Lock()
	pass := p.open[token]
	p.mu.Unlock()
	if pass != nil {
		pass(ctx, r.Params)
	}
}
