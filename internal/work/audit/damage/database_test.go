package damage_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
)

// openRaw opens a service's database next to it, without foreign keys and checks: a hand
// in the database, or a broken disk, obeys none.
func openRaw(t *testing.T, address string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if (db.Config{URL: address}).Name() == "sqlite" {
		driver = "sqlite"
		file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: address}).EscapedPath(), RawQuery: strings.Join([]string{
			"_pragma=busy_timeout(10000)", "_pragma=synchronous(OFF)", "_pragma=foreign_keys(0)", "_pragma=ignore_check_constraints(1)",
		}, "&")}
		address = file.String()
	}
	raw, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	if driver == "pgx" {
		dropConstraints(t, raw)
	}
	return raw
}

func dropConstraints(t *testing.T, raw *sql.DB) {
	t.Helper()
	for _, drop := range texts(t, raw, `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
		FROM pg_constraint WHERE contype IN ('f', 'c') AND conrelid <> 0 AND connamespace = current_schema()::regnamespace`) {
		if _, err := raw.Exec(drop); err != nil {
			t.Fatal(err)
		}
	}
}

// texts reads one column of text.
func texts(t *testing.T, raw *sql.DB, statement string, values ...any) (all []string) {
	t.Helper()
	rows, err := raw.Query(statement, values...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// column is a column of the live schema.
type column struct {
	table, name string
	number      bool // a bigint; otherwise a text
}

func (c column) String() string { return c.table + "." + c.name }

// columns lists every column of every table, in one order on both engines.
func (s *store) columns() (all []column) {
	s.Helper()
	statement := `SELECT table_name || ' ' || column_name || ' ' || data_type FROM information_schema.columns
		WHERE table_schema = current_schema() ORDER BY table_name COLLATE "C", ordinal_position`
	if s.app.DB.Engine() == "sqlite" {
		statement = `SELECT m.name || ' ' || p.name || ' ' || p.type FROM sqlite_master m, pragma_table_info(m.name) p
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, p.cid`
	}
	for _, line := range texts(s.T, s.raw, statement) {
		part := strings.SplitN(line, " ", 3)
		if part[0] == "goose_db_version" {
			continue // the migrator's own, which refuses to open what it does not know
		}
		if part[0] == "schema_reach" {
			continue // the migrations' own: it says which older programs can serve
		}
		if part[0] == "process" {
			continue // a process leaves the register when it stops
		}
		if part[0] == "unsummed" {
			continue // it has rows while an upgrade is not done, and each is a breach
		}
		if part[0] == "moved_clock" {
			continue // only test worlds have a row; in this store one is a breach
		}
		all = append(all, column{part[0], part[1], part[2] == "bigint"})
	}
	return all
}

// cell is one value of a row. handle is the row's place, which survives every update that
// this package makes.
type cell struct {
	handle string
	value  string
}

// handleOf names a row whatever its values: SQLite's rowid stays, PostgreSQL's ctid is that
// of the row's newest version.
func (s *store) handleOf() string {
	if s.app.DB.Engine() == "sqlite" {
		return "rowid"
	}
	return "ctid"
}

// cells reads a column, in the order in which its rows were written.
func (s *store) cells(c column) (all []cell) {
	s.Helper()
	statement := fmt.Sprintf("SELECT CAST(%[1]s AS text) || ' ' || CAST(%[2]s AS text) FROM %[3]s ORDER BY %[1]s", s.handleOf(), c.name, c.table)
	for _, line := range texts(s.T, s.raw, statement) {
		handle, value, _ := strings.Cut(line, " ")
		all = append(all, cell{handle, value})
	}
	return all
}

// set writes a cell and returns the row's handle from then on. An error means that the
// schema refuses the value, such as a key that another row has.
func (s *store) set(c column, handle, value string) (moved string, err error) {
	s.Helper()
	place := "$1"
	if s.app.DB.Engine() == "postgres" {
		place = "CAST(CAST($1 AS text) AS " + map[bool]string{true: "bigint", false: "text"}[c.number] + ")"
	}
	statement := fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s = %s RETURNING CAST(%s AS text)", c.table, c.name, place, s.handleOf(), "$2", s.handleOf())
	if s.app.DB.Engine() == "postgres" {
		statement = strings.Replace(statement, "= $2", "= CAST(CAST($2 AS text) AS tid)", 1)
	}
	var argument any = value
	if c.number && s.app.DB.Engine() == "sqlite" {
		if argument, err = strconv.ParseInt(value, 10, 64); err != nil {
			return "", err
		}
	}
	err = s.raw.QueryRow(statement, argument, handle).Scan(&moved)
	return moved, err
}

// damage is another value of the same type for a cell.
type damage struct {
	kind, value string
}

// damages lists the plausible wrong values of a cell: each is of the column's type.
func damages(random *rand.Rand, c column, all []cell, now string) (some []damage) {
	add := func(kind, value string) {
		if value != now {
			some = append(some, damage{kind, value})
		}
	}
	// A value that another row has: another id, another state, another time.
	others := map[string]bool{}
	for _, other := range all {
		if other.value != now && !others[other.value] {
			others[other.value] = true
		}
	}
	if other := all[random.IntN(len(all))].value; len(others) > 0 {
		for other == now {
			other = all[random.IntN(len(all))].value
		}
		add("another row's", other)
	}
	if c.number {
		n, _ := strconv.ParseInt(now, 10, 64)
		add("one more", strconv.FormatInt(n+1, 10))
		add("one less", strconv.FormatInt(n-1, 10))
		add("large", strconv.FormatInt(n+1_000_000_000_000, 10))
		add("none", "0")
		return some
	}
	add("none", "")
	if now == "" {
		add("some text", "x")
		return some
	}
	at := random.IntN(len(now))
	digits := strings.IndexFunc(now[at:], func(r rune) bool { return strings.ContainsRune("0123456789abcdef", r) })
	if digits >= 0 {
		at += digits
		add("another digit", now[:at]+string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", now[at])+1+random.IntN(14))%16])+now[at+1:])
	}
	at = random.IntN(len(now))
	if now[at] < 0x80 {
		add("another letter", now[:at]+string(rune('A'+random.IntN(26)))+now[at+1:])
	}
	return some
}
