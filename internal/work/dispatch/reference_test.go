package dispatch_test

import (
	"context"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
)

// machine is a worker of one kind that registers with the hash of its reference rows.
func machine(keyID, name, rows string) dispatch.Worker {
	return dispatch.Worker{
		KeyID: keyID, Name: name, Renderer: contract.RendererID, BlenderVersion: contract.BlenderVersion, BuildHash: "abc", Device: "GPU", DeviceName: "H100", Denoise: "keep", Rows: rows,
	}
}

// Each node key has one vote, so that one machine under many names outvotes nobody; machines of a
// single key vote by their names. Only a majority is a reference.
func TestReferenceRowsAreThoseOfMostKeys(t *testing.T) {
	right, wrong := strings.Repeat("a", 64), strings.Repeat("b", 64)
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		one, two, three := w.NodeKey(t), w.NodeKey(t), w.NodeKey(t)
		register := func(of dispatch.Worker) {
			t.Helper()
			if _, err := w.Workers.Register(t.Context(), of); err != nil {
				t.Fatal(err)
			}
		}
		want := func(when, sum string, machines int) {
			t.Helper()
			w.Read(t, func(ctx context.Context, tx *db.Tx) error {
				got, err := dispatch.ReferenceOf(ctx, tx, machine(one, "asks", ""))
				if got != (dispatch.Reference{Rows: sum, Machines: machines}) {
					t.Errorf("%s: %+v", when, got)
				}
				return err
			})
		}
		register(machine(one, "without", ""))
		other := machine(one, "other", wrong)
		other.BuildHash = "def"
		register(other)
		want("a machine without rows, and one with another build", "", 0)
		register(machine(one, "a", right))
		want("the first machine", right, 1)
		register(machine(one, "b", wrong))
		want("two machines of a key that differ", "", 2)
		register(machine(one, "c", right))
		want("two of three machines of a key", right, 3)
		register(machine(one, "b", right))
		want("the last rows of a machine count", right, 3)
		for _, name := range []string{"1", "2", "3", "4"} {
			register(machine(two, name, wrong))
		}
		want("two keys that differ, however many machines they name", "", 7)
		register(machine(three, "a", right))
		want("two of three keys", right, 8)
		for _, key := range []string{one, three} {
			w.Write(t, func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, key) })
		}
		want("keys that are revoked", wrong, 4)
	})
}
