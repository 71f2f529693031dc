package webhook_test

import (
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/webhook"
)

// TestANameThatNoLongerResolvesDelaysADelivery has the service's resolver fail when a job ends.
func TestANameThatNoLongerResolvesDelaysADelivery(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		r := s.receiver(nil)
		named := strings.Replace(r.URL, "127.0.0.1", "example.com", 1)
		job := s.endJobWithTarget(named, "")
		s.names.Fail(true)
		s.run()
		d := s.await(job, tried(1))
		if why := d.Attempts[0].Error; why == nil || *why != "the host name could not be looked up" || d.Status != webhook.Pending || d.Attempts[0].NextTryAt == nil {
			t.Errorf("the try without a name is %+v of %s", d.Attempts[0], d.Status)
		}
		if _, err := s.Target(t.Context(), named, ""); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a start that names it: %v", err)
		}
		s.names.Fail(false)
		s.later.Add(int64(time.Minute))
		if d := s.await(job, isNow(webhook.Delivered)); d.Tries != 2 {
			t.Errorf("it took %d tries", d.Tries)
		}
		s.audit()
	})
}
