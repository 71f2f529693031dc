package terminal

import "testing"

func TestCountsHaveCommasBetweenThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 10000: "10,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Number(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
	if got := CountOf(10000, "frame"); got != "10,000 frames" {
		t.Errorf("got %q", got)
	}
}
