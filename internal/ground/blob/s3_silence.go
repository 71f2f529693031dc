package blob

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
)

// defaultSilence is how long the store may send and take nothing before a request counts as
// lost. A request is repeated once after a silence, so it fails after twice that time.
const defaultSilence = 10 * time.Second

// composeSilence is the same where the store puts parts together, or copies a blob: some
// stores say nothing while they do it. Such a request is not repeated after a silence.
const composeSilence = time.Minute

// tries is how often the store is asked before a failure counts.
const tries = 4

// errAway marks errors of the connection to the store.
var errAway = errors.New("the store is away")

// asked calls the store until another try could not succeed, four times at most. The store may be
// silent once, and "again" times more: every silence holds the caller.
func asked(ctx context.Context, again int, call func() error) (err error) {
	for try := range tries {
		if err = pause(ctx, try); err != nil {
			return err
		}
		if err = call(); err == nil || ctx.Err() != nil || !mayPass(err) {
			return err
		}
		if isSilence(err) {
			if again == 0 {
				break
			}
			again--
		}
	}
	return marked(err)
}

// marked is an error after the last try, which IsAway knows if the connection failed.
func marked(err error) error {
	if _, answered := errors.AsType[minio.ErrorResponse](err); answered || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w: %w", errAway, err)
}

// pause waits before another try.
func pause(ctx context.Context, try int) error {
	if try == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(50 * time.Millisecond << try):
		return nil
	}
}

// mayPass reports whether another try may succeed: the connection broke, or the store says
// that it has too much to do.
func mayPass(err error) bool {
	if refused, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return refused.StatusCode >= http.StatusInternalServerError || refused.StatusCode == http.StatusTooManyRequests || refused.StatusCode == http.StatusRequestTimeout
	}
	return !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrExists)
}

// isSilence reports whether the store did not answer, or no longer moved a byte.
func isSilence(err error) bool {
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) // of the connection
}

// transport is the default one, with an end to every silence.
func transport(silence time.Duration, dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &impatient{Conn: conn, silence: silence}, nil
	}
	t.ResponseHeaderTimeout, t.MaxIdleConnsPerHost = silence, 64
	t.DisableCompression = true // bytes of ranges must be as they are stored
	return t
}

// impatient is a connection that fails after a silence: when neither side has moved a byte.
// An answer is awaited from the start of its request, so each write prolongs the wait. (The
// kernel buffers little more than what is on its way, so that a slow connection takes bytes
// often enough.)
type impatient struct {
	net.Conn
	silence time.Duration
	fell    atomic.Bool // silent: the transport closes it, and what else waits sees only that
}

func (c *impatient) Read(p []byte) (n int, err error) {
	if err = c.SetReadDeadline(time.Now().Add(c.silence)); err == nil {
		n, err = c.Conn.Read(p)
	}
	return n, c.told(err)
}

func (c *impatient) Write(p []byte) (n int, err error) {
	// In pieces: one write of a large buffer would have to end within one silence.
	for n < len(p) && err == nil {
		if err = c.SetDeadline(time.Now().Add(c.silence)); err != nil {
			break
		}
		var took int
		took, err = c.Conn.Write(p[n:min(n+writePiece, len(p))])
		n += took
	}
	return n, c.told(err)
}

// told is an error of the connection, or the silence that it follows from.
func (c *impatient) told(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.fell.Store(true)
	case err != nil && c.fell.Load():
		return os.ErrDeadlineExceeded
	}
	return err
}

// writePiece is how many bytes have to be taken within one silence.
const writePiece = 32 << 10
