package ratelimit

import (
	"context"

	"svc.example/internal/ground/db"
)

// Take takes n requests in the database, as every process over it sees it.
func Take(ctx context.Context, d *db.DB, class string, l Limits, c Claim, n int) (out Decision, err error) {
	err = d.Write(ctx, func(tx *db.Tx) error {
		of, err := lookUp(ctx, tx, c)
		if err != nil {
			return err
		}
		out, _, err = take(ctx, tx, limitsOf(class, l, of), n)
		return err
	})
	return out, err
}

// LogOutcome is what Run does of the end of one WriteDown.
func (c *Counter) LogOutcome(err error) { c.logOutcome(err) }
