package caller

import (
	"strings"
	"testing"
)

// TestAFolderOfTestModeIsVerifiedAsSuch: without --test, svc verify refuses its receipt.
func TestAFolderOfTestModeIsVerifiedAsSuch(t *testing.T) {
	t.Parallel()
	for _, test := range []bool{true, false} {
		var said strings.Builder
		(&Result{Folder: "out", Frames: []string{"out/frame_0001.png"}, Test: test}).Print(&said)
		_, after, _ := strings.Cut(said.String(), "svc verify out")
		if flag := strings.HasPrefix(after, " --test"); flag != test || strings.Contains(said.String(), "nobody has paid") != test {
			t.Errorf("with test %t:\n%s", test, &said)
		}
	}
}
