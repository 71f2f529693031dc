package terminal

import "testing"

func TestCountsHaveTheRightPlural(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 frames", 1: "1 frame", 2: "2 frames", 10000: "10,000 frames"} {
		if got := CountOf(n, "frame"); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
