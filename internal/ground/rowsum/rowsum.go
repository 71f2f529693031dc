// Package rowsum finds damage in rows that cannot be derived from anything else in the store.
//
// Most stored data can be compared with something else: a signed receipt, the ledger, the rows that
// it counts. The owner of a key, the person of a session or the name of a worker cannot. Such a row
// carries a checksum of its content (row_sum), which its owner package writes with the row and the
// audit computes again.
//
// What always holds: a sum covers the table's name and every column but those that Except
// names and a zero of those that Later names, in one unambiguous form. A row without a sum is damaged, except in a table that an
// older version wrote and whose Fill is not done.
//
// A sum shows damage, not forgery: it has no key, so anyone who can write the database can write a
// sum too. ADR 0028 says why. Start reading at Table.
package rowsum

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Table describes a table whose rows carry a sum. Row is the generated struct of the table:
// its fields are the columns, each an int64 or a string, and RowSum contains the sum.
type Table[Row any] struct {
	Name string
	Key  int // how many of the first columns are the primary key
	// Except names the fields that the sum leaves out, because they change without it or
	// follow from other rows.
	Except []string
	// Later names columns that the table got after its rows had sums. One with its zero is
	// left out, so that a row of before keeps the sum that it has.
	Later []string
}

// Tx is what this package needs of a transaction.
type Tx interface {
	Query(ctx context.Context, statement string, values ...any) (*sql.Rows, error)
	Exec(ctx context.Context, statement string, values ...any) error
	// Unsummed lists the tables whose Fill is not done, and UnsummedDone takes one off.
	Unsummed(ctx context.Context) ([]string, error)
	UnsummedDone(ctx context.Context, name string) error
	// AuditNameless lists the tables that have a row without a key.
	AuditNameless(ctx context.Context) ([]string, error)
}

// Writes runs a function in a transaction that commits when it returns no error.
type Writes func(ctx context.Context, do func(Tx) error) error

// Tables are what a package lists for Fill: its tables, whatever their rows.
type Tables []interface {
	fill(ctx context.Context, write Writes, unsummed []string) error
}

// Of returns the sum of a row: 64 hexadecimal digits. row is a Row, or another struct with
// fields of the same names, such as the parameters of the statement that writes the row. A
// field that is missing there counts as its zero.
func (t Table[Row]) Of(row any) string {
	from, columns := reflect.ValueOf(row), reflect.TypeFor[Row]()
	text := []byte(t.Name)
	for i := range columns.NumField() {
		column := columns.Field(i)
		if column.Name == "RowSum" || slices.Contains(t.Except, column.Name) {
			continue
		}
		field := from.FieldByName(column.Name)
		if !field.IsValid() {
			field = reflect.Zero(column.Type)
		}
		value := textOf(field)
		if slices.Contains(t.Later, column.Name) {
			if field.IsZero() {
				continue
			}
			value = column.Name + "=" + value // which of them it is: any may be left out
		}
		// The length keeps fields apart: "ab", "c" and "a", "bc" are two rows.
		text = strconv.AppendInt(append(text, '\n'), int64(len(value)), 10)
		text = append(append(text, ' '), value...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// textOf returns a column's value as text.
func textOf(field reflect.Value) string {
	if field.Kind() == reflect.String {
		return field.String()
	}
	return strconv.FormatInt(field.Int(), 10)
}

// id is what a person calls a row: its key.
func (t Table[Row]) id(row any) (id string) {
	for i := range t.Key {
		id += " " + textOf(reflect.ValueOf(row).FieldByName(reflect.TypeFor[Row]().Field(i).Name))
	}
	return id[1:]
}

// kept is the sum that a row carries.
func kept(row any) string { return reflect.ValueOf(row).FieldByName("RowSum").String() }

// Renew writes the sum of a row that a statement has changed and returned.
func (t Table[Row]) Renew(ctx context.Context, tx Tx, row Row) error {
	set := fmt.Sprintf("-- name: RowSum :exec\nUPDATE %s SET row_sum = $%d WHERE %s = %s", t.Name, t.Key+1, t.columns(t.Key), t.places())
	if err := tx.Exec(ctx, set, append(t.key(row), t.Of(row))...); err != nil {
		return fmt.Errorf("write the checksum of %s %s: %w", t.Name, t.id(row), err)
	}
	return nil
}

// page is how many rows are read at once: it bounds what an audit holds in memory.
const page = 500

// after reads a page of rows after one, in the order of the primary key; the zero Row is
// before the first.
func (t Table[Row]) after(ctx context.Context, tx Tx, last Row) (rows []Row, err error) {
	key := t.columns(t.Key)
	read := fmt.Sprintf("-- name: RowsAfter :many\nSELECT %s FROM %s WHERE %s > %s ORDER BY %s LIMIT %d",
		t.columns(reflect.TypeFor[Row]().NumField()), t.Name, key, t.places(), strings.Trim(key, "()"), page)
	found, err := tx.Query(ctx, read, t.key(last)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var row Row
		fields := reflect.ValueOf(&row).Elem()
		into := make([]any, fields.NumField())
		for i := range into {
			into[i] = fields.Field(i).Addr().Interface()
		}
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// columns lists the names of the first n columns; as a row value where they are the key.
func (t Table[Row]) columns(n int) string {
	var names []string
	for i := range n {
		names = append(names, columnOf(reflect.TypeFor[Row]().Field(i).Name))
	}
	list := strings.Join(names, ", ")
	if n > t.Key {
		return list
	}
	return "(" + list + ")"
}

// places are the parameters of the key, as a row value.
func (t Table[Row]) places() string {
	var all []string
	for i := range t.Key {
		all = append(all, "$"+strconv.Itoa(i+1))
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// key is the primary key of a row.
func (t Table[Row]) key(row Row) (key []any) {
	for i := range t.Key {
		key = append(key, reflect.ValueOf(row).Field(i).Interface())
	}
	return key
}

// word matches where a word of a field's name ends.
var word = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// columnOf is the column of a field: "key_id" of KeyID.
func columnOf(field string) string { return strings.ToLower(word.ReplaceAllString(field, "${1}_$2")) }

// Changed is Renew after a statement that changes one row or none, and returns how many.
func (t Table[Row]) Changed(ctx context.Context, tx Tx, row Row, err error) (n int64, _ error) {
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return 1, t.Renew(ctx, tx, row)
}

// Check reports a row whose content is not what was written. row is as in Of.
func (t Table[Row]) Check(row any, breach func(rule, subject, format string, args ...any)) {
	if kept, sum := kept(row), t.Of(row); kept != sum {
		breach("a row is as it was written", t.Name+" "+t.id(row), "its checksum is %.16q, its content gives %.16q", kept, sum)
	}
}

// Audit checks every row, and passes each to also, unless that is nil. An error means that
// the audit did not finish.
func (t Table[Row]) Audit(ctx context.Context, tx Tx, breach func(rule, subject, format string, args ...any), also func(Row) error) error {
	err := t.Each(ctx, tx, func(row Row) error {
		t.Check(row, breach)
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

// Each visits every row, page by page.
func (t Table[Row]) Each(ctx context.Context, tx Tx, visit func(Row) error) error {
	var last Row
	for {
		rows, err := t.after(ctx, tx, last)
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
// service calls it before it serves; begin is db.DB.Write. What was damaged before is taken as it is. Once it is
// done for a table, it does nothing: a row that loses its sum later is damaged.
func Fill[T Tx](ctx context.Context, begin func(context.Context, func(T) error) error, tables Tables) error {
	write := func(ctx context.Context, do func(Tx) error) error {
		return begin(ctx, func(tx T) error { return do(tx) })
	}
	var unsummed []string
	err := write(ctx, func(tx Tx) (err error) {
		unsummed, err = tx.Unsummed(ctx)
		return err
	})
	for _, t := range tables {
		if err == nil && len(unsummed) > 0 {
			err = t.fill(ctx, write, unsummed)
		}
	}
	if err != nil {
		return fmt.Errorf("write the checksums of an older version's rows: %w", err)
	}
	return nil
}

func (t Table[Row]) fill(ctx context.Context, write Writes, unsummed []string) (err error) {
	pending := slices.Contains(unsummed, t.Name)
	var last Row
	for err == nil && pending {
		next := last
		err = write(ctx, func(tx Tx) error {
			rows, err := t.after(ctx, tx, last)
			if err != nil {
				return err
			}
			if pending = len(rows) > 0; !pending {
				return tx.UnsummedDone(ctx, t.Name)
			}
			for _, row := range rows {
				if kept(row) == "" {
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
	return err
}

// Audit reports tables whose Fill was never done, and rows that have lost their key: the
// audits of their packages walk a table by its key and would miss them.
func Audit(ctx context.Context, tx Tx, breach func(rule, subject, format string, args ...any)) error {
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
