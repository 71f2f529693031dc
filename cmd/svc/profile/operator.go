package profile

import (
	"fmt"

	"svc.example/cmd/svc/terminal"
)

// Operator finds the service of a profile and its operator key. server, unless "", must be the
// profile's own. The environment does not count here: an operator's command must not turn to
// another service unnoticed, nor take a key that was exported for another one. Errors are wrong
// usages.
func Operator(name, server string) (Service, error) {
	s, stored, err := ServerFlags{Server: server, Profile: name}.address()
	switch {
	case err != nil:
		return Service{}, err
	case stored.OperatorKey == "":
		return Service{}, terminal.WrongUsagef("profile %q has no operator key. Save one with:\n  svc config set key -%s\nTo get one: %s",
			stored.name, profileFlag(stored.name), OperatorKey.whereFrom())
	case !SameServer(s.Server, stored.home()):
		return Service{}, terminal.WrongUsagef("the operator key of profile %q is for %s and is not sent to %s. Leave out --server, or name the profile of that service",
			stored.name, stored.home(), s.Server)
	}
	if err := OperatorKey.check(stored.OperatorKey, fmt.Sprintf("profile %q", stored.name)); err != nil {
		return Service{}, terminal.WrongUsage(err)
	}
	s.Key = stored.OperatorKey
	return s, nil
}
