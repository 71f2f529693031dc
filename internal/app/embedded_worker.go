package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/worker"
)

// embeddedName is the name of the embedded worker and of its key.
const embeddedName = "embedded"

// embedded runs the worker inside the server until ctx ends. Without one it
// only waits. The worker uses the workers' HTTP API like any other, so there is
// no second way to report a frame.
func (a *App) embedded(ctx context.Context, local string) error {
	e := a.Config.Embedded
	if e == nil {
		<-ctx.Done()
		return nil
	}
	key, err := a.embeddedKey(ctx)
	if err != nil {
		return err
	}
	cfg := e.Machine
	cfg.Farm, cfg.Renderer, cfg.WorkDir, cfg.Name, cfg.Log = farmapi.NewClient(local, key), e.Renderer, filepath.Join(a.Config.Data, "worker"), embeddedName, a.Config.Log
	cfg.Device, cfg.Denoise, cfg.AllowBlenderVersion, cfg.Jitter = e.Device, e.Denoise, e.AllowBlenderVersion, rand.Float64
	if len(e.Shares) > 0 {
		return worker.RunEach(ctx, cfg, e.Shares)
	}
	return worker.New(cfg).Run(ctx)
}

// embeddedKey returns the node key of the embedded worker. The key stays the
// same over restarts, so that frames that the worker had rendered when the
// server went down still belong to it. A key that the database does not know is
// replaced.
func (a *App) embeddedKey(ctx context.Context) (string, error) {
	path := filepath.Join(a.Config.Data, "keys", "embedded-node.key")
	if secret, err := os.ReadFile(path); err == nil {
		if _, err := identity.Node(ctx, a.DB, "Bearer "+string(secret)); err == nil {
			return string(secret), nil
		}
	}
	var key identity.NewKey
	err := a.DB.Write(ctx, func(tx *db.Tx) (err error) {
		key, err = identity.ReplaceNodeKey(ctx, tx, embeddedName)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := atomicfile.Replace(path, []byte(key.Secret), 0o600); err != nil {
		return "", fmt.Errorf("keep the embedded worker's key: %w", err)
	}
	return key.Secret, nil
}
