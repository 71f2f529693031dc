package job

import (
	"context"
	"encoding/json"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// LedgerActors reads who is behind entries of a workspace's ledger, by the entry's id: who started
// the job, or began the payment. Credit, refunds and refunded payments are the operator's. What a
// bank takes back, and a debt that is paid, happen automatically.
func LedgerActors(ctx context.Context, tx *db.Tx, workspaceID string, transactionIDs []string) (map[string]*identity.Actor, error) {
	actors := map[string]*identity.Actor{}
	if len(transactionIDs) == 0 {
		return actors, nil
	}
	list, err := json.Marshal(transactionIDs)
	if err != nil {
		return nil, fmt.Errorf("list ids of the ledger: %w", err)
	}
	rows, err := tx.LedgerActors(ctx, query.LedgerActorsParams{WorkspaceID: workspaceID, Ids: string(list)})
	if err != nil {
		return nil, fmt.Errorf("read who is behind the ledger: %w", err)
	}
	for _, r := range rows {
		switch wallet.Kind(r.Kind) {
		case wallet.Reserved, wallet.Captured, wallet.Released, wallet.TopUp:
			actors[r.TransactionID] = identity.ActorOf(r.PersonID, r.Email, r.KeyID, r.KeyName)
		case wallet.Credited, wallet.Refunded, wallet.TopUpRefunded:
			actors[r.TransactionID] = &identity.Actor{Kind: identity.OperatorActor}
		case wallet.ChargedBack, wallet.ChargebackWon, wallet.Settled:
			actors[r.TransactionID] = &identity.Actor{Kind: identity.ServiceActor}
		}
	}
	return actors, nil
}

// Forget takes a person who was erased out of the jobs that they started in other workspaces.
func Forget(ctx context.Context, tx *db.Tx, personID string) error {
	rows, err := tx.JobsForget(ctx, personID)
	if err != nil {
		return fmt.Errorf("forget who started jobs: %w", err)
	}
	for _, row := range rows {
		if err := jobRows.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}
