package job

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/identity"
)

// beyond refuses a job that costs more than is left of a limit. left says whose limit that is,
// with places for what is left of it and for the limit.
func beyond(cents, spent, limit int64, left string) *fault.Error {
	return fault.New(fault.SpendLimitReached, "This job costs %s, but "+left+".", numbers.Dollars(cents), numbers.Dollars(max(0, limit-spent)), numbers.Dollars(limit)).
		With(map[string]int64{"required_cents": cents, "spent_cents": spent, "spend_limit_cents": limit})
}

// withinLimit refuses a job that would take a key above its monthly limit. The month is
// the calendar month in UTC by the database's clock. Jobs count at their price from
// their creation; failed and cancelled ones do not count, because their money came
// back.
func withinLimit(ctx context.Context, tx *db.Tx, who identity.Principal, cents int64) error {
	limit, limited, err := spendLimit(ctx, tx, who)
	if err != nil || !limited {
		return err
	}
	spent, err := tx.JobSpentByKey(ctx, query.JobSpentByKeyParams{KeyID: who.Credential.KeyID, Since: db.Micros(identity.Month(tx.Time()))})
	if err != nil {
		return fmt.Errorf("add up spending: %w", err)
	}
	if spent+cents > limit {
		return beyond(cents, spent, limit, "the key has only %s of its monthly %s left")
	}
	return nil
}

// Today returns what a workspace may spend in a calendar day (UTC), 0 for no limit, and what it
// has spent today; 0 without a limit.
func Today(ctx context.Context, tx *db.Tx, workspaceID string) (limit, spent int64, err error) {
	workspace, err := tx.WorkspaceGet(ctx, workspaceID)
	if err != nil {
		return 0, 0, fmt.Errorf("read workspace %s: %w", workspaceID, err)
	}
	if limit = workspace.DailyCents; limit == 0 {
		return 0, 0, nil
	}
	if spent, err = tx.JobSpentByWorkspace(ctx, query.JobSpentByWorkspaceParams{WorkspaceID: workspaceID, Since: db.Micros(identity.Day(tx.Time()))}); err != nil {
		return 0, 0, fmt.Errorf("add up the day's spending: %w", err)
	}
	return limit, spent, nil
}

// withinDay refuses a job, already written and paid for in this transaction, that takes its
// workspace above the operator's daily limit. It follows the reservation, which locks the
// wallet: with two starts at once the second sees what the first has spent. Jobs count as
// they do for a key's limit; the day is the calendar day in UTC by the database's clock.
func withinDay(ctx context.Context, tx *db.Tx, who identity.Principal, cents int64) error {
	limit, spent, err := Today(ctx, tx, who.WorkspaceID)
	if err != nil || limit == 0 || cents == 0 {
		return err
	}
	if spent <= limit {
		return nil
	}
	return beyond(cents, spent-cents, limit, "the workspace has only %s of its daily %s left").
		WithAction("Render fewer frames, wait for the next day (UTC), or ask the operator of the service for a higher limit.")
}

// ThisMonth returns what a person may spend in a workspace in a calendar month (UTC), nil for no
// limit, and what they have spent of it; 0 without a limit. A person of "" is an operator's key,
// which has none. Error: insufficient_role for a person who is not in the workspace.
func ThisMonth(ctx context.Context, tx *db.Tx, workspaceID, personID string) (limit *int64, spent int64, err error) {
	if personID == "" {
		return nil, 0, nil
	}
	if limit, err = identity.MonthlyLimit(ctx, tx, workspaceID, personID); err != nil || limit == nil {
		return nil, 0, err
	}
	spent, err = tx.JobSpentByPerson(ctx, query.JobSpentByPersonParams{PersonID: personID, WorkspaceID: workspaceID, Since: db.Micros(identity.Month(tx.Time()))})
	if err != nil {
		return nil, 0, fmt.Errorf("add up a person's spending: %w", err)
	}
	return limit, spent, nil
}

// withinMonth refuses a job, already written and paid for in this transaction, that takes the
// person behind the credential above their monthly limit in the workspace. Like withinDay it
// relies on the wallet's lock.
func withinMonth(ctx context.Context, tx *db.Tx, who identity.Principal, cents int64) error {
	limit, spent, err := ThisMonth(ctx, tx, who.WorkspaceID, who.Credential.Person())
	if err != nil || limit == nil || cents == 0 || spent <= *limit {
		return err
	}
	whose := "you have"
	if who.Credential.PersonID == "" {
		whose = "the person who made the key has"
	}
	return beyond(cents, spent-cents, *limit, whose+" only %s of a monthly %s left in this workspace").
		WithAction("Render fewer frames, wait for the next calendar month (UTC), or ask an owner of the workspace for a higher limit.")
}

// spendLimit is the most that a principal may spend in a calendar month, in cents:
// what it came with or what its key says now, whichever is less. The key's row stays
// locked, so that with two starts by one key the second sees what the first has
// spent.
func spendLimit(ctx context.Context, tx *db.Tx, who identity.Principal) (limit int64, limited bool, err error) {
	if who.Credential.KeyID == "" {
		return 0, false, nil // a person, whom the wallet bounds
	}
	limit, err = tx.AgentKeyLimit(ctx, who.Credential.KeyID)
	if err != nil && !db.IsNotFound(err) {
		return 0, false, fmt.Errorf("read spend limit: %w", err)
	}
	// The row's limit is -1 for none. A key without a row here is an account key.
	limited = err == nil && limit >= 0 // otherwise not an agent key, or one without limit
	if own := who.SpendLimitCents; own != nil && (!limited || *own < limit) {
		limit, limited = *own, true
	}
	return limit, limited, nil
}
