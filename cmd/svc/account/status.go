package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/numbers"
)

// Status is svc status.
type Status struct {
	profile.Flags
	output
}

// status is what svc status found, in the form of --json.
type status struct {
	OK           bool                 `json:"ok"`
	Server       string               `json:"server"`
	ClockOff     float64              `json:"clock_off_seconds"` // of this machine, against the service's
	Capabilities *client.Capabilities `json:"capabilities"`
	Limits       *client.Limits       `json:"limits"`
	Key          *keyStatus           `json:"key"` // null where no key is given
}

// keyStatus says whom the key belongs to.
type keyStatus struct {
	Kind           string `json:"kind"` // agent_key or account_key
	Masked         string `json:"masked"`
	WorkspaceID    string `json:"workspace_id"`
	AvailableCents int64  `json:"available_cents"`
	ReservedCents  int64  `json:"reserved_cents"`
	Currency       string `json:"currency"`
}

// Run asks the service what it is and whose key this is. Without a key it says so
// and shows the rest.
func (c *Status) Run(app *kong.Context) (err error) {
	service, err := c.Service(profile.AgentKey | profile.AccountKey)
	if err != nil && !errors.Is(err, profile.ErrNoKey) {
		return err
	}
	api, err := service.Client()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	found, err := read(ctx, api, service)
	if err != nil {
		return err
	}
	return c.print(app, found, func() { found.printText(app) })
}

func read(ctx context.Context, api *client.Client, service profile.Service) (*status, error) {
	s := &status{OK: true, Server: service.Server}
	health, err := api.Health(ctx)
	if err != nil {
		return nil, err
	}
	s.ClockOff = time.Since(health.Time).Seconds()
	if s.Capabilities, err = api.Capabilities(ctx); err != nil {
		return nil, err
	}
	if s.Limits, err = api.Limits(ctx); err != nil || service.Key == "" {
		return s, err
	}
	wallet, err := api.Wallet(ctx)
	if err != nil {
		return nil, err
	}
	s.Key = &keyStatus{"agent_key", profile.Mask(service.Key), wallet.WorkspaceID, wallet.AvailableCents, wallet.ReservedCents, wallet.Currency}
	if api.AccountKey() {
		s.Key.Kind = "account_key"
	}
	return s, nil
}

// clockTolerance is how far a clock may be off before webhooks and links suffer, seconds.
const clockTolerance = 60

func (s *status) printText(app *kong.Context) {
	table := terminal.NewTable(app.Stdout)
	table.Row("server", s.Server)
	for _, r := range s.Capabilities.Renderers {
		table.Row("renderer", r.Application+" "+versionText(s.Limits.BlenderVersions, r.Version))
	}
	table.Row("queue", queueText(s.Capabilities))
	table.Rowf("price", "%s a frame", numbers.Money(s.Capabilities.Pricing.AmountMinor, s.Capabilities.Pricing.Currency))
	table.Rowf("limits", "%s a job, uploads of %s, %s of unused uploads", terminal.CountOf(s.Limits.FrameCount.Maximum, "frame"),
		terminal.InBytes.Text(s.Limits.MaximumUploadBytes), terminal.InBytes.Text(s.Limits.UnstartedStorageBytes))
	if n := s.Limits.RateLimit.PerMinute; n > 0 {
		table.Rowf("requests", "%s a minute for a key, %s for the workspace", numbers.Grouped(n), numbers.Grouped(s.Limits.WorkspaceRateLimit.PerMinute))
	}
	if s.ClockOff > clockTolerance || s.ClockOff < -clockTolerance {
		table.Rowf("clock", "this machine's clock is off by %.0f s; set it right, or webhooks and links can fail", s.ClockOff)
	}
	if s.Key == nil {
		table.Row("key", "none; save one with svc config set key -")
	} else {
		kind := map[string]string{"agent_key": "agent key", "account_key": "account key"}[s.Key.Kind]
		table.Row("key", fmt.Sprintf("%s %s", kind, s.Key.Masked))
		table.Row("workspace", s.Key.WorkspaceID)
		table.Rowf("balance", "%s, and %s reserved", numbers.Money(s.Key.AvailableCents, s.Key.Currency), numbers.Money(s.Key.ReservedCents, s.Key.Currency))
	}
	_ = table.Flush() // a closed standard output has no reader
}

// versionText says which versions the online workers have, if they differ from the
// contract's.
func versionText(workers []string, contract string) string {
	switch {
	case len(workers) == 0:
		return contract
	case len(workers) == 1 && workers[0] == contract:
		return contract
	}
	return fmt.Sprintf("%s on the workers; the service promises %s", strings.Join(workers, ", "), contract)
}

// queueText says whether a job would be taken, and when.
func queueText(c *client.Capabilities) string {
	if !c.Availability.AcceptingJobs {
		return "the service takes no jobs now"
	}
	switch c.Availability.QueueState {
	case "idle":
		return "idle: a job starts at once"
	case "busy":
		return "busy: a job waits for others"
	case "no_workers":
		return "no worker is online"
	}
	return c.Availability.QueueState
}
