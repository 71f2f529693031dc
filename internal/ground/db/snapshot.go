package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Progress is called with the number of rows of a table that have been copied.
type Progress func(table string, rows int64)

// Snapshot writes everything that the database holds at one moment into a new SQLite file
// of mode 0600, whichever engine it comes from: both have the same tables, of texts and
// whole numbers only. The service may write meanwhile. progress may be nil.
func (d *DB) Snapshot(ctx context.Context, path string, progress Progress) error {
	if d.cfg.Name() == "sqlite" {
		return snapshotSQLite(ctx, d.cfg.URL, path)
	}
	to, err := Open(ctx, Config{URL: path, Log: d.cfg.Log})
	if err != nil {
		return err
	}
	err = d.copyTo(ctx, to, progress)
	return errors.Join(err, to.Close())
}

// snapshotSQLite has SQLite write the file: the fastest way, and one statement.
func snapshotSQLite(ctx context.Context, from, path string) error {
	if err := makePrivate(path); err != nil { // VACUUM INTO takes an empty file
		return err
	}
	pool, err := sqlitePool(from, 1, []string{"mode=ro", "_pragma=busy_timeout(10000)"}, nil)
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, "VACUUM INTO ?", path)
	return errors.Join(err, pool.Close())
}

// Load fills the database with a snapshot, in one transaction. The database must be
// unused: what its migrations wrote is replaced. progress may be nil.
func (d *DB) Load(ctx context.Context, path string, progress Progress) error {
	from, err := Open(ctx, Config{URL: path, ReadOnly: true, Log: d.cfg.Log})
	if err != nil {
		return err
	}
	err = from.copyTo(ctx, d, progress)
	return errors.Join(err, from.Close())
}

// copyTo replaces all rows of another database by those of this one, as one snapshot sees
// them.
func (d *DB) copyTo(ctx context.Context, to *DB, progress Progress) error {
	if progress == nil {
		progress = func(string, int64) {}
	}
	options := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if d.cfg.Name() == "sqlite" {
		options = nil
	}
	from, err := d.read.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	defer func() { _ = from.Rollback() }()
	sink, err := to.sink(ctx)
	if err != nil {
		return fmt.Errorf("begin to write: %w", err)
	}
	defer sink.end()
	lite := from // the connection to SQLite, which knows what refers to what
	if d.cfg.Name() == "postgres" {
		lite = sink.lite
	}
	tables, err := tablesInOrder(ctx, lite)
	if err != nil {
		return err
	}
	for _, table := range slices.Backward(tables) {
		if err := sink.exec(ctx, "DELETE FROM "+table); err != nil {
			return fmt.Errorf("empty %s: %w", table, err)
		}
	}
	for _, table := range tables {
		if err := copyTable(ctx, from, sink, table, progress); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
	}
	return sink.commit(ctx)
}

// copyTable copies the rows of a table by the names of their columns.
func copyTable(ctx context.Context, from *sql.Tx, sink sink, table string, progress Progress) error {
	rows, err := from.QueryContext(ctx, "SELECT * FROM "+table)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	source := &tableRows{Rows: rows, values: make([]any, len(columns)), told: func(n int64) { progress(table, n) }}
	if err := sink.fill(ctx, table, columns, source); err != nil {
		return err
	}
	source.told(source.n)
	return rows.Err()
}

// tableRows reads rows of any columns; it is a pgx.CopyFromSource.
type tableRows struct {
	*sql.Rows
	values []any
	n      int64
	told   func(rows int64)
}

// Values returns the row that Next has found.
func (r *tableRows) Values() ([]any, error) {
	places := make([]any, len(r.values))
	for i := range r.values {
		places[i] = &r.values[i]
	}
	if r.n++; r.n%10_000 == 0 {
		r.told(r.n)
	}
	err := r.Scan(places...)
	return r.values, err
}

// sink is the transaction that a copy is written in.
type sink struct {
	lite   *sql.Tx // of SQLite; nil with PostgreSQL
	big    pgx.Tx  // of PostgreSQL; nil with SQLite
	end    func()  // gives up what is not committed
	commit func(context.Context) error
}

func (d *DB) sink(ctx context.Context) (sink, error) {
	if d.cfg.Name() == "sqlite" {
		tx, err := d.write.BeginTx(ctx, nil)
		if err != nil {
			return sink{}, err
		}
		return sink{lite: tx, end: func() { _ = tx.Rollback() }, commit: func(context.Context) error { return tx.Commit() }}, nil
	}
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return sink{}, err
	}
	s := sink{}
	err = conn.Raw(func(driver any) (err error) {
		s.big, err = driver.(*stdlib.Conn).Conn().Begin(ctx)
		return err
	})
	if err != nil {
		return sink{}, errors.Join(err, conn.Close())
	}
	s.end = func() {
		_ = s.big.Rollback(context.WithoutCancel(ctx)) // after Commit it does nothing
		_ = conn.Close()
	}
	s.commit = s.big.Commit
	return s, nil
}

func (s sink) exec(ctx context.Context, statement string) (err error) {
	if s.lite != nil {
		_, err = s.lite.ExecContext(ctx, statement)
		return err
	}
	_, err = s.big.Exec(ctx, statement)
	return err
}

// fill writes the rows of a table.
func (s sink) fill(ctx context.Context, table string, columns []string, rows *tableRows) error {
	if s.big != nil {
		_, err := s.big.CopyFrom(ctx, pgx.Identifier{table}, columns, rows)
		return err
	}
	insert, err := s.lite.PrepareContext(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")")
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	return rows.Err()
}

// tablesInOrder lists the tables of the service, each after those that it refers to.
func tablesInOrder(ctx context.Context, lite *sql.Tx) ([]string, error) {
	const all = `SELECT s.name, coalesce(f."table", '') FROM sqlite_schema s LEFT JOIN pragma_foreign_key_list(s.name) f ON true
		WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%' AND s.name <> 'goose_db_version' ORDER BY s.name`
	rows, err := lite.QueryContext(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	defer func() { _ = rows.Close() }()
	refers := map[string][]string{}
	var names []string
	for rows.Next() {
		var table, to string
		if err := rows.Scan(&table, &to); err != nil {
			return nil, err
		}
		if _, known := refers[table]; !known {
			names = append(names, table)
		}
		refers[table] = append(refers[table], to)
	}
	var ordered []string
	var add func(table string)
	add = func(table string) {
		if table == "" || slices.Contains(ordered, table) {
			return
		}
		for _, to := range refers[table] {
			if to != table {
				add(to)
			}
		}
		ordered = append(ordered, table)
	}
	for _, table := range names {
		add(table)
	}
	return ordered, rows.Err()
}
