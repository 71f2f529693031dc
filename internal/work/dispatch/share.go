package dispatch

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// smallShare is what a key may hold whatever its share: keys also count whose workers cannot
// render a job at all, so a strict share of a few frames could leave them waiting.
const smallShare = 4

// roomOf is how many more frames the workers of a node key may hold: together a fair share of
// all that wait or are held, by the keys that are online; but one for each worker of which a
// frame was accepted within keyWindow. So a key whose workers only hold frames leaves the rest
// to others, however many workers it registers, and a large farm never idles beside a small
// one. A key that is alone holds as many as it likes. most is the largest number of interest.
func roomOf(ctx context.Context, tx *db.Tx, keyID string, most int64) (room int64, err error) {
	share, err := tx.KeyShare(ctx, query.KeyShareParams{Since: onlineSince(tx), Now: tx.Now, KeyID: keyID})
	if err != nil {
		return 0, fmt.Errorf("read the share of a node key: %w", err)
	}
	if share.Keys < 2 {
		return most, nil
	}
	all, err := tx.FramesToShare(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the frames to share: %w", err)
	}
	room = max((all+share.Keys-1)/share.Keys, smallShare) - share.Held
	if room >= most {
		return most, nil
	}
	proven, err := tx.KeyProven(ctx, query.KeyProvenParams{Proven: tx.Now - keyWindow.Microseconds(), KeyID: keyID, Since: onlineSince(tx)})
	if err != nil {
		return 0, fmt.Errorf("count the workers of a node key: %w", err)
	}
	return min(most, max(0, room, proven-share.Held)), nil
}
