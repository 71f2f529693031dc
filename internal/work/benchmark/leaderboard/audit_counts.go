package leaderboard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/benchmark"
)

// groups compares each group with its voices. Ranks and percentiles come
// from these alone, so a wrong one would show nowhere else.
func (b *board) groups(ctx context.Context, tx *db.Tx) error {
	for {
		rows, err := tx.AuditBenchmarkGroups(ctx, b.lastGroup)
		if err != nil {
			return fmt.Errorf("count benchmark groups: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			g := r.BenchmarkGroup
			if g.GroupID != b.lastGroup+1 {
				b.Breach("groups are numbered without a gap", groupName(g), "group %d follows %d", g.GroupID, b.lastGroup)
			}
			b.lastGroup = g.GroupID
			anew, err := figured(ctx, tx, g)
			if err != nil || g.Results != r.Counted || g.Synthetic != r.SyntheticSum || g != anew {
				b.Breach("a GPU's figures are those of its voices", groupName(g), "group %d says %d voices, there are %d, or their figures differ: %v", g.GroupID, g.Results, r.Counted, err)
			}
			if err := b.described(ctx, tx, r); err != nil {
				return err
			}
		}
	}
}

// voices checks that each key speaks by its newest ranked result, and by no other.
func (b *board) voices(ctx context.Context, tx *db.Tx) error {
	wrong, err := tx.AuditBenchmarkVoices(ctx)
	if err != nil {
		return fmt.Errorf("look for voices: %w", err)
	}
	for _, resultID := range wrong {
		b.Breach("a key speaks by its newest ranked result", resultID, "it speaks and should not, or the reverse")
	}
	return nil
}

// described compares a group's description of its GPU with the results it came from: the
// first one named it, the newest one changed it, and the last one with a known memory size
// gave that.
func (b *board) described(ctx context.Context, tx *db.Tx, r query.AuditBenchmarkGroupsRow) error {
	g := r.BenchmarkGroup
	var first, vram query.BenchmarkResult
	for _, read := range []struct {
		number int64
		into   *query.BenchmarkResult
	}{{r.FirstNumber, &first}, {r.VramNumber, &vram}} {
		var err error
		if *read.into, err = tx.BenchmarkResultNumbered(ctx, read.number); err != nil && !db.IsNotFound(err) {
			return fmt.Errorf("read result %d: %w", read.number, err)
		}
	}
	want := g
	want.GpuName, want.UpdatedAt, want.VramGb = first.GpuName, r.ChangedAt, vram.VramGb
	switch name := benchmark.NameOf(first.DeviceName, nil); {
	case g.GpuSlug == "":
		want.GpuName, want.GpuVendor = "", ""
	case strings.HasPrefix(g.GpuSlug, name.Slug):
		want.GpuVendor = name.Vendor
	}
	want.Folded = foldedName(benchmark.Name{Name: want.GpuName, Slug: want.GpuSlug})
	if g != want {
		b.Breach("a group describes its GPU as its results do", groupName(g), "group %d: %q by %q with %d GB, changed at %d", g.GroupID, g.GpuName, g.GpuVendor, g.VramGb, g.UpdatedAt)
	}
	return nil
}

// groupName is what a person calls a group.
func groupName(g query.BenchmarkGroup) string {
	if g.GpuSlug == "" {
		return "all GPUs"
	}
	return g.GpuSlug
}

// facets checks that values are numbered without a gap, belong to a result, and are
// indexed under their text.
func (b *board) facets(ctx context.Context, tx *db.Tx) error {
	const rule = "a value is searched by what it says"
	for {
		rows, err := tx.AuditBenchmarkFacets(ctx, b.lastFacet)
		if err != nil {
			return fmt.Errorf("read values: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			f := r.BenchmarkFacet
			if f.FacetID != b.lastFacet+1 {
				b.Breach(rule, f.Field+" "+f.Value, "value %d follows %d", f.FacetID, b.lastFacet)
			}
			b.lastFacet = f.FacetID
			first, err := tx.BenchmarkResultNumbered(ctx, r.FirstNumber)
			if db.IsNotFound(err) {
				b.Breach(rule, f.Field+" "+f.Value, "no result has it")
				continue
			}
			if err != nil {
				return fmt.Errorf("read result %d: %w", r.FirstNumber, err)
			}
			also := map[string]string{"blender": "blender", "gpu": first.GpuSlug}[f.Field]
			if f.Folded != (facet{f.Field, f.Value, also}).folded() {
				b.Breach(rule, f.Field+" "+f.Value, "it is searched by %q", f.Folded)
			}
		}
	}
}

// tallies counts the results of every bucket again.
func (b *board) tallies(ctx context.Context, tx *db.Tx) error {
	buckets, err := tx.AuditBenchmarkTallies(ctx)
	if err != nil {
		return fmt.Errorf("count benchmark tallies: %w", err)
	}
	for _, t := range buckets {
		b.Breach("a tally counts its results", fmt.Sprintf("group %d", t.GroupID), "measure %d, level %d, bucket %d has %d results, the tally says another number", t.Measure, t.Level, t.Bucket, t.Results)
	}
	return nil
}

// counts compares the totals: what is too much shows here, since the checks before it
// begin with what should be there.
func (b *board) counts(ctx context.Context, tx *db.Tx) error {
	counts, err := tx.AuditBenchmarkCounts(ctx)
	if err != nil {
		return fmt.Errorf("count benchmark results: %w", err)
	}
	if counts.Shown+counts.Hidden != counts.Accepted {
		b.Breach("what is shown was accepted", "leaderboard", "%d results are shown and %d are hidden, %d receipts were accepted", counts.Shown, counts.Hidden, counts.Accepted)
	}
	if counts.Challenges != b.challenged {
		b.Breach("every challenge has an id", "leaderboard", "there are %d challenges, %d of them with an id", counts.Challenges, b.challenged)
	}
	if counts.Tallied != counts.Expected {
		b.Breach("a tally counts its results", "leaderboard", "the tallies count %d, the results give %d", counts.Tallied, counts.Expected)
	}
	if counts.Postings != b.postings {
		b.Breach("a result is found by its values", "leaderboard", "there are %d postings, the results give %d", counts.Postings, b.postings)
	}
	counters, err := tx.AuditBenchmarkCounter(ctx)
	if err != nil {
		return fmt.Errorf("read the counter: %w", err)
	}
	want := query.BenchmarkCounter{CounterID: 1, LastNumber: b.lastNumber, LastGroup: b.lastGroup, LastFacet: b.lastFacet}
	if !slices.Equal(counters, []query.BenchmarkCounter{want}) {
		b.Breach("the counter gave the last numbers", "leaderboard", "it says %v, the rows say %v", counters, want)
	}
	return nil
}
