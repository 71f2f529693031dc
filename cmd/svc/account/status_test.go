package account

import "testing"

// The contract's version is named as the workers' only where they have it.
func TestStatusSaysWhatTheWorkersHave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		workers []string
		want    string
	}{
		{nil, "4.1.1"},
		{[]string{"4.1.1"}, "4.1.1"},
		{[]string{"3.4.1"}, "3.4.1 on the workers; the service promises 4.1.1"},
		{[]string{"3.4.1", "4.1.1", "5.2.0"}, "3.4.1, 4.1.1, 5.2.0 on the workers; the service promises 4.1.1"},
	} {
		if got := versionText(c.workers, "4.1.1"); got != c.want {
			t.Errorf("workers with %v: %q, want %q", c.workers, got, c.want)
		}
	}
}
