package public

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/receipt/signing"
)

// healthBody is spec 2.1.
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
		Keys []signingKey `json:"keys" doc:"The newest first."`
	}
}

// signingKey is a public key of decisions 8. Retired keys stay in the list:
// they have signed receipts that are still good.
type signingKey struct {
	KeyID        string     `json:"key_id" doc:"SHA-256 of the raw public key, in hex."`
	Algorithm    string     `json:"algorithm" enum:"ed25519"`
	PublicKeyPEM string     `json:"public_key_pem"`
	ValidFrom    time.Time  `json:"valid_from"`
	ValidTo      *time.Time `json:"valid_to" doc:"Nothing is signed with it from then on; what it has signed stays good. Null: no end is set."`
	Current      bool       `json:"current" doc:"No end is set."`
}

// discovery registers health and signing keys. Health reads the database's
// time, so it fails when the service cannot work.
func (s *Server) discovery(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "getHealth", Method: http.MethodGet, Path: "/v1/health", Tags: []string{"Discovery"},
		Summary: "Whether the service answers and reaches its database", Middlewares: huma.Middlewares{operation.KeepRequestID},
	}, func(ctx context.Context, _ *struct{}) (*healthOutput, error) {
		out := &healthOutput{Body: healthBody{OK: true, Service: contract.Service}}
		err := s.DB.Read(ctx, func(tx *db.Tx) error {
			out.Body.TS = tx.Time()
			return nil
		})
		if err != nil {
			return nil, fault.New(fault.Unavailable, "The database does not answer.").Wrap(err).After(5 * time.Second)
		}
		return out, nil
	})
	huma.Register(api, huma.Operation{
		OperationID: "listSigningKeys", Method: http.MethodGet, Path: links.SigningKeysPath, Tags: []string{"Proof"},
		Summary: "The public keys that receipts are signed with", Middlewares: huma.Middlewares{operation.KeepRequestID},
	}, s.signingKeys)
}

// signingKeys lists all keys, newest first. Caches may keep the list for five
// minutes.
func (s *Server) signingKeys(ctx context.Context, _ *struct{}) (*signingKeysOutput, error) {
	out := &signingKeysOutput{CacheControl: "public, max-age=300"}
	out.Body.OK, out.Body.Keys = true, []signingKey{}
	return out, s.DB.Read(ctx, func(tx *db.Tx) error {
		all, err := signing.All(ctx, tx)
		if err != nil {
			return err
		}
		for _, k := range all {
			text, err := k.Key.PEM()
			if err != nil {
				return err
			}
			out.Body.Keys = append(out.Body.Keys, signingKey{
				KeyID: k.Key.ID(), Algorithm: "ed25519", PublicKeyPEM: string(text),
				ValidFrom: k.ValidFrom, ValidTo: orNull(k.ValidTo), Current: k.ValidTo.IsZero(),
			})
		}
		return nil
	})
}

// orNull returns nil for the zero time.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
