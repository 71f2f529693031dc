package identity

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Operator is a person who may do what operators do in the browser (decisions 24).
type Operator struct {
	Email       string    `json:"email"`
	WorkspaceID string    `json:"workspace_id"`
	Since       time.Time `json:"since"`
}

// SetOperator makes a person an operator, or takes that away. Sessions that are open
// follow at once. It reports whether anything has changed. Errors: invalid_request for an
// address, person_not_found.
func SetOperator(ctx context.Context, tx *db.Tx, email string, is bool) (changed bool, err error) {
	p, err := PersonOf(ctx, tx, email)
	if err != nil {
		return false, err
	}
	var n int64
	if is {
		row := query.Operator{PersonID: p.PersonID, Since: tx.Now}
		row.RowSum = operators.Of(row)
		n, err = tx.OperatorAdd(ctx, query.OperatorAddParams(row))
	} else {
		n, err = tx.OperatorRemove(ctx, p.PersonID)
	}
	if err != nil {
		return false, fmt.Errorf("change operator: %w", err)
	}
	return n > 0, nil
}

// Operators lists the operators, the longest-serving first.
func Operators(ctx context.Context, tx *db.Tx) ([]Operator, error) {
	rows, err := tx.Operators(ctx)
	if err != nil {
		return nil, fmt.Errorf("list operators: %w", err)
	}
	all := make([]Operator, 0, len(rows))
	for _, r := range rows {
		all = append(all, Operator{r.Email, r.WorkspaceID, db.Time(r.Since)})
	}
	return all, nil
}

// PersonOf finds a person by the address. Errors: invalid_request for an address,
// person_not_found.
func PersonOf(ctx context.Context, tx *db.Tx, email string) (Person, error) {
	email, err := address(email)
	if err != nil {
		return Person{}, err
	}
	p, err := tx.PersonByEmail(ctx, email)
	if db.IsNotFound(err) {
		return Person{}, fault.New(fault.PersonNotFound, "Nobody has signed in as %s.", email)
	}
	if err != nil {
		return Person{}, fmt.Errorf("find person: %w", err)
	}
	return Person{PersonID: p.PersonID, Email: p.Email, WorkspaceID: p.WorkspaceID}, nil
}
