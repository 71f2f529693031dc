// Package profile says which service a command calls, and with which key.
//
// What always holds: the first of a flag, the environment, the profile and the default
// counts; a key of the wrong kind is refused before any call; a key of a profile goes to
// that profile's server only; no message shows more of a key than lists do. Package
// client makes the calls. Start reading at Flags; file.go keeps the profiles, config.go
// has the commands that change them; login.go signs in, and tokens.go renews what that
// got.
package profile

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
)

// DefaultServer is called if no flag, environment variable or profile names a server.
const DefaultServer = "http://127.0.0.1:8080"

// KeyVariable is the one environment variable for keys of any kind.
const KeyVariable = "SVC_KEY"

// ServerFlags are the flags of each command that calls a service for a person. The
// operator's configuration file does not affect them (config:"-"): its server and key
// are those of a worker.
type ServerFlags struct {
	Server  string `env:"SVC_SERVER" config:"-" placeholder:"URL" help:"Address of the service, from the flag, the environment or the profile, in this order. Default: http://127.0.0.1:8080."`
	Profile string `env:"SVC_PROFILE" config:"-" placeholder:"NAME" help:"Profile with server and key, see svc config. Without it, the one chosen with svc config use, or otherwise the one named default."`
}

// Flags are ServerFlags and the key, for the commands that need one.
type Flags struct {
	ServerFlags
	Key string `env:"SVC_KEY" config:"-" placeholder:"KEY" help:"Key for the service, from the flag, the environment or the profile, in this order."`
}

// Service is what the flags come to: an address and the key for it.
type Service struct {
	Server string // without a slash at its end
	Key    string

	renewal *renewal // of a sign-in, whose access token Key was when it was read; nil for a key
}

// ErrNoKey means that no key is given anywhere. It is wrapped in what Service returns.
var ErrNoKey = errors.New("no key is given")

// Agent returns a client with an agent key. Every error is a wrong usage, and nothing
// has been called.
func (f Flags) Agent(options ...client.Option) (*client.Client, error) {
	return f.client(AgentKey, options)
}

// Account returns a client with an account key; errors are those of Agent.
func (f Flags) Account(options ...client.Option) (*client.Client, error) {
	return f.client(AccountKey, options)
}

// Any returns a client with an agent key or an account key, whichever is given. A
// profile that has both gives the agent key, which may do less.
func (f Flags) Any(options ...client.Option) (*client.Client, error) {
	return f.client(AgentKey|AccountKey, options)
}

func (f Flags) client(kind Kind, options []client.Option) (*client.Client, error) {
	service, err := f.Service(kind)
	if err != nil {
		return nil, err
	}
	return service.Client(options...)
}

// Client returns a client of the service, which reports retries on standard error
// unless an option redirects that. The error is a wrong usage.
func (s Service) Client(options ...client.Option) (*client.Client, error) {
	options = append([]client.Option{Retrying(s.Server, onStderr), client.WithKeySource(s.Credential)}, options...)
	c, err := client.New(s.Server, s.Key, options...)
	if err != nil {
		return nil, terminal.WrongUsage(err)
	}
	return c, nil
}

// CheckServer refuses what is no address of a service. The error is a wrong usage.
func CheckServer(address string) error {
	_, err := client.New(address, "")
	return usage(err)
}

// Service finds the address, for a command that needs no key. Errors are wrong usages.
func (f ServerFlags) Service() (Service, error) {
	s, _, err := f.address()
	return s, err
}

// address returns the service without a key, and the profile.
func (f ServerFlags) address() (s Service, stored Stored, err error) {
	if stored, err = f.stored(); err != nil {
		return s, stored, terminal.WrongUsage(err)
	}
	s.Server = strings.TrimRight(first(f.Server, stored.home()), "/")
	return s, stored, CheckServer(s.Server)
}

// Service finds the address and a key of one of the kinds. Where only the key is
// missing, the error wraps ErrNoKey and the address is set nevertheless.
func (f Flags) Service(kind Kind) (Service, error) {
	s, stored, err := f.address()
	if err != nil {
		return s, err
	}
	home := stored.home()
	if s.Key = strings.TrimSpace(f.Key); s.Key != "" {
		return s, usage(kind.check(s.Key, sourceOf(s.Key)))
	}
	if s.Key = stored.key(kind); s.Key == "" && kind&AgentKey != 0 && stored.SignedIn.AccessToken != "" {
		home, s.Key = stored.SignedIn.Server, stored.SignedIn.AccessToken
		s.renewal = &renewal{profile: first(stored.name, DefaultName), now: stored.SignedIn}
	}
	if s.Key == "" {
		return s, terminal.WrongUsagef("%w: this command needs %s. Give it with --key or in %s, or save it with:\n  svc config set key -%s\nTo get one: %s",
			ErrNoKey, kind, KeyVariable, profileFlag(stored.name), signInFor(kind, stored.name)+kind.whereFrom())
	}
	if !SameServer(s.Server, home) {
		return Service{Server: s.Server}, terminal.WrongUsagef("the key of profile %q is for %s and is not sent to %s. Give a key for it with --key or in %s, or save it in another profile with:\n  svc config set server %s --profile NAME",
			stored.name, home, s.Server, KeyVariable, s.Server)
	}
	return s, usage(kind.check(s.Key, fmt.Sprintf("profile %q", stored.name)))
}

// signInFor says how to sign in instead of using a key, if a sign-in is enough.
func signInFor(kind Kind, name string) string {
	if kind&AgentKey == 0 {
		return ""
	}
	return "sign in with svc login" + profileFlag(name) + ". Or "
}

// stored reads the profile that the flags name. The default profile need not exist.
func (f ServerFlags) stored() (Stored, error) {
	path, err := Path()
	if err != nil {
		path = "" // a service without a home folder has no profiles
	}
	all, err := read(path)
	if err != nil {
		return Stored{}, err
	}
	name := first(f.Profile, first(all.Current, DefaultName))
	stored, ok := all.Profiles[name]
	if !ok && name != DefaultName {
		return Stored{}, fmt.Errorf("there is no profile %q in %s; it has %s. Create it with:\n  svc config set server URL --profile %s", name, path, all.names(), name)
	}
	stored.name = name
	return stored, nil
}

// Node checks the key of a command that works for a farm. "" is none, which some of
// them allow. Where SVC_KEY holds a person's key, because the machine renders for
// people as well, the older name counts.
func Node(key string) (string, error) {
	const oldName = "SVC_NODE_KEY"
	key = strings.TrimSpace(key)
	if old := os.Getenv(oldName); old != "" && (key == old || key == os.Getenv(KeyVariable) && kindOf(key) != NodeKey) {
		key = strings.TrimSpace(old)
		warnOldName(oldName)
	}
	if key == "" {
		return "", nil
	}
	return key, usage(NodeKey.check(key, sourceOf(key)))
}

// FromEnvironment returns the key in SVC_KEY, or otherwise in the variable that a
// command read in earlier versions, with a warning.
func FromEnvironment(oldName string) string {
	if key := os.Getenv(KeyVariable); key != "" {
		return key
	}
	key := os.Getenv(oldName)
	if key != "" {
		warnOldName(oldName)
	}
	return key
}

// warnOldName writes to standard error. Each command reads its key once, so the line
// comes once.
func warnOldName(name string) {
	terminal.Printf(os.Stderr, "svc: warning: %s is an old name of %s; it still works. Set %s instead.", name, KeyVariable, KeyVariable)
}

// sourceOf names where a given key came from, for messages.
func sourceOf(key string) string {
	if key == strings.TrimSpace(os.Getenv(KeyVariable)) {
		return KeyVariable
	}
	return "--key"
}

// SameServer compares addresses as a browser does: scheme and host in any case, and a
// slash at the end adds nothing.
func SameServer(a, b string) bool { return origin(a) == origin(b) }

func origin(address string) string {
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil {
		return address
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return u.String()
}

// profileFlag is the flag to add to a printed command, "" for the default profile.
func profileFlag(name string) string {
	if name == "" || name == DefaultName {
		return ""
	}
	return " --profile " + name
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// usage marks err, if there is one, as a mistake on the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return terminal.WrongUsage(err)
}
