// Package rowsum finds damage in rows that follow from nothing else in the store.
//
// Most of what is stored can be held against something else: a signed receipt, the
// ledger, the rows that it counts. The owner of a key, the person of a session or the
// name of a worker can not. Such a row carries a checksum of its content (row_sum), which
// its owner package writes with the row and the audit computes again.
//
// What always holds: a sum covers the table's name and every field that Fields returns, in
// one unambiguous form. A row without a sum is damaged, except in a table that an older
// version wrote and whose Fill is not done.
//
// A sum shows damage, not forgery: it has no key, so who can write the database can write
// a sum too. ADR 0028 says why. Start reading at Table.
package rowsum

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"svc.example/internal/ground/db"
)

// Table describes a table whose rows carry a sum. Every field is required.
type Table[Row any] struct {
	Name string
	// After reads a page of rows behind one, in the order of the primary key; the zero Row
	// is before the first. A page bounds what an audit holds in memory.
	After func(ctx context.Context, tx *db.Tx, last Row) ([]Row, error)
	// Fields returns what the sum covers, always in the same order: texts and numbers.
	Fields func(Row) []any
	// Kept returns the sum that the row carries, and ID what a person calls the row.
	Kept func(Row) string
	ID   func(Row) string
	// Store writes a sum into a row.
	Store func(ctx context.Context, tx *db.Tx, row Row, sum string) error
}

// Of returns the sum of a row: 64 hexadecimal digits.
func (t Table[Row]) Of(row Row) string {
	text := []byte(t.Name)
	for _, field := range t.Fields(row) {
		value := fmt.Sprint(field)
		// The length keeps fields apart: "ab", "c" and "a", "bc" are two rows.
		text = fmt.Appendf(text, "\n%d %s", len(value), value)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Renew writes the sum of a row that a statement has changed and returned.
func (t Table[Row]) Renew(ctx context.Context, tx *db.Tx, row Row) error {
	if err := t.Store(ctx, tx, row, t.Of(row)); err != nil {
		return fmt.Errorf("write the checksum of %s %s: %w", t.Name, t.ID(row), err)
	}
	return nil
}

// Changed is Renew after a statement that changes one row or none, and returns how many.
func (t Table[Row]) Changed(ctx context.Context, tx *db.Tx, row Row, err error) (n int64, _ error) {
	if db.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return 1, t.Renew(ctx, tx, row)
}

// Audit reports rows whose content is not what was written, and passes each row to also,
// unless that is nil. An error means that the audit did not finish.
func (t Table[Row]) Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any), also func(Row) error) error {
	err := t.each(ctx, tx, func(row Row) error {
		if kept, sum := t.Kept(row), t.Of(row); kept != sum {
			breach("a row is as it was written", t.Name+" "+t.ID(row), "its checksum is %.16q, its content gives %.16q", kept, sum)
		}
		if also == nil {
			return nil
		}
		return also(row)
	})
	if err != nil {
		return fmt.Errorf("audit %s: %w", t.Name, err)
	}
	return nil
}

// each visits every row, page by page.
func (t Table[Row]) each(ctx context.Context, tx *db.Tx, visit func(Row) error) error {
	var last Row
	for {
		rows, err := t.After(ctx, tx, last)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := visit(row); err != nil {
				return err
			}
		}
		last = rows[len(rows)-1]
	}
}

// Fill writes the sums of rows that an older version wrote, a page in a transaction. A
// service calls it before it serves. What was damaged before is taken as it is. Once it is
// done for a table, it does nothing: a row that loses its sum later is damaged.
func (t Table[Row]) Fill(ctx context.Context, d *db.DB) error {
	pending := false
	err := d.Read(ctx, func(tx *db.Tx) error {
		tables, err := tx.Unsummed(ctx)
		pending = slices.Contains(tables, t.Name)
		return err
	})
	var last Row
	for err == nil && pending {
		next := last
		err = d.Write(ctx, func(tx *db.Tx) error {
			rows, err := t.After(ctx, tx, last)
			if err != nil {
				return err
			}
			if pending = len(rows) > 0; !pending {
				return tx.UnsummedDone(ctx, t.Name)
			}
			for _, row := range rows {
				if t.Kept(row) == "" {
					err = t.Renew(ctx, tx, row)
				}
				if err != nil {
					return err
				}
			}
			next = rows[len(rows)-1]
			return nil
		})
		last = next
	}
	if err != nil {
		return fmt.Errorf("write the checksums of %s: %w", t.Name, err)
	}
	return nil
}

// Audit reports tables whose Fill was never done, and rows that have lost their key: the
// audits of their packages go through a table by its key and begin behind them.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	tables, err := tx.Unsummed(ctx)
	if err != nil {
		return fmt.Errorf("audit checksums: %w", err)
	}
	for _, name := range tables {
		breach("rows of an older version have checksums", name, "they were never written: no service has started since the upgrade")
	}
	nameless, err := tx.AuditNameless(ctx)
	if err != nil {
		return fmt.Errorf("look for rows without a key: %w", err)
	}
	for _, name := range nameless {
		breach("a row has a key", name, "one of its rows has none")
	}
	return nil
}
