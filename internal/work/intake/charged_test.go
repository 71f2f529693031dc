package intake_test

import (
	"bytes"
	"testing"
	"time"

	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/intake"
)

// ticking is a clock of threads on which a section takes a second.
type ticking struct{ used time.Duration }

func (c *ticking) Used() time.Duration { c.used += time.Second; return c.used }
func (*ticking) ID() int               { return 1 }

func TestReadingAnUploadIsCharged(t *testing.T) {
	t.Parallel()
	h, _ := bounded(t, dbtest.URL(t, "sqlite"), 10)
	for what, read := range map[string]func(a *ratelimit.Account) error{
		"a .blend": func(a *ratelimit.Account) error {
			r, err := h.Receive(a.With(t.Context()), h.workspace, intake.File{Name: "scene.blend", Body: bytes.NewReader(scene(t))})
			if err == nil {
				r.Abort()
			}
			return err
		},
		"an archive": func(a *ratelimit.Account) error {
			r, err := h.ReceiveArchive(a.With(t.Context()), h.workspace, intake.File{Name: "scene.zip", Body: bytes.NewReader(scene(t))})
			if err == nil {
				r.Abort()
			}
			return err
		},
	} {
		a := (&ratelimit.Ledger{Thread: &ticking{}}).Account()
		if err := read(a); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if s := a.Spent(h.workspace, time.Now(), 0); s.CPU < time.Second {
			t.Errorf("%s is charged with %s", what, s.CPU)
		}
	}
}
