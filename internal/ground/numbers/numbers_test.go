package numbers_test

import (
	"math"
	"testing"

	"svc.example/internal/ground/numbers"
)

func TestAmountsAreExactToTheCent(t *testing.T) {
	t.Parallel()
	for cents, want := range map[int64]string{
		0: "$0.00", 4: "$0.04", 24: "$0.24", 100: "$1.00", 99999: "$999.99", 100000: "$1,000.00", 120050: "$1,200.50",
		123456789012: "$1,234,567,890.12", -4: "−$0.04", -100: "−$1.00", -120050: "−$1,200.50",
		math.MaxInt64: "$92,233,720,368,547,758.07", math.MinInt64: "−$92,233,720,368,547,758.08",
	} {
		if got := numbers.Dollars(cents); got != want {
			t.Errorf("%d cents are %q; want %q", cents, got, want)
		}
	}
	if got := numbers.Money(120050, "USD") + ", " + numbers.Money(120050, "EUR"); got != "$1,200.50, 1,200.50 EUR" {
		t.Errorf("by their currency: %s", got)
	}
}

func TestCountsHaveCommasBetweenThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -999: "-999", -1000: "-1,000"} {
		if got := numbers.Grouped(n); got != want {
			t.Errorf("%d is %q; want %q", n, got, want)
		}
	}
}
