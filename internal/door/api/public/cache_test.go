package public

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.example/internal/test/await"
)

func TestAReadingIsSharedForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r cache[int]
		readings := 0
		ask := func() {
			got, err := r.get(func() (int, error) {
				readings++
				return readings, nil
			})
			if err != nil || got != readings {
				t.Errorf("got %d of %d readings, %v", got, readings, err)
			}
		}
		for want := 1; want <= 3; want++ {
			var all sync.WaitGroup
			for range 100 {
				all.Go(ask)
			}
			all.Wait()
			if readings != want {
				t.Fatalf("%d readings, want %d", readings, want)
			}
			await.Pass(cacheLife - time.Millisecond)
			if ask(); readings != want {
				t.Fatalf("read again before a second was over")
			}
			await.Pass(time.Millisecond)
		}
	})
}

func TestAFailedReadingIsNotShared(t *testing.T) {
	t.Parallel()
	var r cache[int]
	boom := errors.New("boom")
	if _, err := r.get(func() (int, error) { return 0, boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if got, err := r.get(func() (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("then %d, %v", got, err)
	}
}
