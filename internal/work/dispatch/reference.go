package dispatch

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/seam"
)

// Reference is what is known of the reference rows of a kind of machine: a Blender build on a
// device. Workers send the seam of theirs (strips.Strip.Seam) when they register.
type Reference struct {
	// Rows is the seam that most agree on; "" where none is known, or no one has a majority.
	Rows string
	// Machines are how many delivered rows. They are told apart by node key and name, and only the
	// last rows of each count.
	Machines int
}

// mostReferences bounds the rows that are read of one kind of machine.
const mostReferences = 10_000

// ReferenceOf finds the reference rows of the kind of machine that a worker is. A machine can
// claim any rows and any name, so each node key has one vote for each kind of rows that it delivered,
// and only more votes than every other kind make a reference. Where one key delivered all, its machines
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
	voters := map[string]map[string]bool{} // by the first of the rows that agree
	for m, rows := range last {
		voter := m.key
		if len(keys) == 1 {
			voter = m.name
		}
		kind := agreeing(rows, voters)
		if voters[kind] == nil {
			voters[kind] = map[string]bool{}
		}
		voters[kind][voter] = true
	}
	found, most := Reference{Machines: len(last)}, 0
	for rows, of := range voters {
		switch {
		case len(of) > most:
			found.Rows, most = rows, len(of)
		case len(of) == most:
			found.Rows = ""
		}
	}
	return found, nil
}

// mostKinds bounds the rows that others are compared with: beyond it, only equal ones count as the same.
const mostKinds = 64

// agreeing finds rows that agree with some, of those that have voters; otherwise it is these rows.
func agreeing(rows string, voters map[string]map[string]bool) string {
	if _, known := voters[rows]; known {
		return rows
	}
	compared := 0
	for kind := range voters {
		if compared++; compared > mostKinds {
			break
		}
		if seam.Agree(kind, rows) {
			return kind
		}
	}
	return rows
}
