package api

import (
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/watch"
)

func TestAnEventsIDLeadsBackToWhereItsWatcherWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := watch.Cursor{Seq: rapid.Int64Min(0).Draw(t, "seq"), Preview: rapid.Int64Min(0).Draw(t, "preview")}
		with := &eventStream{previews: true}
		if got, err := cursor(with.id(at)); err != nil || got != at {
			t.Fatalf("%s is %+v, %v", with.id(at), got, err)
		}
		// A caller that asked for no previews has missed none.
		without := &eventStream{}
		if got, err := cursor(without.id(at)); err != nil || got != (watch.Cursor{Seq: at.Seq, Preview: at.Seq}) {
			t.Fatalf("%s is %+v, %v", without.id(at), got, err)
		}
	})
}

func TestAnIDOfNoEventIsRefused(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"x", "-1", "1.", "1.-2", ".1", "1.2.3", "99999999999999999999"} {
		if _, err := cursor(id); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if from, err := cursor(""); err != nil || from != (watch.Cursor{}) {
		t.Errorf("no id: %+v, %v", from, err)
	}
}
