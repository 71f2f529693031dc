package dispatch_test

import (
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
)

func TestANodeKeyRegistersSoManyWorkersAnHour(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		key := w.NodeKey(t)
		first := w.WorkerOf(t, key)
		raw := dbtest.Raw(t, w.URL)
		_, err := raw.ExecContext(t.Context(), `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
			INSERT INTO worker (worker_id, key_id, name, blender_version, build_hash, device, device_name, denoise, registered_at, seen_at)
			SELECT 'NOD-' || CAST(n.i AS text), k.key_id, k.name, k.blender_version, k.build_hash, k.device, k.device_name, k.denoise, k.registered_at, k.seen_at
			FROM worker k, n WHERE k.worker_id = $1`, first)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { // rows of no registration, which have no checksum
			if _, err := raw.ExecContext(t.Context(), "DELETE FROM worker WHERE worker_id IN (SELECT worker_id FROM worker WHERE row_sum = '')"); err != nil {
				t.Error(err)
			}
		}()
		register := func(keyID string) error {
			_, err := w.Workers.Register(t.Context(), dispatch.Worker{KeyID: keyID, Name: "w", Renderer: "blender", BlenderVersion: "4.1.1", Device: "GPU", DeviceName: "a GPU"})
			return err
		}
		if err := register(key); !fault.Is(err, fault.RateLimited) {
			t.Errorf("one more: %v", err)
		}
		if err := register(w.NodeKey(t)); err != nil {
			t.Errorf("another key: %v", err)
		}
		w.Advance(time.Hour + time.Minute)
		if err := register(key); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	})
}
