package terminal

import (
	"strings"
	"testing"
)

func TestAnExitCodeHasOneMeaning(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for _, row := range Codes() {
		if seen[row.Code] || row.Means == "" {
			t.Errorf("%d is listed twice, or has no meaning", row.Code)
		}
		seen[row.Code] = true
	}
	help := ExitHelp(ExitNotInLog)
	if !strings.HasPrefix(help, "Exit codes: 0 done; 1 failed") || !strings.HasSuffix(help, "; 5 the receipt is not proven to be in the log, or the log is broken.") ||
		strings.Contains(help, "; 3 ") {
		t.Error(help)
	}
}
