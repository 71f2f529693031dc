package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errAway marks errors of the connection to the database, which have no type of their own.
var errAway = errors.New("the database is away")

// marked marks an error of a transaction or statement if the connection broke.
func marked(err error) error {
	_, network := errors.AsType[net.Error](err)
	if (network && !errors.Is(err, context.Canceled)) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return err
}

// IsAway reports whether err says that the database cannot be reached, or cannot write now:
// it is stopped, read-only or full, or has no connection left. The work can be repeated once
// it is back.
func IsAway(err error) bool {
	if errors.Is(err, errAway) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || sqliteAway(err) {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	// A statement that was not sent, because its connection had ended.
	if pgconn.SafeToRetry(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && postgresAway(pe.Code)
}

// postgresAway classifies a code of PostgreSQL: connections (class 08), resources (53), the
// server's stop (57P), failures of its system (58), and a server that is read-only.
func postgresAway(code string) bool {
	return code == "25006" || slices.ContainsFunc([]string{"08", "53", "57P", "58"}, func(class string) bool { return strings.HasPrefix(code, class) })
}

func sqliteAway(err error) bool {
	se, ok := errors.AsType[*sqlite.Error](err)
	return ok && slices.Contains([]int{
		sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL,
	}, se.Code()&0xff)
}
