package scale

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"svc.example/bench/rounds"
)

const (
	streamsMany = 10_000
	streamsFew  = 1000
	streamsJobs = 10 // over which they spread
)

// Streams holds ten thousand event streams of jobs in which nothing happens open at one
// process, and measures what memory each takes. The baseline is a thousand streams.
func Streams() rounds.Group {
	const memory, whole = "streams/postgres memory of an idle event stream", "streams/postgres server memory"
	note := fmt.Sprintf("%d streams of %d jobs that wait; one round", streamsMany, streamsJobs)
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: memory, Unit: rounds.Kilobytes, Baseline: fmt.Sprintf("%d streams", streamsFew), Goal: rounds.RatioAtMost(1.2), Note: note},
			{Name: whole, Unit: rounds.Size, Baseline: "before the first", Goal: rounds.Under(1e9, rounds.Size), Note: "resident, all streams open"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
			s, err := serve(ctx, b, "postgres", "--rate-per-minute", "600000", "--rate-burst", "50000", "--open-requests", "20000", "--job-watchers", "20000", "--max-connections", "20000")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.stop()) }()
			var jobs []string
			for range streamsJobs {
				job, err := s.start(ctx, 1)
				if err != nil {
					return err
				}
				jobs = append(jobs, job.JobID)
			}
			ctx, end := context.WithCancel(ctx)
			defer end()
			open := &http.Client{Transport: &http.Transport{ReadBufferSize: 512, WriteBufferSize: 512}}
			before, err := s.resident()
			if err != nil {
				return err
			}
			var at []float64
			for _, n := range []int{streamsFew, streamsMany - streamsFew} {
				if err := s.openStreams(ctx, open, jobs, n); err != nil {
					return err
				}
				now, err := s.resident()
				if err != nil {
					return err
				}
				at = append(at, now)
				b.Say("%.1f MB are resident, %.1f MB were before the streams", now/1e6, before/1e6)
			}
			into.Add(memory, (at[1]-before)/streamsMany, (at[0]-before)/streamsFew)
			into.Add(whole, at[1], before)
			return nil
		},
	}
}

// streamsPause is for the server to end what opening took.
const streamsPause = 3 * time.Second

// resident is what the server has resident a moment later.
func (s *server) resident() (float64, error) {
	time.Sleep(streamsPause)
	return rounds.Memory(s.process.Process.Pid, "VmRSS")
}

// openStreams opens n event streams, over the jobs in turn, and returns when each has sent
// its first event. They stay open until ctx ends.
func (s *server) openStreams(ctx context.Context, with *http.Client, jobs []string, n int) error {
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	_, err := rounds.Throughput(lookOrders, n, func(int) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/renders/"+jobs[<-next%len(jobs)]+"/events", nil)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+s.account)
		answer, err := with.Do(request)
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(io.LimitReader(answer.Body, 500)) // what it says is all there is
			return errors.Join(fmt.Errorf("the stream answers %s: %s", answer.Status, text), answer.Body.Close())
		}
		line, err := bufio.NewReaderSize(answer.Body, 16).ReadString('\n')
		if err == nil && strings.TrimSpace(line) == "" {
			err = errors.New("the stream begins with an empty line")
		}
		return err // the end of ctx closes the body
	})
	return err
}
