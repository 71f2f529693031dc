package dispatch

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Reference is what is known of the reference rows of a kind of machine: a Blender build on a
// device. Workers send the hash of theirs when they register.
type Reference struct {
	// SHA256 is the hash that most agree on; "" where none is known, or no one has a majority.
	SHA256 string
	// Machines are how many delivered rows. They are told apart by node key and name, and only the
	// last rows of each count.
	Machines int
}

// mostReferences bounds the rows that are read of one kind of machine.
const mostReferences = 10_000

// ReferenceOf finds the reference rows of the kind of machine that a worker is. A machine can
// claim any rows and any name, so each node key has one vote for each hash that it delivered, and
// only more votes than every other hash make a reference. Where one key delivered all, its machines
// vote instead. Keys that were revoked do not count.
func ReferenceOf(ctx context.Context, tx *db.Tx, w Worker) (Reference, error) {
	rows, err := tx.WorkersReference(ctx, query.WorkersReferenceParams{
		Device: w.Device, DeviceName: w.DeviceName, Renderer: w.Renderer, BlenderVersion: w.BlenderVersion, BuildHash: w.BuildHash, Max: mostReferences,
	})
	if err != nil {
		return Reference{}, fmt.Errorf("read reference rows: %w", err)
	}
	type machine struct{ key, name string }
	last, keys := map[machine]string{}, map[string]bool{}
	for _, r := range rows { // the newest first
		m := machine{r.KeyID, r.Name}
		if _, seen := last[m]; !seen {
			last[m], keys[m.key] = r.RowsSha256, true
		}
	}
	voters := map[string]map[string]bool{}
	for m, sum := range last {
		voter := m.key
		if len(keys) == 1 {
			voter = m.name
		}
		if voters[sum] == nil {
			voters[sum] = map[string]bool{}
		}
		voters[sum][voter] = true
	}
	found, most := Reference{Machines: len(last)}, 0
	for sum, of := range voters {
		switch {
		case len(of) > most:
			found.SHA256, most = sum, len(of)
		case len(of) == most:
			found.SHA256 = ""
		}
	}
	return found, nil
}
