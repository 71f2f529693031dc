package profile

import (
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
)

// TestKeysOfTestModeAreKeysOfTheirKind takes them where keys are taken, and shows as much of
// them.
func TestKeysOfTestModeAreKeysOfTheirKind(t *testing.T) {
	t.Parallel()
	random := strings.Repeat("a", contract.KeySecretLength)
	for prefix, kind := range map[string]Kind{contract.TestAgentKeyPrefix: AgentKey, contract.TestAccountKeyPrefix: AccountKey} {
		if err := kind.check(prefix+random, "SVC_KEY"); err != nil {
			t.Errorf("%s…: %v", prefix, err)
		}
		if got, want := Mask(prefix+random), prefix+"aaaaaaaa…"; got != want {
			t.Errorf("it is shown as %s, want %s", got, want)
		}
		if err := kind.check(prefix+random[1:], "SVC_KEY"); err == nil || strings.Contains(err.Error(), random[1:]) {
			t.Errorf("one that is cut: %v", err)
		}
		if err := (NodeKey).check(prefix+random, "SVC_KEY"); err == nil {
			t.Errorf("%s… is a node key", prefix)
		}
	}
}

// Account keys begin as all keys do, so a mistyped key of another kind is not called one.
func TestAMistypedKeyIsNotCalledAnotherKind(t *testing.T) {
	t.Parallel()
	random := strings.Repeat("a", contract.KeySecretLength)
	for _, key := range []string{"svc_agnet_" + random, "svc_agent" + random, "svc_" + random[1:]} {
		if err := AgentKey.check(key, "SVC_KEY"); err == nil || strings.Contains(err.Error(), "an account key") || !strings.Contains(err.Error(), "is not whole: this command takes an agent key") {
			t.Errorf("%s: %v", key, err)
		}
	}
	both := AgentKey | AccountKey
	for _, key := range []string{"svc_agnet_" + random, "svc_agent", "svc_oper_" + random} {
		if err := both.check(key, "SVC_KEY"); err == nil || strings.Contains(err.Error(), "begins like") || !strings.Contains(err.Error(), "is not whole: this command takes an agent key (svc_agent_…) or an account key") {
			t.Errorf("%s, where two kinds are taken: %v", key, err)
		}
	}
	if err := both.check("svc_agent_test_abc", "SVC_KEY"); err == nil || !strings.Contains(err.Error(), "such a key is svc_agent_test_ followed by 43") {
		t.Errorf("a key of test mode that is cut: %v", err)
	}
	if err := AgentKey.check("svc_"+random, "SVC_KEY"); err == nil || !strings.Contains(err.Error(), "an account key") {
		t.Errorf("a whole account key: %v", err)
	}
}
