package sharing

import (
	"context"
	"sync"
)

// Places bounds what is done at once, in all and for each owner, so that one owner never
// holds all places. It must not be copied, and is safe for concurrent use. Most and Share
// are at least 1 and do not change after the first call.
type Places struct {
	Most, Share int

	mu     sync.Mutex
	all    chan struct{}
	owners map[string]*ownerPlaces
}

// ownerPlaces are those of one owner. wanted counts who holds one or waits for it.
type ownerPlaces struct {
	places chan struct{}
	wanted int
}

// Enter waits for a place of an owner. Call leave to give it back. An owner waits for its own
// share first, so however much it asks for, few of its callers stand before those of others.
// Errors: that of ctx.
func (p *Places) Enter(ctx context.Context, owner string) (leave func(), err error) {
	own := p.want(owner)
	if err := take(ctx, own.places); err != nil {
		p.unwant(owner)
		return nil, err
	}
	if err := take(ctx, p.all); err != nil {
		<-own.places
		p.unwant(owner)
		return nil, err
	}
	return func() { p.leave(owner, own) }, nil
}

// Try is Enter that does not wait: ok is false where the owner's share, or all places, are
// taken.
func (p *Places) Try(owner string) (leave func(), ok bool) {
	own := p.want(owner)
	select {
	case own.places <- struct{}{}:
	default:
		p.unwant(owner)
		return nil, false
	}
	select {
	case p.all <- struct{}{}:
		return func() { p.leave(owner, own) }, true
	default:
		<-own.places
		p.unwant(owner)
		return nil, false
	}
}

func (p *Places) leave(owner string, own *ownerPlaces) {
	<-p.all
	<-own.places
	p.unwant(owner)
}

func (p *Places) want(owner string) *ownerPlaces {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owners == nil {
		p.owners, p.all = map[string]*ownerPlaces{}, make(chan struct{}, p.Most)
	}
	own := p.owners[owner]
	if own == nil {
		own = &ownerPlaces{places: make(chan struct{}, p.Share)}
		p.owners[owner] = own
	}
	own.wanted++
	return own
}

// unwant forgets an owner of whom nobody wants a place.
func (p *Places) unwant(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owners[owner].wanted--; p.owners[owner].wanted == 0 {
		delete(p.owners, owner)
	}
}
