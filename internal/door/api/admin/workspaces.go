package admin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/door/api/sample"
	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/wallet"
)

// Inputs of acts on workspaces.
type (
	// WorkspaceAct names a workspace. It is exported, because huma reads only such embedded
	// types.
	WorkspaceAct struct {
		Acting
		Workspace string `path:"workspace_id" maxLength:"100"`
	}
	freezeInput struct {
		WorkspaceAct
		Body reasonRequest
	}
	retentionInput struct {
		WorkspaceAct
		Body retentionRequest
	}
	retentionRequest struct {
		Days int `json:"days" minimum:"0" maximum:"365" doc:"Days after a job's completion; 0 for the setting of the service."`
	}
	spendingInput struct {
		WorkspaceAct
		Body spendingRequest
	}
	spendingRequest struct {
		DailyCents int64 `json:"daily_cents" minimum:"0" doc:"The most that its jobs may cost in a calendar day (UTC); 0 for no limit."`
	}
	tagsInput struct {
		WorkspaceAct
		Body requiredTags
	}
	requiredTags struct {
		Tags []string `json:"tags" maxItems:"100" doc:"All tags that a worker must have to render for it; none for any worker."`
	}
	proofInput struct {
		WorkspaceAct
		Body proofRequest
	}
	proofRequest struct {
		On bool `json:"on" doc:"True publishes the pages for anyone who knows a receipt's id; false hides them."`
	}
	framesInput struct {
		WorkspaceAct
		Body framesRequest
	}
	framesRequest struct {
		AtOnce int64 `json:"frames_at_once" minimum:"0" doc:"The most frames of it that workers render at the same time; 0 for no limit."`
	}
	createInput struct{ Body createRequest }

	createRequest struct {
		Email       string `json:"email" minLength:"3" maxLength:"254" doc:"E-mail address of the workspace's owner."`
		CreditCents int64  `json:"credit_cents,omitempty" minimum:"0" doc:"Opening balance."`
	}
)

// workspaceActs are the routes that act on workspaces.
func (s *Server) workspaceActs() []route {
	put := func(id, path, summary string, example any) route {
		return route{id: id, method: http.MethodPut, path: "/admin/v1/workspaces/{workspace_id}" + path, summary: summary, request: example, codes: bodyCodes(fault.WorkspaceNotFound)}
	}
	after := operator.WorkspaceActed{WorkspaceID: sample.WorkspaceID, Tags: []string{}}
	frozen := after
	frozen.Frozen = true
	show := func(ctx context.Context, tx *db.Tx, in *WorkspaceAct) (operator.WorkspaceActed, error) {
		return operator.WorkspaceAfter(ctx, tx, in.Workspace)
	}
	return []route{
		s.createWorkspace(), s.proofPages(),
		acts(s, put("freezeWorkspace", "/freeze", "Stop a workspace from starting jobs; running jobs continue", reasonRequest{"payment of invoice 17 failed"}), frozen,
			func(ctx context.Context, tx *db.Tx, in *freezeInput) (operator.Act, error) {
				return operator.FreezeWorkspace(ctx, tx, in.Workspace, in.Body.Reason)
			}, func(ctx context.Context, tx *db.Tx, in *freezeInput) (operator.WorkspaceActed, error) {
				return show(ctx, tx, &in.WorkspaceAct)
			}),
		acts(s, route{id: "unfreezeWorkspace", method: http.MethodDelete, path: "/admin/v1/workspaces/{workspace_id}/freeze", summary: "Let a frozen workspace start jobs again", codes: []fault.Code{fault.WorkspaceNotFound}}, after,
			func(ctx context.Context, tx *db.Tx, in *WorkspaceAct) (operator.Act, error) {
				return operator.UnfreezeWorkspace(ctx, tx, in.Workspace)
			}, show),
		acts(s, put("setRetention", "/retention", "Set for how many days the ZIPs of a workspace are kept", retentionRequest{90}), after,
			func(ctx context.Context, tx *db.Tx, in *retentionInput) (operator.Act, error) {
				return operator.KeepArtifacts(ctx, tx, in.Workspace, in.Body.Days)
			}, func(ctx context.Context, tx *db.Tx, in *retentionInput) (operator.WorkspaceActed, error) {
				return show(ctx, tx, &in.WorkspaceAct)
			}),
		acts(s, put("setSpendingLimit", "/limit", "Set what a workspace may spend in a day", spendingRequest{5_000}), after,
			func(ctx context.Context, tx *db.Tx, in *spendingInput) (operator.Act, error) {
				return operator.LimitSpending(ctx, tx, in.Workspace, in.Body.DailyCents)
			}, func(ctx context.Context, tx *db.Tx, in *spendingInput) (operator.WorkspaceActed, error) {
				return show(ctx, tx, &in.WorkspaceAct)
			}),
		acts(s, put("setRequiredTags", "/tags", "Have only workers with some tags render for a workspace", requiredTags{[]string{"gpu"}}), after,
			func(ctx context.Context, tx *db.Tx, in *tagsInput) (operator.Act, error) {
				return operator.RequireTags(ctx, tx, in.Workspace, in.Body.Tags)
			}, func(ctx context.Context, tx *db.Tx, in *tagsInput) (operator.WorkspaceActed, error) {
				return show(ctx, tx, &in.WorkspaceAct)
			}),
		acts(s, put("setFramesAtOnce", "/frames", "Set how many frames of a workspace are rendered at the same time", framesRequest{8}), after,
			func(ctx context.Context, tx *db.Tx, in *framesInput) (operator.Act, error) {
				return operator.LimitFrames(ctx, tx, in.Workspace, in.Body.AtOnce)
			}, func(ctx context.Context, tx *db.Tx, in *framesInput) (operator.WorkspaceActed, error) {
				return show(ctx, tx, &in.WorkspaceAct)
			}),
	}
}

// proofPages is the route that publishes or hides proof pages.
func (s *Server) proofPages() route {
	r := route{
		id: "publishProofs", method: http.MethodPut, path: "/admin/v1/workspaces/{workspace_id}/proof-page", summary: "Publish or hide the proof pages of a workspace's receipts",
		request: proofRequest{true}, codes: bodyCodes(fault.WorkspaceNotFound),
	}
	return acts(s, r, operator.WorkspaceActed{WorkspaceID: sample.WorkspaceID, Tags: []string{}, ProofPage: true},
		func(_ context.Context, _ *db.Tx, in *proofInput) (operator.Act, error) {
			return operator.PublishProofs(in.Workspace, in.Body.On), nil
		}, func(ctx context.Context, tx *db.Tx, in *proofInput) (operator.WorkspaceActed, error) {
			return operator.WorkspaceAfter(ctx, tx, in.Workspace)
		})
}

// createWorkspace is the route that makes a workspace. Repeating it changes nothing, because
// an address has one workspace.
func (s *Server) createWorkspace() route {
	r := route{
		id: "createWorkspace", method: http.MethodPost, path: "/admin/v1/workspaces", summary: "Create a workspace with an account key and an agent key", scope: identity.OperatorWrites,
		codes: bodyCodes(fault.InsufficientScope), request: createRequest{Email: "you@example.com", CreditCents: 10_000},
		answer: operator.MadeWorkspace{
			OK: true, WorkspaceID: sample.WorkspaceID, AccountKey: contract.AccountKeyPrefix + "…", AgentKey: contract.AgentKeyPrefix + "…", CreditCents: 10_000, Created: true,
		},
	}
	r.register = func(api huma.API, op huma.Operation) {
		huma.Register(api, op, func(ctx context.Context, in *createInput) (*operation.Private[operator.MadeWorkspace], error) {
			by, err := operator.Key(caller(ctx))
			if err != nil {
				return nil, err
			}
			var made operator.MadeWorkspace
			err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
				made, err = operator.CreateWorkspace(ctx, tx, by, in.Body.Email, in.Body.CreditCents)
				return err
			})
			return operation.NoStore(made, err)
		})
	}
	return r
}

// Move is what every route takes that moves money.
type Move struct {
	Acting
	Key  string `header:"Idempotency-Key" required:"true" minLength:"1" maxLength:"255" doc:"Any text of yours. Repeating the request with it for 24 hours moves no more money, and answers as the first time."`
	Body moveRequest
}

type (
	moveRequest struct {
		Cents     int64  `json:"cents" minimum:"1" doc:"Amount, in cents."`
		Reference string `json:"reference,omitempty" maxLength:"200" doc:"Reference of the entry, such as an invoice number. A reference moves money once, at any time."`
	}
	creditInput struct {
		Move
		Workspace string `path:"workspace_id" maxLength:"100"`
	}
	refundInput struct {
		Move
		Job string `path:"job_id" maxLength:"100"`
	}
)

// moneyActs are the routes that move money.
func (s *Server) moneyActs() []route {
	return []route{
		moves(s, route{id: "creditWorkspace", path: "/admin/v1/workspaces/{workspace_id}/credit", summary: "Add money to a workspace's wallet", codes: []fault.Code{fault.WorkspaceNotFound}},
			func(in *creditInput) (*Move, string) { return &in.Move, in.Workspace },
			func(ctx context.Context, tx *db.Tx, in *creditInput, reference string) (operator.Act, error) {
				return operator.Credit(ctx, tx, in.Workspace, reference, in.Body.Cents)
			}),
		moves(s, route{id: "refundJob", path: "/admin/v1/jobs/{job_id}/refund", summary: "Return money of a completed job to its workspace", codes: []fault.Code{fault.RenderNotFound}},
			func(in *refundInput) (*Move, string) { return &in.Move, in.Job },
			func(ctx context.Context, tx *db.Tx, in *refundInput, reference string) (operator.Act, error) {
				return operator.Refund(ctx, tx, in.Job, reference, in.Body.Cents)
			}),
	}
}

// moved is the answer of a route that moves money.
type moved struct {
	CacheControl string `header:"Cache-Control"`
	Replayed     string `header:"Idempotency-Replayed" doc:"true for the answer of an earlier request with the same key."`
	Body         operator.WalletActed
}

// moves is a route that moves money once for an Idempotency-Key: its answer is kept in the
// transaction of the money. of gives what is common to such requests, and what the path names.
func moves[I any](s *Server, r route, of func(*I) (*Move, string), propose func(ctx context.Context, tx *db.Tx, in *I, reference string) (operator.Act, error)) route {
	r.method, r.scope, r.request = http.MethodPost, identity.OperatorWrites, moveRequest{Cents: 10_000, Reference: "invoice 17"}
	r.codes = append(bodyCodes(r.codes...), fault.InsufficientScope, fault.IdempotencyKeyReused, fault.IdempotencyInProgress)
	r.answer = operator.WalletActed{Acted: operator.Acted{OK: true, What: r.what(), Done: true}, WorkspaceID: sample.WorkspaceID, AvailableCents: 19_750, ReservedCents: sample.Frames}
	r.register = func(api huma.API, op huma.Operation) {
		huma.Register(api, op, func(ctx context.Context, in *I) (*moved, error) {
			by, err := operator.Key(caller(ctx))
			if err != nil {
				return nil, err
			}
			move, subject := of(in)
			reference := move.Body.Reference
			if reference == "" {
				reference = wallet.NewReference()
			}
			out := &moved{CacheControl: "no-store"}
			answer := func(tx *db.Tx, done bool) error {
				act, err := propose(ctx, tx, in, reference)
				if err == nil && done {
					err = act.Perform(ctx, tx, by)
				}
				if err == nil {
					out.Body, err = operator.WalletAfter(ctx, tx, act.WorkspaceID)
				}
				out.Body.Set(act, done)
				return err
			}
			// Read first what the act would do: an answer is kept only of a workspace that exists.
			if err := s.DB.Read(ctx, func(tx *db.Tx) error { return answer(tx, false) }); err != nil || move.DryRun {
				return out, err
			}
			return out, s.once(ctx, op.OperationID, subject, move, out, func(tx *db.Tx) error { return answer(tx, true) })
		})
	}
	return r
}

// once runs do and keeps its answer under the Idempotency-Key, or finds the answer that the key
// has. Errors: those of do, idempotency_key_reused, idempotency_in_progress.
func (s *Server) once(ctx context.Context, route, subject string, move *Move, out *moved, do func(tx *db.Tx) error) (err error) {
	if !front.IsText(move.Key) {
		return fault.Field("header."+operation.IdempotencyKey, "is not valid UTF-8")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", subject, move.Body.Cents, move.Body.Reference))
	hold, kept, err := idempotency.Begin(ctx, s.DB, idempotency.Request{
		WorkspaceID: out.Body.WorkspaceID, Route: "admin " + route, Key: caller(ctx).KeyID + " " + move.Key, Fingerprint: hex.EncodeToString(sum[:]),
	})
	if err != nil {
		return err
	}
	if kept != nil {
		out.Replayed = "true"
		return json.Unmarshal(kept.Body, &out.Body)
	}
	defer func() { err = errors.Join(err, hold.Release(ctx)) }()
	return s.DB.Write(ctx, func(tx *db.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		var body bytes.Buffer
		if err := operation.Marshal(&body, out.Body); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
		return hold.Finish(ctx, tx, idempotency.Answer{Status: http.StatusOK, Body: body.Bytes()})
	})
}
