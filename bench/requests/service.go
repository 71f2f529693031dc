package requests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"svc.example/bench/rounds"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// service is a service without a worker, in this process.
type service struct {
	app     *app.App
	address string // host:port
	metrics string // host:port of its metrics; "" for none
	cancel  context.CancelFunc
	served  chan error
}

// openAPI starts a service in this process over an existing database. cfg has what is not
// as in the other services of a run. End it with stop.
func openAPI(ctx context.Context, b *rounds.Run, database string, cfg app.Config) (*service, error) {
	data, err := b.Dir("api-")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(data, "service.log")) // open until the end: each request writes its line
	if err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	h := &service{served: make(chan error, 1)}
	cfg.Listen, cfg.Data, cfg.Database, cfg.LogOrigin = "127.0.0.1:0", data, database, "bench.example.com/log"
	cfg.Log, cfg.Announce = slog.New(slog.NewTextHandler(log, nil)), func(address string) { listening <- address }
	cfg.AnnounceMetrics = func(address string) { h.metrics = strings.TrimPrefix(address, "http://") }
	h.app, err = app.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h.cancel = cancel
	go func() { h.served <- h.app.Serve(serving) }()
	select {
	case url := <-listening:
		h.address = strings.TrimPrefix(url, "http://")
		return h, nil
	case err := <-h.served:
		cancel()
		return nil, errors.Join(fmt.Errorf("the service ended before it listened: %w", err), h.app.Close())
	}
}

// stop ends the service and waits for it.
func (h *service) stop() error {
	h.cancel()
	return errors.Join(<-h.served, h.app.Close())
}

// apiCaller is a workspace with keys, money, an upload and a job that waits.
type apiCaller struct {
	number         int
	agent, account string
	uploadID       string
	jobID          string
}

// callerCents is what a caller can spend; no round comes near it.
const callerCents = 1_000_000

// makeCallers makes apiAtOnce workspaces, each with keys, money and one waiting job.
func makeCallers(ctx context.Context, store *db.DB, on *service) ([]apiCaller, error) {
	callers := make([]apiCaller, apiAtOnce)
	for i := range callers {
		c := &callers[i]
		c.number = i
		err := store.Write(ctx, func(tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, fmt.Sprintf("caller-%d@example.com", i))
			if err != nil {
				return err
			}
			agent, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: "bench"})
			if err != nil {
				return err
			}
			account, err := identity.CreateAccountKey(ctx, tx, p.WorkspaceID, "bench")
			c.agent, c.account = agent.Secret, account.Secret
			return errors.Join(err, wallet.Credit(ctx, tx, p.WorkspaceID, "bench for "+p.WorkspaceID, callerCents))
		})
		if err != nil {
			return nil, err
		}
		if err := c.begin(ctx, on.address); err != nil {
			return nil, err
		}
	}
	return callers, nil
}

// begin uploads the demo scene and starts a job of one frame.
func (c *apiCaller) begin(ctx context.Context, address string) error {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", demo.Filename)
	if err != nil {
		return err
	}
	_, err = part.Write(demo.Scene())
	err = errors.Join(err, w.WriteField("frame_end", "1"), w.Close())
	if err != nil {
		return err
	}
	var made struct {
		UploadID string `json:"upload_id"`
		QuoteID  string `json:"quote_id"`
		JobID    string `json:"job_id"`
	}
	inspect := request{method: http.MethodPost, path: "/node/v1/uploads/inspect", key: c.agent, body: form.String(), kind: w.FormDataContentType()}
	if err := askJSON(ctx, address, inspect, &made); err != nil {
		return err
	}
	c.uploadID = made.UploadID
	start := request{
		method: http.MethodPost, path: "/node/v1/uploads/" + made.UploadID + "/start", key: c.agent,
		body: `{"quote_id":"` + made.QuoteID + `","legal_acceptance":"SVC_LEGAL_V1"}`,
	}
	err = askJSON(ctx, address, start, &made)
	c.jobID = made.JobID
	return err
}

// cancelOthers cancels all jobs of the caller but its first, so that no round
// meets a longer queue than the one before.
func (c apiCaller) cancelOthers(ctx context.Context, address string) error {
	var page struct {
		Renders []struct {
			JobID string `json:"job_id"`
		} `json:"renders"`
	}
	if err := askJSON(ctx, address, request{method: http.MethodGet, path: "/v1/workspace/renders?status=queued&limit=200", key: c.account}, &page); err != nil {
		return err
	}
	for _, r := range page.Renders {
		if r.JobID == c.jobID {
			continue
		}
		var cancelled struct{}
		if err := askJSON(ctx, address, request{method: http.MethodPost, path: "/v1/renders/" + r.JobID + "/cancel", key: c.account}, &cancelled); err != nil {
			return err
		}
	}
	return nil
}

// askJSON asks once and decodes the answer.
func askJSON(ctx context.Context, address string, ask request, into any) error {
	l, err := dial(ctx, address)
	if err != nil {
		return err
	}
	defer l.close()
	_, text, err := l.ask(ask.bytes())
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
