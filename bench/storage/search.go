package storage

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"svc.example/bench/rounds"
	"svc.example/internal/ground/id"
)

// searchedJobs is how many jobs the workspace has whose lists are searched.
const searchedJobs = 100_000

// taggedJobs are the oldest of them, which a list by their tag reaches last.
const taggedJobs = 40

// searches are the lists that are asked for, with the filter of each.
var searches = []struct {
	what   string
	filter url.Values
}{
	{"all jobs", url.Values{}},
	{"the oldest jobs", url.Values{"before": {numbered(id.Job, 52)}}},
	{"failed jobs, of which there are none", url.Values{"status": {"failed"}}},
	{"a word that all have", url.Values{"q": {"blend"}}},
	{"a word that none has", url.Values{"q": {"nothing"}}},
	{"four words that none has", url.Values{"q": {"none of these words"}}},
	{"a tag of the oldest jobs", url.Values{"tag": {"rare"}}},
	{"a tag that none has", url.Values{"tag": {"unknown"}}},
	{"somebody who started none", url.Values{"person": {"PER-00000000000000000000000000000000"}}},
	{"a frame that none has", url.Values{"frames": {"999999"}}},
	{"a day without jobs", url.Values{"to": {"2001-01-01"}}},
}

// Search measures what a caller waits for a page of the jobs of a workspace with so many,
// compared with one with a thousand.
func Search(engine string) rounds.Group {
	name := func(what string) string { return "search/" + engine + " " + what }
	rows := []rounds.Row{}
	for _, s := range searches {
		rows = append(rows, rounds.Row{
			Name: name(s.what), Unit: rounds.Duration, Baseline: fmt.Sprintf("%d jobs", finishedFew), Goal: rounds.Under(0.2, rounds.Duration),
			Note: fmt.Sprintf("%d jobs of one workspace; median of %d requests, one after the other", searchedJobs, finishedAsked),
		})
	}
	return rounds.Group{Rows: rows, Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
		few, err := openSearched(ctx, b, engine, finishedFew)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, few.stop()) }()
		many, err := openSearched(ctx, b, engine, searchedJobs)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, many.stop()) }()
		return b.Rounds(ctx, into, func(r rounds.Record) error {
			for _, s := range searches {
				s.filter.Set("limit", "50")
				ask := func(f *finished, ctx context.Context) (float64, error) {
					return f.get(ctx, f.url+"/v1/workspace/renders?"+s.filter.Encode())
				}
				var ours, theirs float64
				err := b.Turns(func() (err error) {
					ours, err = many.median(ctx, ask)
					return err
				}, func() (err error) {
					theirs, err = few.median(ctx, ask)
					return err
				})
				if err != nil {
					return fmt.Errorf("%s: %w", s.what, err)
				}
				r.Add(name(s.what), ours, theirs)
			}
			return nil
		})
	}}
}

// openSearched is openFinished with tags on the oldest jobs.
func openSearched(ctx context.Context, b *rounds.Run, engine string, jobs int) (*finished, error) {
	f, err := openFinished(ctx, b, engine, jobs)
	if err != nil {
		return nil, err
	}
	for n := range taggedJobs {
		if _, err := f.agent.SetTags(ctx, numbered(id.Job, n+1), []string{"rare"}); err != nil {
			return nil, errors.Join(err, f.stop())
		}
	}
	return f, nil
}
