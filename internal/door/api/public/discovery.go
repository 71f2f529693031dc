package public

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
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
	// EndReason and what follows say where in the log the key ended (decisions 22).
	EndReason     *string `json:"end_reason" enum:"superseded,compromised" doc:"Why its end is set. Compromised: somebody else may have it, and no checkpoint that it signed counts. Null: no end is set."`
	EndLogSize    *int64  `json:"end_log_size" doc:"Leaves of the log when it ended: a receipt that it signed is good as an earlier leaf only. Null: it has not ended, or less than a minute ago."`
	EndCheckpoint *string `json:"end_checkpoint" doc:"The log's checkpoint of that moment, signed by the key that signs now. Null with end_log_size."`
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
	out.Body.OK = true
	return out, s.DB.Read(ctx, func(tx *db.Tx) error {
		all, err := signing.All(ctx, tx)
		if err != nil {
			return err
		}
		out.Body.Keys = []signingKey{}
		for _, k := range all {
			shown, err := s.shownKey(ctx, tx, k)
			if err != nil {
				return err
			}
			out.Body.Keys = append(out.Body.Keys, shown)
		}
		return nil
	})
}

// shownKey is a key with its end. A process that cannot sign leaves out the checkpoint.
func (s *Server) shownKey(ctx context.Context, tx *db.Tx, k signing.Published) (signingKey, error) {
	text, err := k.Key.PEM()
	if err != nil {
		return signingKey{}, err
	}
	shown := signingKey{
		KeyID: k.Key.ID(), Algorithm: "ed25519", PublicKeyPEM: string(text), ValidFrom: k.ValidFrom, ValidTo: orNull(k.ValidTo), Current: k.ValidTo.IsZero(),
		EndReason: k.WhyEnded(), EndLogSize: k.LogSizeAtEnd(),
	}
	if shown.EndLogSize == nil {
		return shown, nil
	}
	key, err := s.Jobs.Keys.Current(ctx, tx)
	if errors.Is(err, signing.ErrNoKey) {
		return shown, nil
	}
	if err != nil {
		return shown, err
	}
	head, err := receiptlog.HeadAt(ctx, tx, *shown.EndLogSize)
	if err != nil {
		return shown, err
	}
	checkpoint, err := receipt.SignCheckpoint(head, key)
	shown.EndCheckpoint = new(string(checkpoint))
	return shown, err
}

// orNull returns nil for the zero time.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
