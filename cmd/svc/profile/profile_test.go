package profile

import (
	"errors"
	"os"
	"strings"
	"testing"

	"svc.example/cmd/svc/terminal"
)

const (
	secret      = "AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK"
	agentKey    = "svc_agent_" + secret
	accountKey  = "svc_" + secret
	nodeKey     = "svc_node_" + secret
	operatorKey = "svc_operator_" + secret
	otherKey    = "svc_agent_1111" + "BBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK"
)

// keep writes profiles for one test, in a folder of its own.
func keep(t *testing.T, profiles map[string]Stored) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv(KeyVariable, "")
	for name, p := range profiles {
		if _, err := change(name, func(to *Stored) { *to = p }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAProfileCountsAfterFlagAndEnvironmentAndBeforeTheDefault(t *testing.T) {
	keep(t, map[string]Stored{
		"default": {Server: "https://one.example", AgentKey: agentKey},
		"bare":    {AgentKey: agentKey},
		"studio":  {Server: "https://two.example/base", AgentKey: otherKey, AccountKey: accountKey},
	})
	for _, c := range []struct {
		flags Flags
		kind  Kind
		want  Service
	}{
		{Flags{}, AgentKey, Service{Server: "https://one.example", Key: agentKey}},
		{Flags{ServerFlags: ServerFlags{Profile: "bare"}}, AgentKey, Service{Server: DefaultServer, Key: agentKey}},
		{Flags{ServerFlags: ServerFlags{Profile: "studio"}}, AgentKey, Service{Server: "https://two.example/base", Key: otherKey}},
		{Flags{ServerFlags: ServerFlags{Profile: "studio"}}, AccountKey, Service{Server: "https://two.example/base", Key: accountKey}},
		{Flags{ServerFlags: ServerFlags{Profile: "studio"}}, AgentKey | AccountKey, Service{Server: "https://two.example/base", Key: otherKey}},
		// kong puts the flag or the environment into the fields.
		{Flags{ServerFlags: ServerFlags{Server: "https://three.example/"}, Key: otherKey}, AgentKey, Service{Server: "https://three.example", Key: otherKey}},
		{Flags{Key: " " + otherKey + "\n"}, AgentKey, Service{Server: "https://one.example", Key: otherKey}},
		{Flags{ServerFlags: ServerFlags{Server: "HTTPS://One.Example/"}}, AgentKey, Service{Server: "HTTPS://One.Example", Key: agentKey}},
	} {
		if got, err := c.flags.Service(c.kind); err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v", c.flags, got, err)
		}
	}
}

func TestAKeyOfAProfileGoesToItsOwnServerOnly(t *testing.T) {
	keep(t, map[string]Stored{"default": {Server: "https://one.example", AgentKey: agentKey}, "bare": {AgentKey: agentKey}})
	for _, f := range []Flags{
		{ServerFlags: ServerFlags{Server: "https://two.example"}}, {ServerFlags: ServerFlags{Server: "http://one.example"}}, {ServerFlags: ServerFlags{Server: "https://one.example:444"}},
		{ServerFlags: ServerFlags{Server: "https://one.example.evil.example"}}, {ServerFlags: ServerFlags{Profile: "bare", Server: "https://one.example"}},
	} {
		got, err := f.Service(AgentKey)
		if got.Key != "" || err == nil || !strings.Contains(err.Error(), "is not sent to "+f.Server) {
			t.Errorf("%+v: %+v, %v", f, got, err)
		}
		wantUsage(t, err)
	}
}

func TestAnOperatorKeyGoesToItsOwnServerOnlyAndNeverStandsForACallersKey(t *testing.T) {
	keep(t, map[string]Stored{
		"default": {Server: "https://one.example", AgentKey: agentKey},
		"prod":    {Server: "https://two.example/base", OperatorKey: operatorKey},
		"wrong":   {Server: "https://two.example", OperatorKey: agentKey},
	})
	if _, err := choose("prod"); err != nil {
		t.Fatal(err)
	}
	// The profile that callers chose, and the variables for callers, do not lead an operator.
	t.Setenv("SVC_SERVER", "https://three.example")
	t.Setenv(KeyVariable, otherKey)
	for _, server := range []string{"", "https://two.example/base/", "HTTPS://Two.example/base"} {
		if got, err := Operator("prod", server); err != nil || got.Key != operatorKey || !SameServer(got.Server, "https://two.example/base") {
			t.Errorf("--server %q: %+v, %v", server, got, err)
		}
	}
	for _, c := range []struct{ name, server, want string }{
		{"prod", "https://one.example", "is for https://two.example/base and is not sent to https://one.example"},
		{"prod", "http://two.example/base", "is not sent to http://two.example/base"},
		{"prod", "https://two.example.evil.example/base", "is not sent to"},
		{"default", "", "has no operator key"},
		{"wrong", "", "an agent key (svc_agent_AAAABBBB…) was given in profile \"wrong\", but this command needs an operator key (svc_operator_…); make one on the service's machine"},
		{"nobody", "", `there is no profile "nobody"`},
	} {
		got, err := Operator(c.name, c.server)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "CCCC") {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.Key != "" {
			t.Errorf("%s: a key for %s", c.name, got.Server)
		}
		wantUsage(t, err)
	}
	for _, kind := range []Kind{AgentKey, AccountKey, AgentKey | AccountKey} {
		got, err := Flags{ServerFlags: ServerFlags{Profile: "prod"}}.Service(kind)
		if !errors.Is(err, ErrNoKey) || got.Key != "" {
			t.Errorf("a caller gets %+v, %v", got, err)
		}
		if _, err := (Flags{Key: operatorKey}).Service(kind); err == nil || !strings.Contains(err.Error(), "an operator key (svc_operator_AAAABBBB…) was given in --key") {
			t.Errorf("an operator key as a caller's: %v", err)
		}
	}
}

func TestAWrongKeyIsRefusedInWordsBeforeAnyCall(t *testing.T) {
	keep(t, map[string]Stored{"studio": {Server: "https://two.example"}})
	for _, c := range []struct {
		flags Flags
		kind  Kind
		want  string
	}{
		{Flags{Key: accountKey}, AgentKey, "an account key (svc_AAAABBBB…) was given in --key, but this command needs an agent key (svc_agent_…); create one on the page Keys of the console, or ask the service's operator, who creates one with: svc admin key create --kind agent"},
		{Flags{Key: agentKey}, AccountKey, "an agent key (svc_agent_AAAABBBB…) was given in --key, but this command needs an account key (svc_…); ask the service's operator, who creates one with: svc admin key create --kind account"},
		{Flags{Key: nodeKey}, AgentKey | AccountKey, "a node key (svc_node_AAAABBBB…) was given in --key, but this command needs an agent key (svc_agent_…) or an account key (svc_…)"},
		{Flags{Key: agentKey[:20]}, AgentKey, "it is 20 characters long instead of 53"},
		{Flags{Key: agentKey[:52] + "!"}, AgentKey, "it has a character that keys do not have"},
		{Flags{Key: "hunter2"}, AgentKey, "the value of --key is not a key of svc"},
		{Flags{}, AgentKey, "no key is given: this command needs an agent key (svc_agent_…). Give it with --key or in SVC_KEY, or save it with:\n  svc config set key -\nTo get one: sign in with svc login. Or create one on the page Keys of the console, or ask the service's operator"},
		{Flags{ServerFlags: ServerFlags{Profile: "studio"}}, AccountKey, "svc config set key - --profile studio"},
		{Flags{ServerFlags: ServerFlags{Profile: "stduio"}}, AgentKey, `there is no profile "stduio"`},
	} {
		_, err := c.flags.Service(c.kind)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.flags, err)
			continue
		}
		for _, part := range []string{"CCCC", "hunter2"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%v shows more of the key than its beginning", err)
			}
		}
		wantUsage(t, err)
		if _, err := (Flags{ServerFlags: ServerFlags{Profile: c.flags.Profile}, Key: c.flags.Key}).client(c.kind, nil); err == nil {
			t.Errorf("%+v gives a client", c.flags)
		}
	}
	if _, err := (Flags{}).Service(AgentKey); !errors.Is(err, ErrNoKey) {
		t.Error(err)
	}
}

func TestAKeyFromTheEnvironmentIsNamedAsThat(t *testing.T) {
	keep(t, nil)
	t.Setenv(KeyVariable, accountKey)
	_, err := Flags{Key: accountKey}.Service(AgentKey)
	if err == nil || !strings.Contains(err.Error(), "was given in SVC_KEY") {
		t.Error(err)
	}
}

func TestOldNamesOfTheKeyStillWork(t *testing.T) {
	for _, c := range []struct{ now, old, flag, want string }{
		{"", "", "", ""},
		{nodeKey, "", nodeKey, nodeKey},
		{"", nodeKey, nodeKey, nodeKey},
		{agentKey, nodeKey, agentKey, nodeKey}, // a machine of a person that renders too
	} {
		t.Setenv(KeyVariable, c.now)
		t.Setenv("SVC_NODE_KEY", c.old)
		if got, err := Node(c.flag); got != c.want || err != nil {
			t.Errorf("%+v: %q, %v", c, Mask(got), err)
		}
	}
	t.Setenv(KeyVariable, agentKey)
	t.Setenv("SVC_NODE_KEY", "")
	_, err := Node(agentKey)
	wantUsage(t, err)
	for _, c := range []struct{ now, old, want string }{{"", "", ""}, {"", agentKey, agentKey}, {otherKey, agentKey, otherKey}} {
		t.Setenv(KeyVariable, c.now)
		t.Setenv("SVC_API_KEY", c.old)
		if got := FromEnvironment("SVC_API_KEY"); got != c.want {
			t.Errorf("%+v: %q", c, Mask(got))
		}
	}
}

func TestALinkedFileOfProfilesStaysALink(t *testing.T) {
	keep(t, map[string]Stored{"default": {Server: "https://one.example"}})
	path, err := Path()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir() + "/profiles.json"
	if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	if _, err := change("default", func(p *Stored) { p.AgentKey = agentKey }); err != nil {
		t.Fatal(err)
	}
	if all, err := read(elsewhere); err != nil || all.Profiles["default"].AgentKey != agentKey {
		t.Errorf("%v, %v", all.names(), err)
	}
}

func wantUsage(t *testing.T, err error) {
	t.Helper()
	exit, ok := errors.AsType[*terminal.ExitError](err)
	if !ok || exit.ExitCode() != terminal.ExitUsage {
		t.Errorf("%v is no wrong usage", err)
	}
}
