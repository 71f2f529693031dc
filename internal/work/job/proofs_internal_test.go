package job

import (
	"testing"
	"time"

	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
)

func TestAKeptProofCountsForTheSameRowsOnly(t *testing.T) {
	t.Parallel()
	var p proofs
	public := Public{Signed: Signed{Receipt: receipt.Receipt{ReceiptID: "RCT-1"}, Envelope: []byte("{}")}, Keys: []signing.Published{{}}}
	p.keep(public, nil)
	for name, c := range map[string]struct {
		receiptID, envelope string
		keys                []signing.Published
		cosigned            any
		want                bool
	}{
		"the same":               {"RCT-1", "{}", public.Keys, nil, true},
		"another receipt":        {"RCT-2", "{}", public.Keys, nil, false},
		"an altered row":         {"RCT-1", "{ }", public.Keys, nil, false},
		"another key":            {"RCT-1", "{}", nil, nil, false},
		"witnesses signed since": {"RCT-1", "{}", public.Keys, new(int), false},
	} {
		if _, _, got := p.get(c.receiptID, c.envelope, c.keys, c.cosigned); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	old := p.kept["RCT-1"]
	old.at = time.Now().Add(-2 * proofLife)
	p.kept["RCT-1"] = old
	if _, _, got := p.get("RCT-1", "{}", public.Keys, nil); got {
		t.Error("an old proof counts")
	}
	large := public
	large.ReceiptID, large.Envelope = "RCT-2", make([]byte, mostProofs)
	p.keep(large, nil)
	if len(p.kept) != 1 || p.size != mostProofs {
		t.Errorf("%d proofs with %d bytes are kept", len(p.kept), p.size)
	}
}
