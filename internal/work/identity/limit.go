package identity

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/wallet"
)

// SetMonthlyLimit sets what a member of the caller's workspace may spend there in a calendar
// month (UTC) from now on: in the console, and by the keys that they made. nil means no limit.
// The limit ends with the membership. Errors: insufficient_role for anyone but an owner,
// member_not_found, invalid_request.
func SetMonthlyLimit(ctx context.Context, tx *db.Tx, who Principal, personID string, cents *int64) error {
	if cents != nil && (*cents < 0 || *cents > wallet.MaxCents) {
		return fault.Field("limit", "must be %s to %s", numbers.Dollars(0), numbers.Dollars(wallet.MaxCents))
	}
	if err := lockFor(ctx, tx, who.WorkspaceID, who.Credential.PersonID, Owner); err != nil {
		return err
	}
	if _, err := target(ctx, tx, who.WorkspaceID, personID); err != nil {
		return err
	}
	if cents == nil {
		if err := tx.MemberLimitEnd(ctx, query.MemberLimitEndParams{WorkspaceID: who.WorkspaceID, PersonID: personID}); err != nil {
			return fmt.Errorf("end the limit of a member: %w", err)
		}
		return nil
	}
	row := query.MemberLimit{WorkspaceID: who.WorkspaceID, PersonID: personID, MonthlyCents: *cents, SetBy: who.Credential.PersonID, SetAt: tx.Now}
	row.RowSum = memberLimits.Of(row)
	if err := tx.MemberLimitSet(ctx, query.MemberLimitSetParams(row)); err != nil {
		return fmt.Errorf("set the limit of a member: %w", err)
	}
	return nil
}

// MonthlyLimit is what a person may spend in a workspace in a calendar month (UTC); nil for no
// limit. Error: insufficient_role for a person who is not in the workspace.
func MonthlyLimit(ctx context.Context, tx *db.Tx, workspaceID, personID string) (*int64, error) {
	cents, err := tx.MemberLimit(ctx, query.MemberLimitParams{WorkspaceID: workspaceID, PersonID: personID})
	if db.IsNotFound(err) {
		return nil, insufficientRole(Member, "")
	}
	if err != nil {
		return nil, fmt.Errorf("read the limit of a member: %w", err)
	}
	return limitOf(cents), nil
}

// MembersSpent is what the members of a workspace have spent there this month (UTC), by their
// ids, as their limits count it.
func MembersSpent(ctx context.Context, tx *db.Tx, workspaceID string) (map[string]int64, error) {
	rows, err := tx.MembersSpent(ctx, query.MembersSpentParams{WorkspaceID: workspaceID, Since: db.Micros(Month(tx.Time()))})
	if err != nil {
		return nil, fmt.Errorf("add up what members spent: %w", err)
	}
	cents := make(map[string]int64, len(rows))
	for _, r := range rows {
		cents[r.PersonID] = r.Cents
	}
	return cents, nil
}
