package process_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/process"
)

// TestAProcessIsInTheRegisterWhileItServes, and no longer; one that crashed is known for a while.
func TestAProcessIsInTheRegisterWhileItServes(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		skew := time.Duration(0)
		d := dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return skew }})
		list := func() (all []process.Process) {
			t.Helper()
			err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
				all, err = process.List(t.Context(), tx)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		one, crashed := process.Register{DB: d, Log: slog.New(slog.DiscardHandler)}, process.Register{DB: d}
		for _, r := range []*process.Register{&crashed, &one} {
			if err := r.Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		schema, err := db.Schema()
		if err != nil {
			t.Fatal(err)
		}
		if all := list(); len(all) != 2 || !all[0].Alive || all[0].Schema != schema || all[0].Version == "" || all[0].Host == "" {
			t.Fatalf("the register is %+v", all)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{}, 1)
		go func() {
			one.Run(ctx)
			ended <- struct{}{}
		}()
		stop()
		await.Next(t, ended, "the end of the process")
		if all := list(); len(all) != 1 {
			t.Fatalf("one process has stopped, and the register is %+v", all)
		}
		skew = db.ProcessAlive + time.Second
		if all := list(); len(all) != 1 || all[0].Alive {
			t.Errorf("a process that fell silent: %+v", all)
		}
		skew = 2 * time.Hour
		if err := one.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all := list(); len(all) != 1 || !all[0].Alive {
			t.Errorf("two hours later: %+v", all)
		}
	})
}
