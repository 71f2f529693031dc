package processes_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// A round of chaos that hangs describes itself.
const (
	// chaosMost is far more than a round takes in which every wait ends normally.
	chaosMost = 15 * time.Minute
	// lookTimeout bounds each read of a store that may hang too.
	lookTimeout = 10 * time.Second
)

// watch ends the tests when the round hangs, and says in a file what waits there.
func (c *chaos) watch(seed uint64) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("svc-chaos-%d.txt", seed))
	hangs := time.AfterFunc(chaosMost, func() {
		file, err := os.Create(path)
		if err == nil {
			c.describe(file)
			err = file.Close()
		}
		panic(fmt.Sprintf("the round of seed %d hangs; %s says what waits (%v)", seed, path, err))
	})
	c.t.Cleanup(func() { hangs.Stop() }) // the first of all, so the last that is run
}

// describe writes what waits in the database, the jobs and this process, and the last
// events of the others. What waits in those they print themselves, on their way out.
func (c *chaos) describe(w io.Writer) {
	if strings.HasPrefix(c.database, "postgres") {
		section(w, "the database", sessions(c.database, w))
	}
	if c.service != nil {
		ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
		defer cancel()
		section(w, "the jobs", c.service.App.DB.Read(ctx, func(tx *db.Tx) error { return stuck(ctx, tx, c.skew, w) }))
	}
	section(w, "this process", pprof.Lookup("goroutine").WriteTo(w, 2))
	for _, v := range append(c.servers, c.workers...) {
		_, _ = fmt.Fprintf(w, "%s %d, stopped: %t; its last %d events:\n", v.role, v.p.Process.Pid, v.stopped, lastEvents)
		v.log.print(w)
		_ = v.p.Process.Signal(syscall.SIGCONT)
		_ = v.p.Process.Signal(syscall.SIGQUIT)
	}
}

func section(w io.Writer, what string, err error) {
	_, _ = fmt.Fprintf(w, "-- that was %s (%v)\n", what, err)
}

// sessions writes what PostgreSQL does in a database, and which session waits
// for which.
func sessions(database string, w io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	server, err := sql.Open("pgx", database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	rows, err := server.QueryContext(ctx, `
		SELECT concat_ws(' ', 'session', pid, state, 'waits for', wait_event_type, wait_event, 'held by', pg_blocking_pids(pid)::text, 'since', state_change, left(query, 300))
		FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY pid`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return rows.Err()
}

// stuck writes what is still to be done. skew is by how much the servers' clock is
// ahead of the reader's.
func stuck(ctx context.Context, tx *db.Tx, skew time.Duration, w io.Writer) error {
	jobs, err := tx.JobsLive(ctx)
	for _, id := range jobs {
		record, err := tx.JobGet(ctx, id)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w, "%s is %s, with %d of %d frames, at %d of the clock\n", id, record.Status, record.FramesCompleted, record.FrameCount, tx.Now+skew.Microseconds())
		work := []string{fmt.Sprintf("%s:%s:0", job.PackageQueue, id)}
		for frame := range record.FrameCount {
			work = append(work, fmt.Sprintf("%s:%s:%d", dispatch.FrameQueue, id, frame+1))
		}
		for _, l := range work {
			if row, err := tx.LeaseGet(ctx, l); err == nil {
				_, _ = fmt.Fprintf(w, "%+v\n", row)
			}
		}
	}
	return err
}

func TestTheWatchdogSaysWhatWaits(t *testing.T) {
	t.Parallel()
	config := app.Config{Data: t.TempDir(), Database: dbtest.URL(t, "postgres"), Log: story.LogOf(t)}
	svc := story.Start(t, config)
	server := &faultTarget{role: story.ServerRole, config: func() any {
		return story.ServerConfig{Listen: story.FreeAddress(t), Data: config.Data, Database: config.Database, Blobs: config.Blobs, LeaseLife: chaosLapse, NoWorker: true}
	}}
	server.start(t)
	if _, ok := server.p.Await(story.Patient(t), "listens"); !ok {
		t.Fatal("the other server does not start")
	}
	_, _ = fmt.Fprintln(&server.log, "an event of the other server")
	c := &chaos{t: t, service: svc, database: config.Database, servers: []*faultTarget{server}}
	job := svc.Caller(story.Credit).StartFrames(2)
	raw, err := sql.Open("pgx", config.Database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	ctx, cancel := context.WithCancel(story.Patient(t))
	defer cancel()
	holder, err := raw.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	const wants = "UPDATE workspace SET created_at = created_at"
	if _, err := holder.ExecContext(ctx, wants); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = raw.ExecContext(ctx, wants)
	}()
	var output strings.Builder
	for !strings.Contains(output.String(), "active waits for Lock") {
		if ctx.Err() != nil {
			t.Fatalf("nothing waits:\n%.6000s", output.String())
		}
		c.describe(&output) // what the first one says is kept: it ends the other server
	}
	for _, want := range []string{"held by {", wants, job.JobID + " is queued", "{LeaseID:frame:" + job.JobID + ":1", "TestTheWatchdogSaysWhatWaits", "an event of the other server"} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, output.String())
		}
	}
	cancel()
	<-ended
}
