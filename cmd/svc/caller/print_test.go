package caller

import (
	"strings"
	"testing"

	"svc.example/internal/work/receipt"
)

// TestThePriceSaysWhichFramesItDoesNotPay, before and after.
func TestThePriceSaysWhichFramesItDoesNotPay(t *testing.T) {
	t.Parallel()
	frames := make([]receipt.Frame, 6)
	for i := range 3 {
		frames[i].Reused = receipt.Origin{ReceiptID: "RCT-1", LogIndex: 1}
	}
	r := Result{Folder: "out", Frames: make([]string, 6)}
	r.take(&receipt.Receipt{ChargedCents: 3, Currency: "USD", Frames: frames})
	var said strings.Builder
	r.Print(&said)
	if !strings.Contains(said.String(), "0.03 USD for 6 frames, 3 taken over at no cost\n") {
		t.Error(said.String())
	}
}

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
