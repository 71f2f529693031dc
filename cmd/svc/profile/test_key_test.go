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
