package split_test

import (
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/digest"
)

// TestOnlyGPUsMayDifferInTheLastBits: other workers of the same kind render to the bit.
func TestOnlyGPUsMayDifferInTheLastBits(t *testing.T) {
	for device, agree := range map[string]bool{"CPU": false, contract.RenderDevice: true} {
		t.Run(device, func(t *testing.T) {
			eachOf(t, contract.RendererID, device, 1, func(t *testing.T, w world, workers []string) {
				w.noisy = true
				w.deliver(w.cut(workers[0], 3), w.next(workers[1]), w.next(workers[2]))
				if !agree {
					w.wantNothing("the frame waits", workers[0])
					w.wantWhole(workers[0])
					return
				}
				w.wantFinished(workers[1], 3)
				rows := w.rows()
				for i, r := range rows {
					if i > 0 && rows[i-1].SeamBelow == r.SeamAbove {
						t.Errorf("the strips %d and %d are equal to the bit, so this shows nothing", i-1, i)
					}
					if (i > 0) != digest.Is(r.SeamAbove) || (i < 2) != digest.Is(r.SeamBelow) {
						t.Errorf("strip %d keeps the seams %.100q and %.100q", i, r.SeamAbove, r.SeamBelow)
					}
				}
			})
		})
	}
}

func TestAGPUThatPaintsOtherRowsIsFound(t *testing.T) {
	eachOf(t, contract.RendererID, contract.RenderDevice, 1, func(t *testing.T, w world, workers []string) {
		w.noisy = true
		first, second, third := w.cut(workers[0], 3), w.next(workers[1]), w.next(workers[2])
		w.deliver(first, third)
		if err := w.send(second, true); err != nil {
			t.Fatal(err)
		}
		w.wantNothing("its strip is doubted, and nobody is left to render it", workers[1])
		w.wantWhole(workers[1])
	})
}
