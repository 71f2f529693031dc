package memory_test

import (
	"testing"

	"svc.example/internal/render/blendfile/memory"
)

func TestSharesNeverHoldMoreThanTheBudget(t *testing.T) {
	t.Parallel()
	b := memory.NewBudget(1 << 20)
	first, second := memory.Share{Of: b}, memory.Share{Of: b}
	for _, s := range []*memory.Share{&first, &second} {
		if !s.Hold(1 << 20) {
			t.Error("a share has not its own mebibyte")
		}
	}
	if !first.Hold(2<<20) || second.Hold(3<<20/2) {
		t.Error("the second share got memory that the first one holds")
	}
	first.End()
	if !second.Hold(3 << 20 / 2) {
		t.Error("what a share gave back is not there")
	}
	if alone := (&memory.Share{}); !alone.Hold(1 << 40) {
		t.Error("a share without a budget is bounded")
	}
}
