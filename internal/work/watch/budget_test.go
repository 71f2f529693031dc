package watch

import (
	"encoding/json"
	"testing"
)

// newTestFeed is a feed that is not running.
func newTestFeed() *feed {
	return &feed{grown: make(chan struct{}), more: make(chan struct{}, 1), made: map[int64]*Event{}}
}

// show makes, keeps and publishes a preview of so many bytes.
func (b *budget) show(f *feed, seq int64, bytes, most int) {
	e := &Event{Kind: PreviewEvent, Seq: seq, Data: json.RawMessage(make([]byte, bytes))}
	f.made[seq] = e
	b.keep(f, e, most)
	f.publish(e)
}

// held is the number of bytes of previews that a feed keeps, published or not.
func (f *feed) held() (bytes int) {
	seen := map[*Event]bool{}
	for _, e := range f.events {
		seen[e] = true
	}
	for _, e := range f.made {
		seen[e] = true
	}
	for e := range seen {
		bytes += len(e.Data)
	}
	return bytes
}

func TestPreviewsOfAllFeedsAreBoundedInBytesAndTheOldestAreDropped(t *testing.T) {
	t.Parallel()
	const size, most = 1000, 10_000
	var b budget
	feeds := []*feed{newTestFeed(), newTestFeed(), newTestFeed()}
	for seq := range int64(300) {
		b.show(feeds[seq%3], seq, size, most)
		held := 0
		for _, f := range feeds {
			held += f.held()
		}
		if held > most || held != b.bytes {
			t.Fatalf("after %d previews the feeds hold %d bytes, %d are counted, %d is the most", seq+1, held, b.bytes, most)
		}
	}
	newest := feeds[299%3]
	if last := newest.events[len(newest.events)-1]; last.Seq != 299 {
		t.Errorf("the newest preview that is kept is %d, want 299", last.Seq)
	}
}

// A watcher that misses a dropped event reads it from the database: the feed
// says that it is behind.
func TestAWatcherOfADroppedPreviewIsBehind(t *testing.T) {
	t.Parallel()
	var b budget
	f := newTestFeed()
	b.show(f, 1, 600, 1000)
	f.publish(&Event{Kind: FrameEvent, Seq: 2})
	b.show(f, 3, 600, 1000) // the first one goes
	if _, _, behind, err := f.eventsFrom(0); !behind || err != nil {
		t.Errorf("a watcher at the dropped preview is not behind: %v", err)
	}
	events, _, behind, err := f.eventsFrom(1)
	if behind || err != nil || len(events) != 2 || events[1].Seq != 3 {
		t.Errorf("a watcher after the dropped preview receives %d events, behind %t, %v", len(events), behind, err)
	}
}

func TestAFeedThatEndsGivesItsBytesBack(t *testing.T) {
	t.Parallel()
	var b budget
	one, two := newTestFeed(), newTestFeed()
	b.show(one, 1, 600, 10_000)
	b.show(two, 1, 300, 10_000)
	b.release(one)
	if b.bytes != 300 || len(b.kept) != 1 {
		t.Errorf("%d bytes of %d previews are counted, want 300 of one", b.bytes, len(b.kept))
	}
}
