package job

import (
	"reflect"
	"sync"
	"time"

	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
)

// proofs keeps public proofs that were read lately: to verify a receipt and to prove its leaf
// costs a hundred times what it costs to read the rows. What is kept counts only for the same
// envelope and the same published keys, so an altered row or an ended key is seen at once. The
// zero value is ready.
type proofs struct {
	mu   sync.Mutex
	kept map[string]keptProof // by receipt
	size int                  // bytes of their envelopes
}

type keptProof struct {
	Public
	cosigned any // what witnesses had signed last
	at       time.Time
}

const (
	// proofLife is how long a proof is kept: its checkpoint is as old as that at most.
	proofLife = time.Second
	// mostProofs bounds the bytes of envelopes that are kept.
	mostProofs = 16 << 20
)

// get returns a proof that was kept for this envelope, these keys and this state of witnesses.
func (p *proofs) get(receiptID, envelope string, keys []signing.Published, cosigned any) (Signed, receipt.Inclusion, bool) {
	p.mu.Lock()
	k, ok := p.kept[receiptID]
	p.mu.Unlock()
	if !ok || time.Since(k.at) > proofLife || string(k.Envelope) != envelope || k.cosigned != cosigned || !reflect.DeepEqual(k.Keys, keys) {
		return Signed{}, receipt.Inclusion{}, false
	}
	return k.Signed, k.Inclusion, true
}

// keep keeps a proof, and forgets all others when there are too many.
func (p *proofs) keep(public Public, cosigned any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old, ok := p.kept[public.ReceiptID]; ok {
		p.size -= len(old.Envelope)
	}
	if p.kept == nil || p.size+len(public.Envelope) > mostProofs {
		p.kept, p.size = map[string]keptProof{}, 0
	}
	p.kept[public.ReceiptID] = keptProof{public, cosigned, time.Now()}
	p.size += len(public.Envelope)
}
