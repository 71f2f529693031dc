package db

import (
	"context"
	"errors"
	"fmt"
)

// ErrInUse means that a process has the database open.
var ErrInUse = errors.New("the database is in use")

// Alone makes sure that no process has a SQLite file open, and brings everything that was
// committed into that one file. Error: ErrInUse.
func Alone(ctx context.Context, path string) error {
	pool, err := sqlitePool(path, 1, []string{"mode=rw", "_pragma=busy_timeout(0)"}, nil)
	if err != nil {
		return err
	}
	// SQLite leaves its log only when no other connection uses it.
	var mode string
	err = pool.QueryRowContext(ctx, "PRAGMA journal_mode=DELETE").Scan(&mode)
	if busy(err) || err == nil && mode != "delete" {
		err = fmt.Errorf("%s: %w", path, ErrInUse)
	}
	return errors.Join(err, pool.Close())
}
