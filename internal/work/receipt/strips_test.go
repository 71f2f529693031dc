package receipt_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// anyStrips draws the strips of a frame, none of most.
func anyStrips(t *rapid.T) (strips []receipt.Strip) {
	hash := rapid.StringMatching(`[0-9a-f]{64}`)
	row, above := 0, ""
	for n := rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(t, "strips"); n > 0; n-- {
		s := receipt.Strip{From: row, To: row + rapid.IntRange(1, 500).Draw(t, "rows"), SHA256: hash.Draw(t, "strip"), Above: above}
		if n > 1 {
			s.Below = hash.Draw(t, "cut")
		}
		row, above, strips = s.To, s.Below, append(strips, s)
	}
	return strips
}

// cut are the two strips of a frame.
func cut() []receipt.Strip {
	hash := func(digit string) string { return strings.Repeat(digit, 64) }
	return []receipt.Strip{{From: 0, To: 20, SHA256: hash("a"), Below: hash("c")}, {From: 20, To: 54, SHA256: hash("b"), Above: hash("c")}}
}

func TestStripsAreExplained(t *testing.T) {
	t.Parallel()
	job, _, _ := complete(t, 2)
	job.Receipt.Frames[1].Strips = cut()
	key := testKey(t, "a")
	envelope, err := receipt.Sign(job.Receipt, key)
	if err != nil {
		t.Fatal(err)
	}
	report := receipt.Verify(envelope, []signingkey.Public{key.Public()}, nil)
	if !slices.ContainsFunc(report.Checks, func(c receipt.Check) bool {
		return c.Name == "strips" && c.Status == receipt.OK && strings.HasPrefix(c.Text, "several workers rendered 1 frame in strips")
	}) {
		t.Errorf("the checks are %+v", report.Checks)
	}
}
