package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/contract"
	"svc.example/internal/db"
	"svc.example/internal/fault"
)

type healthBody struct {
	OK      bool      `json:"ok" enum:"true"`
	Service string    `json:"service"`
	TS      time.Time `json:"ts" doc:"The server's time."`
}

type healthOutput struct{ Body healthBody }

type signingKeysOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		OK   bool         `json:"ok" enum:"true"`
		Keys []signingKey `json:"keys" doc:"The current key first."`
	}
}

type signingKey struct {
	KeyID        string  `json:"key_id" doc:"SHA-256 of the raw public key, in hex."`
	Algorithm    string  `json:"algorithm" enum:"ed25519"`
	PublicKeyPEM string  `json:"public_key_pem"`
	ValidFrom    string  `json:"valid_from" format:"date-time"`
	ValidTo      *string `json:"valid_to" format:"date-time"`
	Current      bool    `json:"current"`
}

// discovery registers the public routes that need no credential.
func (s *server) discovery(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "getHealth", Method: http.MethodGet, Path: "/v1/health", Tags: []string{"Discovery"},
		Summary: "Whether the service answers and reaches its database", Errors: []int{503}, Middlewares: huma.Middlewares{noted},
	}, handled(s, func(ctx context.Context, _ *struct{}) (*healthOutput, error) {
		out := &healthOutput{Body: healthBody{OK: true, Service: contract.Service}}
		err := s.DB.Read(ctx, func(tx *db.Tx) error {
			out.Body.TS = tx.Time()
			return nil
		})
		if err != nil {
			return nil, fault.New(fault.Unavailable, "The database does not answer.").Because(err).After(5 * time.Second)
		}
		return out, nil
	}))
	huma.Register(api, huma.Operation{
		OperationID: "listSigningKeys", Method: http.MethodGet, Path: "/v1/signing-keys", Tags: []string{"Proof"},
		Summary: "The public keys that receipts are signed with", Middlewares: huma.Middlewares{noted},
	}, handled(s, func(context.Context, *struct{}) (*signingKeysOutput, error) {
		out := &signingKeysOutput{CacheControl: "public, max-age=300"}
		out.Body.OK = true
		for i, k := range s.Keys {
			text, err := k.Key.PEM()
			if err != nil {
				return nil, err
			}
			out.Body.Keys = append(out.Body.Keys, signingKey{
				KeyID: k.Key.ID(), Algorithm: "ed25519", PublicKeyPEM: string(text), ValidFrom: k.ValidFrom, Current: i == 0,
			})
		}
		return out, nil
	}))
}
