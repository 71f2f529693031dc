package dispatch

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// smallShare is what a key may hold regardless of its share. Keys whose workers cannot
// render a job at all also count, so a strict share of a few frames could leave them
// waiting.
const smallShare = 4

// roomOf is how many more frames the workers of a node key may hold: together a fair share, by
// the number of online keys, of all frames that wait or are held; but at least one for each
// worker that had a frame accepted within keyWindow. So a key whose workers only hold frames
// leaves the rest to others, however many workers it registers, and a large farm never idles
// next to a small one. A single key has no such bound. most is the largest number of interest.
func roomOf(ctx context.Context, tx *db.Tx, keyID string, most int64) (room int64, err error) {
	keys, err := tx.OnlineKeys(ctx, query.OnlineKeysParams{Since: onlineSince(tx), Now: tx.Now})
	if err != nil {
		return 0, fmt.Errorf("count the node keys: %w", err)
	}
	if keys < 2 { // what it holds, which takes long for a thousand workers, bounds nothing
		return most, nil
	}
	held, err := tx.KeyHolds(ctx, query.KeyHoldsParams{KeyID: keyID, Since: onlineSince(tx)})
	if err != nil {
		return 0, fmt.Errorf("count the frames of a node key: %w", err)
	}
	all, err := tx.FramesToShare(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the frames to share: %w", err)
	}
	room = max((all+keys-1)/keys, smallShare) - held
	if room >= most {
		return most, nil
	}
	proven, err := tx.KeyProven(ctx, query.KeyProvenParams{Proven: tx.Now - keyWindow.Microseconds(), KeyID: keyID, Since: onlineSince(tx)})
	if err != nil {
		return 0, fmt.Errorf("count the workers of a node key: %w", err)
	}
	return min(most, max(0, room, proven-held)), nil
}
