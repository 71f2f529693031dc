package webhook_test

import (
	"context"
	"slices"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/webhook"
)

// TestAuditFindsEachBreach breaks each promise in turn.
func TestAuditFindsEachBreach(t *testing.T) {
	t.Parallel()
	for rule, harm := range map[string]func(ctx context.Context, s *service, tx *db.Tx) error{
		"a job that has ended has one event": func(ctx context.Context, s *service, tx *db.Tx) error {
			return s.job(ctx, tx, id.New(id.Job), "completed")
		},
		"a job's own target gets the job's event": func(ctx context.Context, s *service, tx *db.Tx) error {
			jobID, eventID := id.New(id.Job), id.New(id.Event)
			err := tx.WebhookEndpointCreate(ctx, query.WebhookEndpointCreateParams{EndpointID: id.New(id.Endpoint), WorkspaceID: s.workspace, JobID: jobID, Lane: "x"})
			if err != nil {
				return err
			}
			return tx.WebhookEventCreate(ctx, query.WebhookEventCreateParams{EventID: eventID, WorkspaceID: s.workspace, JobID: jobID, Type: contract.EventFailed, Body: "{}"})
		},
		"an event is kept or forgotten as a whole": func(ctx context.Context, s *service, tx *db.Tx) error {
			all, err := tx.WebhookDeliveriesOfJob(ctx, s.endJobWithin(ctx, tx))
			if err != nil {
				return err
			}
			_, err = tx.WebhookEventForget(ctx, query.WebhookEventForgetParams{Now: tx.Now, EventID: all[0].WebhookDelivery.EventID})
			return err
		},
		"a workspace's events are numbered from 1 without a gap": func(ctx context.Context, s *service, tx *db.Tx) error {
			all, err := tx.WebhookDeliveriesOfJob(ctx, s.endJobWithin(ctx, tx))
			if err != nil {
				return err
			}
			s.endJobWithin(ctx, tx)
			eventID := all[0].WebhookDelivery.EventID
			if err := tx.WebhookDeliveriesForget(ctx, eventID); err != nil {
				return err
			}
			return tx.WebhookEventDelete(ctx, eventID)
		},
		"a delivery that waits will be made": func(ctx context.Context, _ *service, tx *db.Tx) error {
			all, err := tx.WebhookSecretAfter(ctx, "")
			if err != nil {
				return err
			}
			e, err := tx.WebhookEndpointGet(ctx, all[0].EndpointID)
			if err != nil {
				return err
			}
			return lease.Drop(ctx, tx, webhook.Queue, e.Lane)
		},
		"a delivery's log agrees with its state": func(ctx context.Context, s *service, tx *db.Tx) error {
			all, err := tx.WebhookDeliveriesOfJob(ctx, s.endJobWithin(ctx, tx))
			if err != nil {
				return err
			}
			_, err = tx.WebhookDeliveryTried(ctx, query.WebhookDeliveryTriedParams{Status: "delivered", DeliveryID: all[0].WebhookDelivery.DeliveryID})
			return err
		},
		"an endpoint has a secret to sign with": func(ctx context.Context, s *service, tx *db.Tx) error {
			return tx.WebhookEndpointCreate(ctx, query.WebhookEndpointCreateParams{EndpointID: id.New(id.Endpoint), WorkspaceID: s.workspace, Lane: "x"})
		},
		"a sealed secret can be opened": func(ctx context.Context, _ *service, tx *db.Tx) error {
			all, err := tx.WebhookSecretAfter(ctx, "")
			if err != nil {
				return err
			}
			return tx.WebhookSecretCreate(ctx, query.WebhookSecretCreateParams{SecretID: id.New(id.Secret), EndpointID: all[0].EndpointID, Sealed: all[0].Sealed})
		},
	} {
		t.Run(rule, func(t *testing.T) {
			each(t, func(t *testing.T, s *service) {
				s.endpoint("https://127.0.0.1:1024/", "")
				s.endJob()
				s.audit()
				s.write(func(ctx context.Context, tx *db.Tx) error { return harm(ctx, s, tx) })
				for _, b := range s.breaches() {
					if b.Rule == rule {
						return
					}
				}
				t.Errorf("it was not found; the breaches are %+v", s.breaches())
			})
		})
	}
}

// endJobWithin is endJob in a transaction of the caller's.
func (s *service) endJobWithin(ctx context.Context, tx *db.Tx) (jobID string) {
	jobID = id.New(id.Job)
	if err := webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: s.workspace, JobID: jobID, Type: contract.EventFailed}); err != nil {
		s.t.Error(err)
	}
	return jobID
}

// job writes a job's row and the rows it depends on.
func (s *service) job(ctx context.Context, tx *db.Tx, jobID, status string) error {
	uploadID, quoteID := id.New(id.Upload), id.New(id.Quote)
	_, err := tx.UploadCreate(ctx, query.UploadCreateParams{UploadID: uploadID, WorkspaceID: s.workspace, Scene: "{}"})
	if err != nil {
		return err
	}
	err = tx.QuoteCreate(ctx, query.QuoteCreateParams{
		QuoteID: quoteID, UploadID: uploadID, WorkspaceID: s.workspace, FrameStart: 1, FrameEnd: 1, FrameStep: 1, FrameCount: 1, PriceCents: 1, Warnings: "[]",
	})
	if err != nil {
		return err
	}
	return tx.JobCreate(ctx, query.JobCreateParams{
		JobID: jobID, WorkspaceID: s.workspace, Flow: "job_api", Status: status, UploadID: uploadID, QuoteID: quoteID,
		FrameStart: 1, FrameEnd: 1, FrameStep: 1, FrameCount: 1, PriceCents: 1,
	})
}

// TestAuditSeesAnyChangedRow damages a delivery in each of its states, with its attempts,
// its endpoint and the secret.
func TestAuditSeesAnyChangedRow(t *testing.T) {
	t.Parallel()
	// Nothing in the store shows when a delivery was requested; the times are checked against
	// bounds.
	times := []string{"webhook_delivery.created_at", "webhook_delivery.next_at", "webhook_delivery.ended_at"}
	for name, reach := range map[string]func(s *service){
		"delivered": func(s *service) { s.await(s.endJobWithTarget(s.receiver(nil).URL, ""), isNow(webhook.Delivered)) },
		"retrying":  func(s *service) { s.await(s.endJobWithTarget(s.receiver(answering(500)).URL, ""), tried(1)) },
		"gone": func(s *service) {
			s.await(s.endJobWithTarget(s.receiver(answering(410)).URL, ""), isNow(webhook.Failed))
		},
		"sent again": func(s *service) {
			jobID := s.endJobWithTarget(s.receiver(answering(500)).URL, "")
			d := s.await(jobID, tried(1))
			if _, err := s.Redeliver(s.t.Context(), s.workspace, jobID, d.DeliveryID); err != nil {
				s.t.Fatal(err)
			}
			s.await(jobID, tried(2))
		},
		"of a disabled endpoint": func(s *service) {
			e, _ := s.endpoint(s.receiver(answering(500)).URL, "")
			s.await(s.endJob(), tried(1))
			off := false
			if _, err := s.Change(s.t.Context(), s.workspace, e.EndpointID, webhook.Change{Enabled: &off}); err != nil {
				s.t.Fatal(err)
			}
			if _, _, err := s.Rotate(s.t.Context(), s.workspace, e.EndpointID, ""); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.EachURL(t, func(t *testing.T, url string) {
				s := newService(t, url)
				stop := s.run()
				reach(s)
				stop()
				s.audit()
				unseen := dbtest.Unseen(t, url, func(tx *db.Tx) (breaches int, err error) {
					err = webhook.Audit(t.Context(), tx, s.keys, func(string, string, string, ...any) { breaches++ })
					return breaches, err
				}, "webhook_endpoint", "webhook_secret", "webhook_delivery", "webhook_attempt")
				for _, column := range unseen {
					if !slices.Contains(times, column) {
						t.Errorf("the audit does not see damage of %s", column)
					}
				}
			})
		})
	}
}
