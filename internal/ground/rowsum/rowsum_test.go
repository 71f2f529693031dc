package rowsum_test

import (
	"errors"
	"fmt"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/test/dbtest"
)

// table is one that the tests fill as they like.
var table = rowsum.Table[query.Workspace]{Name: "workspace", Key: 1}

func TestEachFieldAndItsPlaceChangesTheSum(t *testing.T) {
	t.Parallel()
	seen := map[string]query.Workspace{}
	for _, row := range []query.Workspace{
		{}, {WorkspaceID: "ab", Name: "c"}, {WorkspaceID: "a", Name: "bc"}, {WorkspaceID: "abc"}, {Name: "abc"}, {CreatedAt: 1}, {Name: "1"},
		{WorkspaceID: "a\n1 b"}, {WorkspaceID: "a", Name: "b"},
	} {
		if other, same := seen[table.Of(row)]; same {
			t.Errorf("%+v and %+v have the same sum", row, other)
		}
		seen[table.Of(row)] = row
	}
}

// TestALaterColumnCountsOnceItHasSomething: a row of before keeps its sum, and no later
// column can stand for another.
func TestALaterColumnCountsOnceItHasSomething(t *testing.T) {
	t.Parallel()
	type before struct{ ID, RowSum string }
	type now struct {
		ID, RowSum   string
		Times, Place string
		Count        int64
	}
	old, later := rowsum.Table[before]{Name: "a", Key: 1}, rowsum.Table[now]{Name: "a", Key: 1, Later: []string{"Times", "Place", "Count"}}
	if old.Of(before{ID: "1"}) != later.Of(now{ID: "1"}) {
		t.Error("a row of before has another sum")
	}
	seen := map[string]now{}
	for _, row := range []now{{ID: "1"}, {ID: "1", Times: "7"}, {ID: "1", Place: "7"}, {ID: "1", Count: 7}, {ID: "1", Times: "7", Place: "7"}, {ID: "1", Times: "7", Count: 7}} {
		sum := later.Of(row)
		if other, same := seen[sum]; same {
			t.Errorf("%+v and %+v have the same sum", row, other)
		}
		seen[sum] = row
	}
}

// TestRowsOfAnOlderVersionAreFilledOnce: afterwards a row without a sum is damaged, also
// when a service starts again.
func TestRowsOfAnOlderVersionAreFilledOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		tables := rowsum.Tables{table}
		const rows = 1201 // more than two pages
		ctx := t.Context()
		d := dbtest.Open(t, db.Config{URL: url})
		raw := dbtest.Raw(t, url)
		for i := range rows {
			if _, err := raw.ExecContext(ctx, fmt.Sprintf("INSERT INTO workspace (workspace_id, name, created_at) VALUES ('WSP-%d', 'old', 1)", i)); err != nil {
				t.Fatal(err)
			}
		}
		breaches := func() (n, seen int) {
			t.Helper()
			count := func(string, string, string, ...any) { n++ }
			err := d.Read(ctx, func(tx *db.Tx) error {
				n, seen = 0, 0
				return errors.Join(rowsum.Audit(ctx, tx, count), table.Audit(ctx, tx, count, func(query.Workspace) error { seen++; return nil }))
			})
			if err != nil {
				t.Fatal(err)
			}
			return n, seen
		}
		if _, err := raw.ExecContext(ctx, "INSERT INTO unsummed (relation) VALUES ('workspace')"); err != nil {
			t.Fatal(err)
		}
		if n, _ := breaches(); n != rows+1 {
			t.Errorf("before, there are %d breaches, want one for each row and one for the table", n)
		}
		if err := errors.Join(rowsum.Fill(ctx, d.Write, tables), rowsum.Fill(ctx, d.Write, tables)); err != nil {
			t.Fatal(err)
		}
		if n, seen := breaches(); n != 0 || seen != rows {
			t.Errorf("filled, there are %d breaches in %d rows", n, seen)
		}
		if _, err := raw.ExecContext(ctx, "UPDATE workspace SET row_sum = '' WHERE workspace_id = 'WSP-7'"); err != nil {
			t.Fatal(err)
		}
		if err := rowsum.Fill(ctx, d.Write, tables); err != nil {
			t.Fatal(err)
		}
		if n, _ := breaches(); n != 1 {
			t.Errorf("a row without its sum gives %d breaches", n)
		}
	})
}
