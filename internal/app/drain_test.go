package app_test

import (
	"net/http"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

// TestAStopAnswersUnreadyBeforeThePortCloses gives a balancer the time to notice.
func TestAStopAnswersUnreadyBeforeThePortCloses(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Database: dbtest.URL(t, "sqlite"), DrainDelay: time.Second})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.stop()
	}()
	unready := 0
	for {
		res, err := http.Get(s.base + "/readyz") // a connection of its own where the last was closed
		if err != nil {
			break
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusServiceUnavailable {
			unready++
		}
	}
	if unready == 0 {
		t.Error("the port closed at once")
	}
	await.Next(t, ended, "the end of the stop")
}
