package contentkey

import "testing"

func TestThingsInACircleAreNotInTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		things int
		needs  [][2]int
		want   bool
	}{
		{"nothing", 0, nil, true},
		{"a chain", 3, [][2]int{{0, 1}, {1, 2}, {0, 2}}, true},
		{"a circle", 3, [][2]int{{0, 1}, {1, 2}, {2, 0}}, false},
		{"itself", 2, [][2]int{{1, 1}}, false},
		{"twice the same", 2, [][2]int{{0, 1}, {0, 1}}, true},
	} {
		if got := inTurn(c.things, c.needs); got != c.want {
			t.Errorf("%s: in turn: %v", c.name, got)
		}
	}
}

// A hostile file may have every block lead to one long list.
func TestListsThatAreTooLongEnd(t *testing.T) {
	t.Parallel()
	f := &file{listed: mostListed}
	for range f.list(0) {
		t.Fatal("an item is shown")
	}
	if f.tooLong() == nil {
		t.Error("it is no error")
	}
}
