package watch

import (
	"slices"
	"sync"
)

// previewBytes bounds the previews that this process keeps for slow watchers, over all
// watched jobs: some hundred previews.
const previewBytes = 8 << 20

// budget bounds the bytes of previews of all feeds together. A bound per feed would grow
// with the number of watched jobs. The zero value is empty. It has a lock of its own,
// which is never held together with a feed's.
type budget struct {
	mu    sync.Mutex
	kept  []keptPreview // the oldest first
	bytes int           // of all kept previews, as they are sent
}

// keptPreview is a preview with the feed that keeps it.
type keptPreview struct {
	feed  *feed
	event *Event
}

// keep counts a preview that a feed keeps, and drops the oldest previews of any feed until
// all fit into most bytes. The caller holds no lock of a feed: drop takes those.
func (b *budget) keep(f *feed, e *Event, most int) {
	b.mu.Lock()
	b.kept, b.bytes = append(b.kept, keptPreview{f, e}), b.bytes+len(e.Data)
	n := 0
	for ; b.bytes > most; n++ {
		b.bytes -= len(b.kept[n].event.Data)
	}
	dropped := b.kept[:n]
	// Cloned, so that the array does not keep the dropped events alive.
	b.kept = slices.Clone(b.kept[n:])
	b.mu.Unlock()
	for _, d := range dropped {
		d.feed.drop(d.event)
	}
}

// release forgets the previews of a feed that has ended. Without it the bytes of ended
// feeds would count for ever, and crowd out those of live ones.
func (b *budget) release(f *feed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = slices.DeleteFunc(b.kept, func(k keptPreview) bool {
		if k.feed == f {
			b.bytes -= len(k.event.Data)
		}
		return k.feed == f
	})
}
