package operator

import (
	"fmt"
	"os"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/work/receipt/witness"
)

// readPolicy reads the file of --witnesses. Error: wrong usage, for what is no policy.
func readPolicy(path string) (witness.Policy, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return witness.Policy{}, fmt.Errorf("read the policy of witnesses: %w", err)
	}
	policy, err := witness.ParsePolicy(string(text))
	if err != nil {
		return policy, terminal.WrongUsagef("--witnesses %s: %w", path, err)
	}
	return policy, nil
}
