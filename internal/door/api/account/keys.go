package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// apiKeyMetadata is the key metadata of spec 2.5. It never contains the secret.
type apiKeyMetadata struct {
	KeyID        string          `json:"key_id" pattern:"^key_[a-f0-9]{32}$"`
	Name         string          `json:"name" minLength:"1" maxLength:"80"`
	MaskedPrefix string          `json:"masked_prefix" doc:"The masked beginning of the key." example:"svc_1aB9xY0z…"`
	CreatedAt    time.Time       `json:"created_at"`
	LastUsedAt   *time.Time      `json:"last_used_at" doc:"Exact to a minute; null when never used."`
	RevokedAt    *time.Time      `json:"revoked_at" doc:"Null while active."`
	CreatedBy    *identity.Actor `json:"created_by" doc:"Who made the key."`
}

type apiKeyList struct {
	OK   bool             `json:"ok" enum:"true"`
	Keys []apiKeyMetadata `json:"keys" nullable:"false" doc:"The newest first, revoked ones too."`
}

type apiKeyCreateRequest struct {
	Name string `json:"name" minLength:"1" maxLength:"80" example:"render farm" doc:"What the key is called."`
}

// apiKeyCreated is a new key: the one answer with its secret.
type apiKeyCreated struct {
	OK        bool      `json:"ok" enum:"true"`
	Key       string    `json:"key" pattern:"^svc_" doc:"The secret, shown this once."`
	KeyID     string    `json:"key_id" pattern:"^key_[a-f0-9]{32}$"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
}

type apiKeyRevoked struct {
	OK      bool   `json:"ok" enum:"true"`
	KeyID   string `json:"key_id" pattern:"^key_[a-f0-9]{32}$"`
	Revoked bool   `json:"revoked" enum:"true"`
}

// agentKeyMetadata is the same for an agent key, with its spending limit in
// cents.
type agentKeyMetadata struct {
	KeyID           string          `json:"key_id" pattern:"^key_[a-f0-9]{32}$"`
	Name            string          `json:"name" minLength:"1" maxLength:"80"`
	MaskedPrefix    string          `json:"masked_prefix" doc:"The masked beginning of the key." example:"svc_agent_1aB9xY0z…"`
	SpendLimitCents *int64          `json:"spend_limit_cents" doc:"What the key may spend a calendar month (UTC); null = no limit."`
	CreatedAt       time.Time       `json:"created_at"`
	LastUsedAt      *time.Time      `json:"last_used_at" doc:"Exact to a minute; null when never used."`
	RevokedAt       *time.Time      `json:"revoked_at" doc:"Null while active."`
	SpentCents      int64           `json:"spent_cents" doc:"What the key has spent in this calendar month (UTC), as its limit counts it."`
	ExpiresAt       *time.Time      `json:"expires_at" doc:"When the key expires; null if it does not."`
	CreatedBy       *identity.Actor `json:"created_by" doc:"Who made the key, or let the program in that has it."`
}

type agentKeyList struct {
	OK   bool               `json:"ok" enum:"true"`
	Keys []agentKeyMetadata `json:"keys" nullable:"false" doc:"The newest first, revoked ones too."`
}

type agentKeyCreateRequest struct {
	Name            string `json:"name" minLength:"1" maxLength:"80" example:"nightly agent" doc:"What the key is called."`
	SpendLimitCents *int64 `json:"spend_limit_cents,omitempty" nullable:"true" minimum:"0" example:"500" doc:"What the key may spend a calendar month (UTC); none or null = no limit."`
	ExpiresInDays   *int64 `json:"expires_in_days,omitempty" nullable:"true" minimum:"1" maximum:"3650" example:"90" doc:"After how many days the key ends; none or null = when it is revoked."`
	Test            bool   `json:"test,omitempty" doc:"Makes a key of test mode, svc_agent_test_…: nothing is rendered, and nobody pays."`
}

type agentKeyCreated struct {
	OK              bool       `json:"ok" enum:"true"`
	Key             string     `json:"key" pattern:"^svc_agent_" doc:"The secret, shown this once."`
	KeyID           string     `json:"key_id" pattern:"^key_[a-f0-9]{32}$"`
	Name            string     `json:"name"`
	SpendLimitCents *int64     `json:"spend_limit_cents" doc:"Null = no limit."`
	CreatedAt       time.Time  `json:"created_at"`
	ExpiresAt       *time.Time `json:"expires_at" doc:"When the key expires; null if it does not."`
}

type createAPIKeyInput struct{ Body apiKeyCreateRequest }

type createAgentKeyInput struct{ Body agentKeyCreateRequest }

// keyInput names a key. A malformed id is a key that does not exist (see
// operation.specialErrors).
type keyInput struct {
	KeyID string `path:"key_id" pattern:"^key_[a-f0-9]{32}$"`
}

// keys registers the management of keys (spec 2.5). Only a session makes keys, because a key
// that makes others would survive its revocation. An account key may list and revoke agent
// keys.
func (s *Server) keys(api huma.API) {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{"Keys"}, Summary: summary, MaxBodyBytes: contract.MaxJSONBodyBytes,
			Security:    []map[string][]string{{operation.SessionScheme: {}}},
			Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.Session()},
		}
	}
	agents := func(id, method, path, summary string) huma.Operation {
		o := op(id, method, path, summary)
		o.Security = []map[string][]string{{operation.AccountScheme: {}}, {operation.SessionScheme: {}}}
		o.Middlewares = huma.Middlewares{operation.KeepRequestID, s.Guard.AccountKeyOrSession()}
		return o
	}
	created := func(o huma.Operation) huma.Operation {
		o.DefaultStatus = http.StatusCreated
		return o
	}
	huma.Register(api, op("listApiKeys", http.MethodGet, "/v1/api-keys", "List the account keys"), s.listAPIKeys)
	huma.Register(api, created(op("createApiKey", http.MethodPost, "/v1/api-keys", "Make an account key; its secret is shown once")), s.createAPIKey)
	huma.Register(api, op("revokeApiKey", http.MethodDelete, "/v1/api-keys/{key_id}", "Revoke an account key at once"),
		s.revoke(identity.RevokeAccountKey))
	huma.Register(api, agents("listAgentKeys", http.MethodGet, "/v1/agent-keys", "List the agent keys"), s.listAgentKeys)
	huma.Register(api, created(op("createAgentKey", http.MethodPost, "/v1/agent-keys", "Make an agent key; its secret is shown once")), s.createAgentKey)
	huma.Register(api, agents("revokeAgentKey", http.MethodDelete, "/v1/agent-keys/{key_id}", "Revoke an agent key at once"),
		s.revoke(identity.RevokeAgentKey))
}

// listed reads the keys of the caller's workspace; of selects their kind.
func (s *Server) listed(ctx context.Context, of func(context.Context, *db.Tx, string) ([]identity.Key, error)) (keys []identity.Key, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		keys, err = of(ctx, tx, operation.Caller(ctx).WorkspaceID)
		return err
	})
	return keys, err
}

// listAPIKeys lists the account keys, revoked ones too.
func (s *Server) listAPIKeys(ctx context.Context, _ *struct{}) (*operation.Private[apiKeyList], error) {
	keys, err := s.listed(ctx, identity.AccountKeys)
	list := apiKeyList{OK: true, Keys: make([]apiKeyMetadata, len(keys))}
	for i, k := range keys {
		list.Keys[i] = apiKeyMetadata{k.KeyID, k.Name, k.MaskedPrefix, k.CreatedAt, k.LastUsedAt, k.RevokedAt, k.CreatedBy}
	}
	return operation.NoStore(list, err)
}

// listAgentKeys lists the agent keys, revoked ones too.
func (s *Server) listAgentKeys(ctx context.Context, _ *struct{}) (*operation.Private[agentKeyList], error) {
	keys, err := s.listed(ctx, identity.AgentKeys)
	list := agentKeyList{OK: true, Keys: make([]agentKeyMetadata, len(keys))}
	for i, k := range keys {
		list.Keys[i] = agentKeyMetadata{k.KeyID, k.Name, k.MaskedPrefix, k.SpendLimitCents, k.CreatedAt, k.LastUsedAt, k.RevokedAt, k.SpentCents, k.ExpiresAt, k.CreatedBy}
	}
	return operation.NoStore(list, err)
}

// mayBeMade refuses keys of test mode where there is none. Error: wrong_mode.
func (s *Server) mayBeMade(test bool) error {
	if test && !s.TestMode {
		return fault.New(fault.WrongMode, "This service has no test mode.")
	}
	return nil
}

// createAPIKey creates an account key. Errors: invalid_key_name,
// key_limit_reached.
func (s *Server) createAPIKey(ctx context.Context, in *createAPIKeyInput) (*operation.Private[apiKeyCreated], error) {
	var made identity.NewKey
	err := s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		made, err = identity.CreateOwnAccountKey(ctx, tx, operation.Caller(ctx), in.Body.Name, false)
		return err
	})
	return operation.NoStore(apiKeyCreated{true, made.Secret, made.KeyID, made.Name, made.CreatedAt}, err)
}

// createAgentKey creates an agent key. Errors: invalid_key_name,
// key_limit_reached, wrong_mode.
func (s *Server) createAgentKey(ctx context.Context, in *createAgentKeyInput) (*operation.Private[agentKeyCreated], error) {
	terms := identity.AgentTerms{Name: in.Body.Name, SpendLimitCents: in.Body.SpendLimitCents, Test: in.Body.Test, MadeBy: operation.Caller(ctx).Credential.PersonID}
	if days := in.Body.ExpiresInDays; days != nil {
		terms.Life = time.Duration(*days) * 24 * time.Hour
	}
	var made identity.NewKey
	err := s.mayBeMade(terms.Test)
	if err == nil {
		err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
			made, err = identity.CreateAgentKey(ctx, tx, operation.Caller(ctx).WorkspaceID, terms)
			return err
		})
	}
	return operation.NoStore(agentKeyCreated{true, made.Secret, made.KeyID, made.Name, terms.SpendLimitCents, made.CreatedAt, made.ExpiresAt}, err)
}

// revoke ends a key of the caller's workspace; by selects its kind, so that an
// account key cannot be revoked as an agent key. Errors: key_not_found.
func (s *Server) revoke(by func(ctx context.Context, tx *db.Tx, workspaceID, keyID string) error) func(context.Context, *keyInput) (*operation.Private[apiKeyRevoked], error) {
	return func(ctx context.Context, in *keyInput) (*operation.Private[apiKeyRevoked], error) {
		err := s.DB.Write(ctx, func(tx *db.Tx) error { return by(ctx, tx, operation.Caller(ctx).WorkspaceID, in.KeyID) })
		return operation.NoStore(apiKeyRevoked{true, in.KeyID, true}, err)
	}
}
