package admin

import (
	"context"
	"net/http"

	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
)

// Inputs of acts on keys.
type (
	nodeKeyInput struct {
		Acting
		Body nodeKeyRequest
	}
	nodeKeyRequest struct {
		Name string `json:"name" minLength:"1" maxLength:"320" doc:"1 to 80 characters."`
	}
	workspaceKeyInput struct {
		WorkspaceAct
		Body workspaceKeyRequest
	}
	workspaceKeyRequest struct {
		Kind            string `json:"kind" enum:"account,agent"`
		Name            string `json:"name" minLength:"1" maxLength:"320" doc:"1 to 80 characters."`
		SpendLimitCents *int64 `json:"spend_limit_cents,omitempty" minimum:"0" doc:"The most that an agent key may spend in a calendar month (UTC). Without it, there is no limit."`
	}
	keyInput struct {
		Acting
		Key string `path:"key_id" maxLength:"100"`
	}
)

// keys are the routes of keys. None makes an operator key: it would outlive the key that made it.
func (s *Server) keys() []route {
	e := exampleKeys()
	return []route{
		reads(s, route{id: "listNodeKeys", path: "/admin/v1/keys", summary: "List the keys of workers"}, e.node,
			func(ctx context.Context, tx *db.Tx, _ *none) (operator.KeyList, error) {
				return operator.KeysList(ctx, tx, "")
			}),
		reads(s, route{id: "listWorkspaceKeys", path: "/admin/v1/workspaces/{workspace_id}/keys", summary: "List the keys of a workspace", codes: []fault.Code{fault.WorkspaceNotFound}}, e.workspace,
			func(ctx context.Context, tx *db.Tx, in *workspaceInput) (operator.KeyList, error) {
				return operator.KeysList(ctx, tx, in.Workspace)
			}),
		reads(s, route{id: "listOperatorKeys", path: "/admin/v1/operator-keys", summary: "List the keys of this API"}, e.operator,
			func(ctx context.Context, tx *db.Tx, _ *none) (operator.OperatorKeyList, error) {
				all, err := identity.OperatorKeys(ctx, tx)
				return operator.OperatorKeyList{OK: true, Keys: append([]identity.ListedOperatorKey{}, all...)}, err
			}),
		reads(s, route{id: "listSigningKeys", path: "/admin/v1/signing-keys", summary: "List the keys that sign receipts"}, e.signing,
			func(ctx context.Context, tx *db.Tx, _ *none) (operator.SigningKeyList, error) {
				return operator.SigningKeysList(ctx, tx)
			}),
		makes(s, route{id: "createNodeKey", path: "/admin/v1/keys", summary: "Create a key for workers", request: nodeKeyRequest{"gpu-1"}}, "node",
			func(_ context.Context, _ *db.Tx, in *nodeKeyInput, made *identity.NewKey) (operator.Act, error) {
				return operator.CreateNodeKey(in.Body.Name, made), nil
			}, func(*nodeKeyInput) string { return "node" }),
		makes(s, route{id: "createWorkspaceKey", path: "/admin/v1/workspaces/{workspace_id}/keys", summary: "Create an account key or an agent key of a workspace", request: workspaceKeyRequest{"agent", "nightly agent", new(int64(5_000))},
			codes: []fault.Code{fault.WorkspaceNotFound, fault.KeyLimitReached}}, "agent",
			func(ctx context.Context, tx *db.Tx, in *workspaceKeyInput, made *identity.NewKey) (operator.Act, error) {
				if in.Body.Kind == "account" && in.Body.SpendLimitCents != nil {
					return operator.Act{}, fault.Field("spend_limit_cents", "is only for agent keys")
				}
				return operator.CreateKey(ctx, tx, in.Workspace, in.Body.Kind, in.Body.Name, in.Body.SpendLimitCents, made)
			}, func(in *workspaceKeyInput) string { return in.Body.Kind }),
		revokes(s, route{id: "revokeKey", path: "/admin/v1/keys/{key_id}", summary: "Revoke a key of any kind at once"}, operator.RevokeKey),
		revokes(s, route{id: "revokeOperatorKey", path: "/admin/v1/operator-keys/{key_id}", summary: "Revoke a key of this API at once, and no other"}, operator.RevokeOperatorKey),
	}
}

// revokes is a route that ends a key.
func revokes(s *Server, r route, propose func(keyID string) operator.Act) route {
	r.method, r.codes = http.MethodDelete, []fault.Code{fault.KeyNotFound}
	return acts(s, r, operator.KeyRevoked{KeyID: sample.KeyID, Revoked: true},
		func(_ context.Context, _ *db.Tx, in *keyInput) (operator.Act, error) { return propose(in.Key), nil },
		func(_ context.Context, _ *db.Tx, in *keyInput) (operator.KeyRevoked, error) {
			return operator.KeyRevoked{KeyID: in.Key, Revoked: !in.DryRun}, nil
		})
}

// makes is a route that makes a key. The secret is only in the answer of the request that made
// it: repeating the request makes another key, as svc admin does.
func makes[I any, P acting[I]](
	s *Server, r route, kind string, propose func(ctx context.Context, tx *db.Tx, in *I, made *identity.NewKey) (operator.Act, error), kindOf func(in *I) string,
) route {
	r.method, r.codes = http.MethodPost, bodyCodes(append(r.codes, fault.InvalidKeyName)...)
	prefix := map[string]string{"node": contract.NodeKeyPrefix, "agent": contract.AgentKeyPrefix}[kind]
	answer := operator.MadeKey{KeyID: sample.KeyID, Kind: kind, Name: "nightly agent", Key: prefix + "…"}
	return plans[I, operator.MadeKey, P](s, r, answer, func(ctx context.Context, tx *db.Tx, in *I) (plan[operator.MadeKey], error) {
		var made identity.NewKey
		act, err := propose(ctx, tx, in, &made)
		return plan[operator.MadeKey]{act: act, show: func(context.Context, *db.Tx) (operator.MadeKey, error) {
			return operator.MadeKey{KeyID: made.KeyID, Kind: kindOf(in), Name: made.Name, Key: made.Secret}, nil
		}}, err
	})
}
