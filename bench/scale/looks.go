package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
)

// The parts of a run with a thousand people who use free previews.
const (
	lookers    = 1000 // workspaces, each with an upload and a preview in each round
	lookOrders = 16   // orders at once
	lookWork   = 4    // workers
	lookFrame  = 200 * time.Millisecond
	lookJobs   = 25 // paid jobs of one frame, one after the other
)

// Looks has a thousand workspaces order a free preview each, and measures how long a paid
// frame takes meanwhile, from the answer of start to its acceptance. The baseline is the
// same service without previews.
func Looks(engine string) rounds.Group {
	name := "look/" + engine + " paid frame next to 1,000 free previews, p95"
	return rounds.Group{
		Rows: []rounds.Row{{
			Name: name, Unit: rounds.Duration, Baseline: "nobody looks", Goal: rounds.RatioAtMost(1.5),
			Note: fmt.Sprintf("%d workspaces, one preview each, %d synthetic workers that all render previews, frames and previews of %s; each paid frame waits for a process to end, not for a preview", lookers, lookWork, lookFrame),
		}},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
			s, err := serve(ctx, b, engine, append(wide, "--free-previews", "10000,10000")...)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.stop()) }()
			quiet, err := serve(ctx, b, engine, wide...)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, quiet.stop()) }()
			people, err := s.makeLookers(ctx)
			if err != nil {
				return err
			}
			frame := 0
			err = b.Rounds(ctx, into, func(r rounds.Record) error {
				frame++
				var beside, alone []float64
				err := b.Turns(func() (err error) {
					if err := lookEach(people, func(p *looker) error {
						_, err := p.client.OrderPreview(ctx, p.upload, frame)
						return err
					}); err != nil {
						return err
					}
					if beside, err = s.paidFrames(ctx); err != nil {
						return err
					}
					return people[len(people)-1].stillWaits(ctx)
				}, func() (err error) {
					alone, err = quiet.paidFrames(ctx)
					return err
				})
				if err != nil {
					return err
				}
				return r.AddShare(name, beside, alone, 0.95)
			})
			return errors.Join(err, s.audit(ctx))
		},
	}
}

// looker is a person who orders previews and does not pay.
type looker struct {
	client *client.Client
	upload string
}

// makeLookers makes the workspaces, and has each send the scene.
func (s *server) makeLookers(ctx context.Context) ([]looker, error) {
	service, err := app.Open(ctx, s.store)
	if err != nil {
		return nil, err
	}
	people := make([]looker, lookers)
	for i := range people {
		err = service.DB.Write(ctx, func(tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, fmt.Sprintf("looker-%d@example.com", i))
			if err != nil {
				return err
			}
			key, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: "looker"})
			if err == nil {
				people[i].client, err = client.New(s.url, key.Secret)
			}
			return err
		})
		if err != nil {
			break
		}
	}
	if err := errors.Join(err, service.Close()); err != nil {
		return nil, err
	}
	scene, err := os.ReadFile(s.scene)
	if err != nil {
		return nil, err
	}
	return people, lookEach(people, func(p *looker) error {
		q, err := p.client.Inspect(ctx, client.InspectRequest{Filename: "scale.blend", Body: bytes.NewReader(scene)})
		if err == nil {
			p.upload = q.UploadID
		}
		return err
	})
}

// lookEach calls do for each of the people, a few at once.
func lookEach(people []looker, do func(*looker) error) error {
	next := make(chan *looker, len(people))
	for i := range people {
		next <- &people[i]
	}
	_, err := rounds.Throughput(lookOrders, len(people), func(int) error { return do(<-next) })
	return err
}

// paidFrames starts workers and renders paid jobs of one frame, one after the other. It
// returns the seconds that each took from the answer of start on.
func (s *server) paidFrames(ctx context.Context) (took []float64, err error) {
	stop, err := s.startWorkers(ctx, lookWork, lookFrame)
	if err != nil {
		return nil, err
	}
	defer stop()
	for range lookJobs {
		job, err := s.start(ctx, 1)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		accepted := 0.0
		job, err = s.client.Wait(ctx, job.JobID, func(e client.Event) {
			if e.Frame != nil {
				accepted = time.Since(began).Seconds()
			}
		})
		if err != nil {
			return nil, err
		}
		if job.Status != client.StatusCompleted || accepted == 0 {
			return nil, fmt.Errorf("the job is %s: %+v", job.Status, job.Failure)
		}
		took = append(took, accepted)
	}
	return took, nil
}

// stillWaits fails when the last preview has been rendered: then the paid frames met an
// idle farm, and nothing was measured.
func (p looker) stillWaits(ctx context.Context) error {
	found, err := p.client.FindPreview(ctx, p.upload, 0)
	if err == nil && found.Status != client.PreviewQueued {
		err = fmt.Errorf("the last preview is %s before the paid frames were rendered", found.Status)
	}
	return err
}
