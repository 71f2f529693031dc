// Package deps is scaffolding while the first rooms are built; it goes when they import these themselves.
package deps

import (
	_ "github.com/alecthomas/kong"
	_ "github.com/danielgtaylor/huma/v2"
	_ "github.com/danielgtaylor/huma/v2/adapters/humago"
	_ "github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/klauspost/compress/gzip"
	_ "github.com/peterldowns/pgtestdb"
	_ "github.com/pressly/goose/v3"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/secure-systems-lab/go-securesystemslib/dsse"
	_ "github.com/vbauerster/mpb/v8"
	_ "github.com/vbauerster/mpb/v8/decor"
	_ "go.uber.org/goleak"
	_ "golang.org/x/mod/sumdb/tlog"
	_ "golang.org/x/mod/sumdb/note"
	_ "golang.org/x/sync/errgroup"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
)
