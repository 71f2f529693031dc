package watch

import (
	"slices"
	"sync"
)

// previewBytes is how many bytes of previews are kept in this process for watchers
// who are behind, however many jobs are watched: some hundred previews.
const previewBytes = 8 << 20

// budget bounds what all feeds together keep of previews. The zero value is empty.
type budget struct {
	mu    sync.Mutex
	kept  []keptPreview // the oldest first
	bytes int
}

// keptPreview is a preview with the feed that keeps it.
type keptPreview struct {
	feed  *feed
	event *Event
}

// keep counts a preview that a feed keeps, and has the oldest ones dropped, of
// whichever feed, until all fit into most bytes. It is called without a feed's locks.
func (b *budget) keep(f *feed, e *Event, most int) {
	b.mu.Lock()
	b.kept, b.bytes = append(b.kept, keptPreview{f, e}), b.bytes+len(e.Data)
	n := 0
	for ; b.bytes > most; n++ {
		b.bytes -= len(b.kept[n].event.Data)
	}
	dropped := b.kept[:n]
	b.kept = slices.Clone(b.kept[n:])
	b.mu.Unlock()
	for _, d := range dropped {
		d.feed.drop(d.event)
	}
}

// release forgets what a feed kept that has ended.
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
