package payment_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// TestWhateverHappensToPaymentsTheBooksAreRight plays random sequences: top-ups that are
// paid at once, later or never, refunds, disputes that are won and lost, jobs that reserve,
// succeed and fail, a provider that is down or loses an answer, and events that come twice,
// late, in any order or never, and calls that are cut off at any statement. After each step
// the ledger is sound and nothing is credited that was not paid. Once the events that are
// left have come, reconcile explains every payment; for those whose events are lost, it
// names each difference, and no other.
func TestWhateverHappensToPaymentsTheBooksAreRight(t *testing.T) {
	t.Parallel()
	sequences := long.Scale(60, 10_000)
	for first := 0; first < sequences; first += batch {
		t.Run(fmt.Sprintf("from %d", first), func(t *testing.T) {
			t.Parallel()
			playAll(t, first, min(first+batch, sequences))
		})
	}
}

// batch is how many sequences share a store: reconciling reads all that a provider has.
const batch = 500

// playAll plays the sequences from first to before end.
func playAll(t *testing.T, first, end int) {
	t.Helper()
	const seed = 19
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		total := &played{}
		for round := first; round < end; round++ {
			w.open(fmt.Sprintf("WSP-round-%d", round))
			g := &game{world: w, random: rand.New(rand.NewPCG(seed, uint64(round))), played: total, began: time.Now()}
			g.play()
			if t.Failed() {
				t.Fatalf("round %d of seed %d", round, seed)
			}
		}
		w.audit()
		t.Logf("%+v", *total)
		if total.steps == 0 || total.paid == 0 || total.owed == 0 || total.cut == 0 || total.named == 0 || total.lost == 0 {
			t.Errorf("the sequences do not reach everything: %+v", *total)
		}
	})
}

// looks is how often the work on an event may check its context.
const looks = 160

// played counts what the sequences reached.
type played struct{ steps, paid, events, lost, twice, cut, owed, named int }

// game is one sequence in one workspace.
type game struct {
	*world
	*played
	random *rand.Rand
	began  time.Time
	ids    []string // of top-ups
	queue  []stripetest.Event
	missed map[string]bool // top-ups of which an event was lost
	taken  map[string]bool // events that were worked on: they ask nothing any more
	jobs   []job
}

type job struct {
	id    string
	cents int64
}

func (g *game) play() {
	g.missed, g.taken = map[string]bool{}, map[string]bool{}
	for range 5 + g.random.IntN(35) {
		g.steps++
		g.step()
		g.queue = append(g.queue, g.provider.Events()...)
		g.check()
	}
	g.provider.SetDown(false)
	for _, i := range g.random.Perm(len(g.queue)) {
		g.must(g.take(g.queue[i]))
	}
	g.check()
	g.reconcile()
	// What no event told, asking does.
	for _, id := range g.ids {
		g.must(g.Read(context.Background(), id, nil))
	}
	g.missed = map[string]bool{}
	g.check()
	g.reconcile()
}

// pick takes one of the top-ups.
func (g *game) pick() string { return g.ids[g.random.IntN(len(g.ids))] }

// step does one random thing. What the provider refuses, such as a refund of what was not
// paid, does not happen.
func (g *game) step() {
	ctx := context.Background()
	if len(g.ids) == 0 || g.random.IntN(12) == 0 {
		g.begin()
		return
	}
	switch id := g.pick(); g.random.IntN(22) {
	case 0, 1:
		if g.provider.Pay(id) == nil {
			g.paid++
		}
	case 2:
		_ = g.provider.PayLater(id)
	case 3:
		_ = errors.Join(g.provider.Arrive(id))
	case 4:
		_ = g.provider.Bounce(id)
	case 5:
		_ = g.provider.Expire(id)
	case 6:
		_ = g.provider.Refund(id, 1+g.random.Int64N(2500))
	case 7:
		_, _ = g.provider.Dispute(id)
	case 8:
		_ = g.provider.Close(id, g.random.IntN(2) == 0)
	case 9:
		g.start()
	case 10:
		g.endJob()
	case 11:
		g.provider.SetDown(g.random.IntN(5) == 0)
	case 12: // the sweep asks
		if err := g.Read(ctx, id, nil); err == nil {
			delete(g.missed, id)
		}
	default:
		g.event()
	}
}

// begin makes a top-up, of which the answer may be lost.
func (g *game) begin() {
	if g.random.IntN(4) == 0 {
		g.provider.LoseNextAnswer()
	}
	made, err := g.Create(context.Background(), identity.Principal{WorkspaceID: g.workspace}, 500+g.random.Int64N(2500))
	if err == nil {
		g.ids = append(g.ids, made.ID)
	} else if all := g.list(); len(all) > len(g.ids) {
		g.ids = append(g.ids, all[0].ID)
	}
}

// event delivers, loses, repeats or cuts off one of the events that wait.
func (g *game) event() {
	if len(g.queue) == 0 {
		return
	}
	i := g.random.IntN(len(g.queue))
	event := g.queue[i]
	switch g.random.IntN(6) {
	case 0:
		g.lost++
		g.queue = slices.Delete(g.queue, i, i+1)
		g.missed[event.TopUpID] = true
	case 1:
		g.twice++
		_, _ = g.take(event), g.take(event)
	case 2: // a crash between any two statements: the transaction is not committed
		ctx := endsAtLook(1 + g.random.IntN(looks))
		if g.takeIn(ctx, event) != nil {
			g.cut++
		}
		ctx.end()
	default:
		if g.take(event) == nil {
			g.events++
			g.queue = slices.Delete(g.queue, i, i+1)
		}
	}
}

// take delivers an event. The first time that it is worked on, the service asks about its
// top-up and so learns what lost events would have told.
func (g *game) take(event stripetest.Event) error {
	return g.takeIn(context.Background(), event)
}

func (g *game) takeIn(ctx context.Context, event stripetest.Event) error {
	err := g.Ring(ctx, event.Body, stripetest.Sign(event.Body, stripetest.Secret, time.Now()))
	if err == nil && !g.taken[event.ID] {
		g.taken[event.ID] = true
		delete(g.missed, event.TopUpID)
	}
	return err
}

// start reserves money for a job, as far as there is some.
func (g *game) start() {
	j := job{fmt.Sprint("JOB-", g.workspace, "-", g.steps), 1 + g.random.Int64N(2000)}
	if g.DB.Write(context.Background(), func(tx *db.Tx) error {
		return wallet.Reserve(context.Background(), tx, g.workspace, j.id, j.cents)
	}) == nil {
		g.jobs = append(g.jobs, j)
	}
}

func (g *game) endJob() {
	if len(g.jobs) == 0 {
		return
	}
	j := g.jobs[0]
	g.jobs = g.jobs[1:]
	settle := wallet.Capture
	if g.random.IntN(2) == 0 {
		settle = wallet.Release
	}
	g.must(g.DB.Write(context.Background(), func(tx *db.Tx) error {
		return settle(context.Background(), tx, g.workspace, j.id, j.cents)
	}))
}

// check compares the wallet with the provider: never more is credited than was paid and
// not given back, and what a bank or a refund took is taken or owed.
func (g *game) check() {
	g.Helper()
	ctx := context.Background()
	var entries []wallet.Transaction
	g.must(g.DB.Read(ctx, func(tx *db.Tx) (err error) {
		entries, err = wallet.Transactions(ctx, tx, g.workspace, "", 1000)
		return err
	}))
	b := g.balance()
	if b.OwedCents > 0 {
		g.owed++
		if b.AvailableCents > 0 {
			g.Errorf("%+v", b)
		}
	}
	sum := map[wallet.Kind]int64{}
	credited := map[string]int{}
	for _, e := range entries {
		sum[e.Kind] += e.AmountCents
		if e.Kind == wallet.TopUp {
			credited[e.Reference]++
		}
	}
	net := sum[wallet.TopUp] + sum[wallet.ChargebackWon] - sum[wallet.ChargedBack] - sum[wallet.TopUpRefunded]
	if has := b.AvailableCents + b.ReservedCents + sum[wallet.Captured] - b.OwedCents; has != net || net < 0 {
		g.Errorf("payments are %d, the workspace has or spent %d", net, has)
	}
	for id, times := range credited {
		if times != 1 || !g.provider.Paid(id) {
			g.Errorf("%s is credited %d times, paid: %t", id, times, g.provider.Paid(id))
		}
	}
}

// reconcile wants a difference named only where an event was lost.
func (g *game) reconcile() {
	g.Helper()
	found, err := g.Reconcile(context.Background(), g.began.Add(-time.Minute), time.Now().Add(time.Minute))
	g.must(err)
	for _, diff := range found.Differences {
		if !slices.Contains(g.ids, diff.TopUpID) {
			continue // of another round
		}
		g.named++
		if !g.missed[diff.TopUpID] {
			g.Errorf("%+v, and no event was lost", diff)
		}
	}
}
