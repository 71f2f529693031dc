package sharing

import (
	"context"
	"errors"
	"testing"
)

func TestAnOwnerHasItsShareOfThePlaces(t *testing.T) {
	t.Parallel()
	p := Places{Most: 3, Share: 2}
	greedy, ok := p.Try("greedy")
	_, second := p.Try("greedy")
	if _, third := p.Try("greedy"); !ok || !second || third {
		t.Fatalf("the greedy one gets %v, %v, %v", ok, second, third)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Enter(ended, "greedy"); !errors.Is(err, context.Canceled) {
		t.Errorf("a third place of an owner: %v", err)
	}
	modest, err := p.Enter(t.Context(), "modest")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := p.Try("third"); ok {
		t.Error("there is a fourth place of three")
	}
	if _, err := p.Enter(ended, "third"); !errors.Is(err, context.Canceled) {
		t.Errorf("a fourth place: %v", err)
	}
	modest()
	greedy()
	if again, ok := p.Try("greedy"); !ok {
		t.Error("a place that was given back is lost")
	} else {
		again()
	}
	if len(p.owners) != 1 || p.owners["greedy"].wanted != 1 {
		t.Errorf("%d owners are kept", len(p.owners))
	}
}
