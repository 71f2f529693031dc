package worker_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"svc.example/internal/ground/farmapi"
)

// slow is a server behind a slow network.
type slow struct {
	*server
	delay time.Duration
}

func (s slow) Lease(ctx context.Context, req farmapi.LeaseRequest) (farmapi.LeaseReply, error) {
	if err := rest(ctx, s.delay); err != nil {
		return farmapi.LeaseReply{}, err
	}
	return s.server.Lease(ctx, req)
}

// damaging is a server whose files arrive otherwise than it says.
type damaging struct{ *server }

func (damaging) Input(context.Context, string, string, int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("a scenE")), nil
}

// keyless is a server that does not know the worker's key.
type keyless struct{ *server }

func (keyless) Register(context.Context, farmapi.RegisterRequest) (farmapi.RegisterReply, error) {
	return farmapi.RegisterReply{}, refusal(401, "unauthenticated")
}

// refusing is a server that refuses every lease call, and counts them.
type refusing struct {
	*server
	calls *atomic.Int64
}

func (r refusing) Lease(context.Context, farmapi.LeaseRequest) (farmapi.LeaseReply, error) {
	r.calls.Add(1)
	return farmapi.LeaseReply{}, refusal(400, "invalid_request")
}

// outbox lists what the worker has kept.
func (b *bench) outbox() []string {
	b.t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.config.WorkDir, "outbox"))
	if err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
