package operator

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/operator"
)

// served leads a command to a running service, by its API for operators, instead of the store.
type served struct {
	// Not from the environment or a file: a command must not turn to another service unnoticed.
	Server  string `group:"Common" env:"-" config:"-" placeholder:"URL" help:"Ask the running service at this address instead of the store, by its API for operators. The key comes from --profile, or from the variable SVC_OPERATOR_KEY."`
	Profile string `group:"Common" env:"-" config:"-" placeholder:"NAME" help:"Ask the service of this profile with its operator key, see svc config."`
}

// remote reports whether a service is asked instead of the store.
func (s served) remote() bool { return s.Server != "" || s.Profile != "" }

// service returns the address and the operator key for it. A profile that is named counts before
// the variable, which may hold the key of another service. Errors are wrong usages.
func (s served) service() (profile.Service, error) {
	if s.Profile != "" {
		return profile.Operator(s.Profile, s.Server)
	}
	key := os.Getenv(keyVariable)
	if !strings.HasPrefix(key, contract.OperatorKeyPrefix) {
		return profile.Service{}, terminal.WrongUsagef("--server needs an operator key, %s…, in the variable %s, or --profile with one. Create one with svc admin operator-key create on the service's machine", contract.OperatorKeyPrefix, keyVariable)
	}
	return profile.Service{Server: s.Server, Key: key}, profile.CheckServer(s.Server)
}

// keyVariable has the operator key. No flag has it: other accounts of the machine could read it.
const keyVariable = "SVC_OPERATOR_KEY"

// call is a request to the API for operators.
type call struct {
	method, path string
	body         any
	key          string // its Idempotency-Key; "" for none
}

// ask sends a call and decodes its answer. Error: wrong usage without a key.
func (s served) ask(ctx context.Context, c call, answer any) error {
	at, err := s.service()
	if err != nil {
		return err
	}
	service, err := client.New(at.Server, at.Key)
	if err != nil {
		return err
	}
	if c.key != "" {
		return service.CallOnce(ctx, c.key, c.method, c.path, c.body, answer)
	}
	return service.Call(ctx, c.method, c.path, c.body, answer)
}

// viewFlags are common to the commands that read the store, or ask a service.
type viewFlags struct {
	adminFlags
	served
}

// view fills answer: with --server or --profile by a route and its query, otherwise by do, which reads the
// store.
func (f viewFlags) view(path string, query url.Values, answer any, do func(ctx context.Context, tx *db.Tx) error) error {
	if !f.remote() {
		return f.read(do)
	}
	for name, values := range query {
		if values[0] == "" {
			query.Del(name)
		}
	}
	path = "/admin/v1" + path
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return f.ask(context.Background(), call{method: http.MethodGet, path: path}, answer)
}

// query is that of a page of a list.
func (f pageFlags) query() url.Values {
	return url.Values{"limit": {strconv.Itoa(f.Limit)}, "before": {f.Before}}
}

// actFlags are common to the commands that act on the store, or by a service.
type actFlags struct {
	changeFlags
	served
}

// act asks and acts, with --server or --profile by a route, whose answer it decodes, and otherwise as change
// does, where read fills the answer.
func (f actFlags) act(c call, answer any, propose func(ctx context.Context, tx *db.Tx) (operator.Act, error), read func(ctx context.Context, tx *db.Tx) error) error {
	if !f.remote() {
		return f.change(propose, read)
	}
	ctx := context.Background()
	c.path = "/admin/v1" + c.path
	if !f.Yes {
		var proposed operator.Acted
		dry := c
		dry.path += "?dry_run=true"
		if err := f.ask(ctx, dry, &proposed); err != nil {
			return err
		}
		if err := f.confirm(proposed.What); err != nil {
			return err
		}
	}
	if answer == nil {
		answer = new(operator.Acted)
	}
	return f.ask(ctx, c, answer)
}

// part is a part of a path.
func part(of string) string { return "/" + url.PathEscape(of) }

// newKey is an Idempotency-Key of one command.
func newKey() string { return id.New("CMD-") }

// reasoned is the body of an act with a reason.
type reasoned struct {
	Reason string `json:"reason"`
}
