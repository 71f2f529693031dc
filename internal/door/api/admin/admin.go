// Package admin is the HTTP API for operators, below /admin/v1: what svc admin does, for
// programs on other machines. It has keys and an OpenAPI document of its own.
//
// What always holds: every route is a row of Server.table, which says what scope its key
// needs, and from which the document and the test's walk are made. A route that changes
// something performs an operator.Act, as svc admin and the operators' pages do, and its
// record names the key. An operator key opens nothing else, and nothing else opens these
// routes.
//
// Package operator decides. Start reading at Server.table.
package admin

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/document"
	"svc.example/internal/door/api/operation"
	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/payment"
)

// keyScheme names the operator key in the document.
const keyScheme = "operatorKey"

// Server serves the operators' API. It is safe for concurrent use. For Document alone,
// nothing is needed.
type Server struct {
	DB        *db.DB
	Jobs      *job.Jobs
	PublicURL string
	Errors    *front.Errors
	// Erase makes the act that erases a workspace.
	Erase func(ctx context.Context, tx *db.Tx, workspaceID string) (Erasure, error)
	// Reconcile compares the payment provider's pages of a time with the store.
	Reconcile func(ctx context.Context, since, until time.Time) (payment.Reconciled, error)
	// WorldSize is what the test world of a workspace takes, in bytes.
	WorldSize func(ctx context.Context, workspaceID string) (int64, error)
}

// Routes adds the routes to mux, and returns what makes their OpenAPI document.
func (s *Server) Routes(mux *http.ServeMux) (openAPI func() []byte) {
	api := huma.NewAPI(s.config(), operation.NewAdapter(mux, s.Errors))
	examples := document.Examples{Bodies: map[string]any{}, Operations: map[string]document.Example{}}
	for _, r := range s.table() {
		examples.Operations[r.id] = document.Example{Request: r.request, Answer: r.answer}
		r.register(api, s.operation(r))
	}
	served := document.FinishOwn(api.OpenAPI(), examples)
	mux.Handle("GET "+documentPath, served)
	return served.Text
}

// documentPath is where the document is. It says nothing about a service, and takes no key.
const documentPath = "/admin/v1/openapi.json"

// Document returns the OpenAPI document of a service at publicURL, without a running service.
func Document(publicURL string) []byte {
	return (&Server{PublicURL: publicURL}).Routes(http.NewServeMux())()
}

// config is huma's configuration, with nothing that it would add automatically.
func (s *Server) config() huma.Config {
	c := huma.DefaultConfig("svc: the API for operators", contract.OpenAPIVersion)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath, c.CreateHooks = "", "", "", nil
	c.Formats = map[string]huma.Format{"application/json": operation.JSON(), "json": operation.JSON()}
	c.NoFormatFallback = false
	c.RejectUnknownQueryParameters = true // a mistyped dry_run would act
	c.Info.Description = "What svc admin does, for programs on other machines. Every answer is what svc admin prints with --json. " +
		"Keys begin with " + contract.OperatorKeyPrefix + "; svc admin operator-key create makes them."
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.Servers = []*huma.Server{{URL: cmp.Or(s.PublicURL, "https://svc.example")}}
	c.Tags = []*huma.Tag{
		{Name: readTag, Description: "Needs a key with the scope read or write."},
		{Name: actTag, Description: "Needs a key with the scope write. Each act is recorded with the id of the key."},
	}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", document.SchemaName)
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		keyScheme: {Type: "http", Scheme: "bearer", Description: "Operator key, " + contract.OperatorKeyPrefix + "…"},
	}
	return c
}

// route is a row of the table.
type route struct {
	id, method, path, summary string
	scope                     identity.OperatorScope
	codes                     []fault.Code // besides those of every route
	request, answer           any          // examples
	register                  func(api huma.API, op huma.Operation)
}

// with adds the example of a request.
func (r route) with(request any) route {
	r.request = request
	return r
}

// Groups of routes.
const (
	readTag = "Read"
	actTag  = "Act"
)

// operation describes a route.
func (s *Server) operation(r route) huma.Operation {
	tag := readTag
	if r.scope == identity.OperatorWrites {
		tag = actTag
	}
	return huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary, Tags: []string{tag}, MaxBodyBytes: contract.MaxJSONBodyBytes,
		Security:    []map[string][]string{{keyScheme: {string(r.scope)}}},
		Metadata:    map[string]any{document.Codes: append([]fault.Code{fault.Unauthenticated, fault.InvalidRequest}, r.codes...)},
		Middlewares: huma.Middlewares{operation.KeepRequestID, s.admit(r.scope)},
	}
}

// callerKey finds the operator key of a request in its context.
type callerKey struct{}

// caller is the operator key of a request.
func caller(ctx context.Context) identity.OperatorKey {
	return ctx.Value(callerKey{}).(identity.OperatorKey)
}

// admit refuses requests without an operator key of the scope, before their bodies are read.
// Errors: unauthenticated, insufficient_scope.
func (s *Server) admit(scope identity.OperatorScope) operation.Middleware {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		key, err := identity.AuthenticateOperator(r.Context(), s.DB, r.Header.Get("Authorization"))
		if err == nil && scope == identity.OperatorWrites {
			_, err = operator.Key(key)
		}
		if err != nil {
			operation.Fail(ctx, err)
			return
		}
		next(huma.WithValue(ctx, callerKey{}, key))
	}
}

// reads is a route that reads in one transaction.
func reads[I, O any](s *Server, r route, answer O, read func(ctx context.Context, tx *db.Tx, in *I) (O, error)) route {
	r.method, r.scope, r.answer = http.MethodGet, identity.OperatorReads, answer
	r.register = func(api huma.API, op huma.Operation) {
		huma.Register(api, op, func(ctx context.Context, in *I) (*operation.Private[O], error) {
			var out O
			err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
				out, err = read(ctx, tx, in)
				return err
			})
			return operation.NoStore(out, err)
		})
	}
	return r
}

// table lists every route.
func (s *Server) table() []route {
	return slices.Concat(s.state(), s.checks(), s.jobActs(), s.workerActs(), s.workspaceActs(), s.moneyActs(), s.keys(), s.invoices(), s.upkeep(), s.erasure())
}
