package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// apiKeyMetadata is ApiKeyMetadata of spec 2.5.
type apiKeyMetadata struct {
	KeyID        string     `json:"key_id" pattern:"^key_[a-f0-9]{32}$"`
	Name         string     `json:"name" minLength:"1" maxLength:"80"`
	MaskedPrefix string     `json:"masked_prefix" doc:"The masked beginning of the key." example:"svc_1aB9xY0z…"`
	CreatedAt    time.Time  `json:"created_at"`
	LastUsedAt   *time.Time `json:"last_used_at" doc:"Exact to a minute; null when never used."`
	RevokedAt    *time.Time `json:"revoked_at" doc:"Null while active."`
}

type apiKeyList struct {
	OK   bool             `json:"ok" enum:"true"`
	Keys []apiKeyMetadata `json:"keys" nullable:"false" doc:"The newest first, revoked ones too."`
}

type apiKeyCreateRequest struct {
	Name string `json:"name" minLength:"1" maxLength:"80" example:"render farm" doc:"What the key is called."`
}

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

type agentKeyMetadata struct {
	KeyID           string     `json:"key_id" pattern:"^key_[a-f0-9]{32}$"`
	Name            string     `json:"name" minLength:"1" maxLength:"80"`
	MaskedPrefix    string     `json:"masked_prefix" doc:"The masked beginning of the key." example:"svc_agent_1aB9xY0z…"`
	SpendLimitCents *int64     `json:"spend_limit_cents" doc:"What the key may spend a calendar month (UTC); null = no limit."`
	CreatedAt       time.Time  `json:"created_at"`
	LastUsedAt      *time.Time `json:"last_used_at" doc:"Exact to a minute; null when never used."`
	RevokedAt       *time.Time `json:"revoked_at" doc:"Null while active."`
}

type agentKeyList struct {
	OK   bool               `json:"ok" enum:"true"`
	Keys []agentKeyMetadata `json:"keys" nullable:"false" doc:"The newest first, revoked ones too."`
}

type agentKeyCreateRequest struct {
	Name            string `json:"name" minLength:"1" maxLength:"80" example:"nightly agent" doc:"What the key is called."`
	SpendLimitCents *int64 `json:"spend_limit_cents,omitempty" nullable:"true" minimum:"0" example:"500" doc:"What the key may spend a calendar month (UTC); none or null = no limit."`
}

type agentKeyCreated struct {
	OK              bool      `json:"ok" enum:"true"`
	Key             string    `json:"key" pattern:"^svc_agent_" doc:"The secret, shown this once."`
	KeyID           string    `json:"key_id" pattern:"^key_[a-f0-9]{32}$"`
	Name            string    `json:"name"`
	SpendLimitCents *int64    `json:"spend_limit_cents" doc:"Null = no limit."`
	CreatedAt       time.Time `json:"created_at"`
}

// private is an answer that no cache may keep: it shows keys.
type private[B any] struct {
	CacheControl string `header:"Cache-Control"`
	Body         B
}

func noStore[B any](body B, err error) (*private[B], error) {
	return &private[B]{"no-store", body}, err
}

type createAPIKeyInput struct{ Body apiKeyCreateRequest }

type createAgentKeyInput struct{ Body agentKeyCreateRequest }

type keyInput struct {
	KeyID string `path:"key_id" pattern:"^key_[a-f0-9]{32}$"`
}

// What the schema finds wrong, in the words of spec 4.1.
var (
	badKeyName = fault.New(fault.InvalidKeyName, "A key's name has 1 to %d characters.", contract.MaxKeyName)
	noSuchKey  = fault.New(fault.KeyNotFound, "There is no such key: a key_id is key_ and 32 hexadecimal digits.")
)

// keys registers the management of keys, which only a person in a browser may
// do: a key that leaks cannot make others (spec 5).
func (s *server) keys(api huma.API) {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{"Keys"}, Summary: summary, MaxBodyBytes: contract.MaxJSONBodyBytes,
			Security:    []map[string][]string{{sessionScheme: {}}},
			Middlewares: huma.Middlewares{noted, s.sessionOnly()},
		}
	}
	create := func(id, path, summary string) huma.Operation {
		o := op(id, http.MethodPost, path, summary)
		o.DefaultStatus = http.StatusCreated
		return o
	}
	huma.Register(api, op("listApiKeys", http.MethodGet, "/v1/api-keys", "List the account keys"), s.listAPIKeys)
	huma.Register(api, create("createApiKey", "/v1/api-keys", "Make an account key; its secret is shown once"), s.createAPIKey)
	huma.Register(api, op("revokeApiKey", http.MethodDelete, "/v1/api-keys/{key_id}", "Revoke an account key at once"),
		s.revoke(identity.RevokeAccountKey))
	huma.Register(api, op("listAgentKeys", http.MethodGet, "/v1/agent-keys", "List the agent keys"), s.listAgentKeys)
	huma.Register(api, create("createAgentKey", "/v1/agent-keys", "Make an agent key; its secret is shown once"), s.createAgentKey)
	huma.Register(api, op("revokeAgentKey", http.MethodDelete, "/v1/agent-keys/{key_id}", "Revoke an agent key at once"),
		s.revoke(identity.RevokeAgentKey))
}

// listed reads the keys of the caller's workspace: of says of which kind.
func (s *server) listed(ctx context.Context, of func(context.Context, *db.Tx, string) ([]identity.Key, error)) (keys []identity.Key, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		keys, err = of(ctx, tx, callerOf(ctx).WorkspaceID)
		return err
	})
	return keys, err
}

func (s *server) listAPIKeys(ctx context.Context, _ *struct{}) (*private[apiKeyList], error) {
	keys, err := s.listed(ctx, identity.AccountKeys)
	list := apiKeyList{OK: true, Keys: make([]apiKeyMetadata, len(keys))}
	for i, k := range keys {
		list.Keys[i] = apiKeyMetadata{k.KeyID, k.Name, k.MaskedPrefix, k.CreatedAt, k.LastUsedAt, k.RevokedAt}
	}
	return noStore(list, err)
}

func (s *server) listAgentKeys(ctx context.Context, _ *struct{}) (*private[agentKeyList], error) {
	keys, err := s.listed(ctx, identity.AgentKeys)
	list := agentKeyList{OK: true, Keys: make([]agentKeyMetadata, len(keys))}
	for i, k := range keys {
		list.Keys[i] = agentKeyMetadata{k.KeyID, k.Name, k.MaskedPrefix, k.SpendLimitCents, k.CreatedAt, k.LastUsedAt, k.RevokedAt}
	}
	return noStore(list, err)
}

func (s *server) createAPIKey(ctx context.Context, in *createAPIKeyInput) (*private[apiKeyCreated], error) {
	var made identity.NewKey
	err := s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		made, err = identity.CreateAccountKey(ctx, tx, callerOf(ctx).WorkspaceID, in.Body.Name)
		return err
	})
	return noStore(apiKeyCreated{true, made.Secret, made.KeyID, made.Name, made.CreatedAt}, err)
}

func (s *server) createAgentKey(ctx context.Context, in *createAgentKeyInput) (*private[agentKeyCreated], error) {
	limit := in.Body.SpendLimitCents
	var made identity.NewKey
	err := s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		made, err = identity.CreateAgentKey(ctx, tx, callerOf(ctx).WorkspaceID, in.Body.Name, limit)
		return err
	})
	return noStore(agentKeyCreated{true, made.Secret, made.KeyID, made.Name, limit, made.CreatedAt}, err)
}

// revoke ends a key of the caller's workspace: by says of which kind.
func (s *server) revoke(by func(ctx context.Context, tx *db.Tx, workspaceID, keyID string) error) func(context.Context, *keyInput) (*private[apiKeyRevoked], error) {
	return func(ctx context.Context, in *keyInput) (*private[apiKeyRevoked], error) {
		err := s.DB.Write(ctx, func(tx *db.Tx) error { return by(ctx, tx, callerOf(ctx).WorkspaceID, in.KeyID) })
		return noStore(apiKeyRevoked{true, in.KeyID, true}, err)
	}
}
