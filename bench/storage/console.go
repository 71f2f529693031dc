package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"svc.example/bench/rounds"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
)

// Rows of the console.
const (
	rowConsoleJobs   = "console/the list of jobs"
	rowConsoleSearch = "console/a search that finds nothing"
	rowConsoleWallet = "console/the wallet"
	rowConsoleOpen   = "console/200 open pages"
	rowConsoleLong   = "console/the page of a job of 2,000 frames"
	rowConsoleBytes  = "console/what a browser loads of it without pictures"
)

const (
	consoleJobs  = 10_000
	consoleReads = 40 // of each page in a round
	consoleOpen  = 200
	fewJobs      = 30 // a page and a bit
)

// Console measures pages of a workspace with many finished jobs, compared with one with
// few, and what pages that stay open take.
func Console() rounds.Group {
	baseline := fmt.Sprintf("a workspace of %d jobs", fewJobs)
	short := fmt.Sprintf("a job of %d frames", shortFrames)
	note := fmt.Sprintf("%d jobs of one workspace; the answer's last byte, median of %d", consoleJobs, consoleReads)
	goal := rounds.Under(0.03, rounds.Duration)
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowConsoleJobs, Unit: rounds.Duration, Baseline: baseline, Goal: goal, Note: note},
			{Name: rowConsoleSearch, Unit: rounds.Duration, Baseline: baseline, Goal: goal, Note: note},
			{Name: rowConsoleWallet, Unit: rounds.Duration, Baseline: baseline, Goal: goal, Note: note},
			{Name: rowConsoleLong, Unit: rounds.Duration, Baseline: short, Goal: rounds.Under(0.1, rounds.Duration), Note: fmt.Sprintf("its frames have times and thumbnails; the answer's last byte, median of %d", consoleReads)},
			{Name: rowConsoleBytes, Unit: rounds.Kilobytes, Baseline: short, Goal: rounds.Under(60e3, rounds.Kilobytes).Always(), Note: "page, styles, scripts and typeface, by gzip"},
			{Name: rowConsoleOpen, Unit: rounds.Size, Baseline: "the process before", Goal: rounds.Under(100e6, rounds.Size).Always(), Note: "streams of the list of jobs; both ends are in this process"},
		},
		Measure: measureConsole,
	}
}

func measureConsole(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	many, err := openConsole(ctx, b, consoleJobs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, many.stop()) }()
	few, err := openConsole(ctx, b, fewJobs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, few.stop()) }()
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		for row, path := range map[string]string{rowConsoleJobs: "/console", rowConsoleSearch: "/console?q=nothing", rowConsoleWallet: "/console/wallet"} {
			var ours, theirs float64
			err := b.Turns(func() (err error) {
				ours, err = many.read(ctx, path)
				return err
			}, func() (err error) {
				theirs, err = few.read(ctx, path)
				return err
			})
			if err != nil {
				return err
			}
			r.Add(row, ours, theirs)
		}
		if err := many.long(ctx, b, r); err != nil {
			return err
		}
		grown, before, err := many.open(ctx)
		if err == nil {
			r.Add(rowConsoleOpen, grown, before)
		}
		return err
	})
}

// console is a service in this process, and the session of its one person.
type console struct {
	app     *app.App
	url     string
	session *http.Cookie
	end     context.CancelFunc
	served  chan error
	client  *http.Client
}

// openConsole makes a store of so many finished jobs and serves it. End it with stop.
func openConsole(ctx context.Context, b *rounds.Run, jobs int) (*console, error) {
	data, err := b.Dir("console-")
	if err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	config := app.Config{
		Listen: "127.0.0.1:0", Data: data, Log: slog.New(slog.DiscardHandler), LogOrigin: "bench.example.com/log", OpenRequests: 2 * consoleOpen,
		Announce: func(address string) { listening <- address },
	}
	if _, err := finishedJobs(ctx, "sqlite", config, jobs); err != nil {
		return nil, fmt.Errorf("make %d jobs: %w", jobs, err)
	}
	for n, frames := range map[int]int{longJob: longFrames, shortJob: shortFrames} {
		if err := lengthen(ctx, config, n, frames); err != nil {
			return nil, err
		}
	}
	b.Say("%d jobs are made", jobs)
	c := &console{served: make(chan error, 1), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * consoleOpen}}}
	if c.app, err = app.Open(ctx, config); err != nil {
		return nil, err
	}
	err = c.app.DB.Write(ctx, func(tx *db.Tx) error {
		token, err := identity.CreateSignInLink(ctx, tx, "many@example.com")
		if err != nil {
			return err
		}
		opened, err := identity.SignIn(ctx, tx, token, "")
		c.session = &http.Cookie{Name: contract.SessionCookie, Value: opened.Token}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, c.app.Close())
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	c.end = end
	go func() { c.served <- c.app.Serve(serving) }()
	select {
	case c.url = <-listening:
		return c, nil
	case err := <-c.served:
		end()
		return nil, errors.Join(fmt.Errorf("the service ended before it listened: %w", err), c.app.Close())
	}
}

func (c *console) stop() error {
	c.client.CloseIdleConnections()
	c.end()
	return errors.Join(<-c.served, c.app.Close())
}

// get opens a page. The caller closes its body.
func (c *console) get(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, err
	}
	r.AddCookie(c.session)
	answer, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s is answered with %s", path, answer.Status), answer.Body.Close())
	}
	return answer.Body, nil
}

// read opens a page again and again, and returns the median of the seconds.
func (c *console) read(ctx context.Context, path string) (float64, error) {
	var all []float64
	for range consoleReads {
		began := time.Now()
		body, err := c.get(ctx, path)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, body)
		if err := errors.Join(err, body.Close()); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began).Seconds())
	}
	return rounds.Percentile(all, 0.5)
}

// open opens the streams of many pages, and returns by how many bytes this process has grown
// when each has sent its first line, and what it had before.
func (c *console) open(ctx context.Context) (grown, before float64, err error) {
	before = resident()
	ctx, end := context.WithCancel(ctx)
	defer end()
	var streams []io.Closer
	defer func() {
		for _, s := range streams {
			_ = s.Close() // the stream ends with it
		}
	}()
	for range consoleOpen {
		body, err := c.get(ctx, "/console/live")
		if err != nil {
			return 0, 0, err
		}
		streams = append(streams, body)
		if _, err := io.ReadFull(body, make([]byte, 1)); err != nil {
			return 0, 0, err
		}
	}
	return max(0, resident()-before), before, nil
}

// resident is what the heap and the stacks of this process take, in bytes.
func resident() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse + m.StackInuse)
}
