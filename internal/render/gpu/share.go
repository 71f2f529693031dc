package gpu

import (
	"runtime"
	"slices"
)

// Share is a card and its part of the processors.
type Share struct {
	Card
	// Cores is how many processors what runs for the card may keep busy, 1 at least.
	Cores int
	// Pin are the processors that it should run on, because the others are farther from
	// the card; nil where it may run on all.
	Pin []int
}

// Processors are those that a program may run on, and how many of them at once.
type Processors struct {
	CPUs   []int // nil if the system does not report it
	AtOnce int   // fewer than CPUs where a control group gives less time
}

// Own returns the processors of this process.
func Own() Processors { return Processors{CPUs: affinity(), AtOnce: runtime.GOMAXPROCS(0)} }

// Shares shares processors out between cards. A card whose node is known gets processors of
// that node alone, if this process may use any of them and not only those. Each processor
// counts in equal parts for all cards that may run on it, so that no card's share depends on
// where the cards of other nodes are.
func Shares(cards []Card, has Processors) []Share {
	shares := make([]Share, len(cards))
	users := map[int]int{} // of each processor
	for i, c := range cards {
		shares[i].Card = c
		near := slices.DeleteFunc(slices.Clone(c.CPUs), func(n int) bool { return !slices.Contains(has.CPUs, n) })
		if 0 < len(near) && len(near) < len(has.CPUs) {
			shares[i].Pin = near
		}
		for _, n := range shares[i].on(has) {
			users[n]++
		}
	}
	for i := range shares {
		s, part := &shares[i], 0.0
		for _, n := range s.on(has) {
			part += 1 / float64(users[n])
		}
		switch all := len(has.CPUs); {
		case all == 0:
			part = float64(has.AtOnce) / float64(len(cards))
		case has.AtOnce < all:
			part *= float64(has.AtOnce) / float64(all)
		}
		const rounding = 1e-9 // twelve thirds are four
		s.Cores = max(1, int(part+rounding))
	}
	return shares
}

// on are the processors that a share's programs run on.
func (s Share) on(has Processors) []int {
	if s.Pin != nil {
		return s.Pin
	}
	return has.CPUs
}
