package intake_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/intake"
)

// sendAt sends first bytes at once, then pieces of size bytes, one every pause of
// simulated time, and returns what the receiver got and when it ended.
func sendAt(t *testing.T, first, size, pieces int, pause, stall time.Duration) (n int64, took time.Duration, err error) {
	t.Helper()
	sender, receiver := net.Pipe()
	gone := make(chan struct{})
	go func() {
		defer func() { _ = sender.Close() }()
		if first > 0 {
			_, _ = sender.Write(make([]byte, first))
		}
		for range pieces {
			if _, err := sender.Write(make([]byte, size)); err != nil {
				return
			}
			select {
			case <-gone:
				return
			case <-time.After(pause):
			}
		}
	}()
	began := time.Now()
	n, err = io.Copy(io.Discard, intake.WithPace(receiver, receiver, stall))
	took = time.Since(began)
	close(gone)
	_ = receiver.Close()
	synctest.Wait()
	return n, took, err
}

func TestUploadSlowerThanAKibibyteASecondIsEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size, pieces int
		pause, stall time.Duration
		ends         time.Duration // 0: it passes
	}{
		"slightly more than 1 KiB a second":    {1100, 600, time.Second, 0, 0},
		"a burst, then nothing for 50 seconds": {64 << 10, 5, 50 * time.Second, 0, 0},
		"slightly less than 1 KiB a second":    {1000, 600, time.Second, 0, time.Minute},
		"one byte a second":                    {1, 600, time.Second, 0, time.Minute},
		"nothing for a minute":                 {10 << 10, 2, time.Hour, 0, time.Minute},
		"nothing for the stall timeout":        {10 << 10, 2, time.Hour, 10 * time.Second, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n, took, err := sendAt(t, 0, c.size, c.pieces, c.pause, c.stall)
				if c.ends == 0 {
					if err != nil || n != int64(c.size*c.pieces) {
						t.Errorf("%d bytes came, then %v after %s", n, err, took)
					}
					return
				}
				if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.UploadTooSlow || took != c.ends {
					t.Errorf("%d bytes came, then %v after %s", n, err, took)
				}
			})
		})
	}
}

func TestEveryMinuteOfAnUploadCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// What came fast earns nothing for later.
		n, took, err := sendAt(t, 10<<20, 1, 600, time.Second, 0)
		if !fault.Is(err, fault.UploadTooSlow) || n < 10<<20 || took > 2*time.Minute {
			t.Errorf("%d bytes came, then %v after %s", n, err, took)
		}
	})
}
