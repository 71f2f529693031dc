package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// firstReach is the migration that made the table schema_reach. A program that knows fewer
// cannot serve next to a newer one.
const firstReach = 81

// raisesReach is the statement that marks a migration which takes something away.
var raisesReach = regexp.MustCompile(`(?m)^UPDATE schema_reach SET oldest = (\d+);`)

// reach returns the oldest schema whose program can serve the database, which has firstReach.
func reach(ctx context.Context, pool *sql.DB) (oldest int64, err error) {
	if err := pool.QueryRowContext(ctx, "SELECT max(oldest) FROM schema_reach").Scan(&oldest); err != nil {
		return 0, fmt.Errorf("read the oldest program that can serve the database: %w", err)
	}
	return oldest, nil
}

// reachAfter returns the oldest schema whose program can still serve once the migrations after
// is are applied: 0 where they only add, wants where the database cannot tell older programs.
func reachAfter(files fs.FS, is, wants int64) (oldest int64, err error) {
	if is < firstReach {
		return wants, nil
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if number, err := migrationNumber(name); err != nil || number <= is {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return 0, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		for _, found := range raisesReach.FindAllStringSubmatch(up, -1) {
			number, err := strconv.ParseInt(found[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("migration %s: %w", name, err)
			}
			oldest = max(oldest, number)
		}
	}
	return oldest, nil
}

// migrationNumber is the number in a migration's file name.
func migrationNumber(name string) (int64, error) {
	number, _, _ := strings.Cut(name, "_")
	return strconv.ParseInt(number, 10, 64)
}
