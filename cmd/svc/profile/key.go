package profile

import (
	"fmt"
	"strings"

	"svc.example/internal/ground/contract"
)

// Kind is a kind of key, or several of them.
type Kind int

// The kinds of keys. NodeKey is for machines that render; a profile holds none. OperatorKey is
// for svc admin; no command of a caller takes it.
const (
	AgentKey Kind = 1 << iota
	AccountKey
	NodeKey
	OperatorKey
)

// profiled are the kinds of which a profile holds one key each.
const profiled = AgentKey | AccountKey | OperatorKey

// prefix is how keys of the kind begin. Asked for several kinds it is the longest.
func (k Kind) prefix() string {
	switch {
	case k&AgentKey != 0:
		return contract.AgentKeyPrefix
	case k&NodeKey != 0:
		return contract.NodeKeyPrefix
	case k&OperatorKey != 0:
		return contract.OperatorKeyPrefix
	}
	return contract.AccountKeyPrefix
}

// prefixOf is how a key of the kind begins: that of test mode has more before its random
// part.
func (k Kind) prefixOf(key string) string {
	for _, test := range []string{contract.TestAgentKeyPrefix, contract.TestAccountKeyPrefix} {
		if strings.HasPrefix(test, k.prefix()) && strings.HasPrefix(key, test) {
			return test
		}
	}
	return k.prefix()
}

// String says what to look for, such as "an agent key (svc_agent_…)".
func (k Kind) String() string {
	switch k {
	case AgentKey:
		return "an agent key (" + contract.AgentKeyPrefix + "…)"
	case AccountKey:
		return "an account key (" + contract.AccountKeyPrefix + "…)"
	case NodeKey:
		return "a node key (" + contract.NodeKeyPrefix + "…)"
	case OperatorKey:
		return "an operator key (" + contract.OperatorKeyPrefix + "…)"
	case AgentKey | AccountKey:
		return AgentKey.String() + " or " + AccountKey.String()
	case profiled:
		return AgentKey.String() + ", " + AccountKey.String() + " or " + OperatorKey.String()
	}
	return "a key"
}

// name is the kind as "an agent key", without the prefix.
func (k Kind) name() string {
	name, _, _ := strings.Cut(k.String(), " (")
	return name
}

// kindOf determines the kind by the beginning of a key; 0 for none. Account keys have a
// prefix that the others begin with too, so it comes last.
func kindOf(key string) Kind {
	for _, kind := range []Kind{AgentKey, NodeKey, OperatorKey, AccountKey} {
		if strings.HasPrefix(key, kind.prefix()) {
			return kind
		}
	}
	return 0
}

// Mask is what may be shown of a key: as much as the service's lists show. If the
// text is not a whole key it shows only the prefix.
func Mask(key string) string {
	kind := kindOf(key)
	switch {
	case kind == 0:
		return "…"
	case malformed(key, kind) != "":
		return kind.prefix() + "…"
	}
	return key[:len(kind.prefixOf(key))+8] + "…"
}

// check refuses a key that the service would refuse: one of another kind, or one that
// was not copied whole. source names where the key came from.
func (k Kind) check(key, source string) error {
	is := kindOf(key)
	if is == 0 {
		return fmt.Errorf("the value of %s is not a key of svc: this command needs %s; %s", source, k, k.whereFrom())
	}
	wrong := malformed(key, is)
	if k != AccountKey && is == AccountKey && wrong != "" { // each kind begins like it: this may be any, mistyped
		return fmt.Errorf("the key in %s is not whole: this command takes %s, with %d letters and digits after the prefix. Copy it again",
			source, k, contract.KeySecretLength)
	}
	if is&k == 0 {
		return fmt.Errorf("%s (%s) was given in %s, but this command needs %s; %s", is.name(), Mask(key), source, k, k.whereFrom())
	}
	if wrong != "" {
		return fmt.Errorf("the key in %s begins like %s, but %s: such a key is %s followed by %d letters and digits. Copy the whole key again",
			source, is, wrong, is.prefixOf(key), contract.KeySecretLength)
	}
	return nil
}

// malformed says what is wrong with a key of the kind, "" for nothing.
func malformed(key string, kind Kind) string {
	secret := strings.TrimPrefix(key, kind.prefixOf(key))
	for _, r := range secret {
		if (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return "it has a character that keys do not have"
		}
	}
	if n := len(secret); n != contract.KeySecretLength {
		return fmt.Sprintf("it is %d characters long instead of %d", len(key), len(kind.prefixOf(key))+contract.KeySecretLength)
	}
	return ""
}

// whereFrom says how to get a key of the kind.
func (k Kind) whereFrom() string {
	const operator = "ask the service's operator, who creates one with: svc admin key create --kind "
	switch {
	case k == NodeKey:
		return operator + "node"
	case k == OperatorKey:
		return "make one on the service's machine with: svc admin operator-key create --name NAME"
	case k&AgentKey != 0:
		return "create one on the page Keys of the console, or ask the service's operator, who creates one with: svc admin key create --kind agent"
	}
	return operator + "account"
}
