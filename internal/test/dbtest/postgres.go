package dbtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"

	"svc.example/internal/ground/db"
)

// Making a database from a template takes PostgreSQL 0.13 s of processor time,
// emptying a used one a tenth of that. So the databases stay on the server, and a
// test takes an unused one, in whichever process it runs.

// role owns the databases. It has no superuser rights.
const role = "svc_tests"

// server is the PostgreSQL server of the tests, as this process uses it.
type server struct {
	url  *url.URL      // of the superuser
	role *url.Userinfo // its password is the superuser's, summed up: no other person knows it
	// conn holds an advisory lock for each database in use. It ends with the process,
	// and its locks with it.
	conn *sql.Conn
	name string // prefix of the databases' names: those of other migrations have another

	mu   sync.Mutex // over conn and used
	used map[int]bool
}

// connect prepares the server once a process.
var connect = sync.OnceValues(func() (*server, error) {
	text := os.Getenv("SVC_TEST_POSTGRES")
	if text == "" {
		return nil, errors.New("SVC_TEST_POSTGRES is not set: run the tests with `make test`, or `scripts/with-postgres go test ./...`")
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open("pgx", text)
	if err != nil {
		return nil, err
	}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	sum := sumOf(string(db.MigrationText()))
	s := &server{
		url: u, role: url.UserPassword(role, sumOf(text)), conn: conn, used: map[int]bool{},
		name: "svc_test_" + sum,
	}
	return s, s.prepare(context.Background())
})

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// postgresURL is an empty database's, until the test ends.
func postgresURL(t testing.TB) string {
	t.Helper()
	s, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.give(context.Background(), n); err != nil {
			t.Errorf("give the database back: %v", err)
		}
	})
	return s.of(s.database(n), s.role)
}

func (s *server) database(n int) string { return fmt.Sprintf("%s_%d", s.name, n) }

// of is the URL of a database for a user.
func (s *server) of(database string, user *url.Userinfo) string {
	u := *s.url
	u.Path, u.User = "/"+database, user
	return u.String()
}

// prepare makes the role and the template where they are missing.
func (s *server) prepare(ctx context.Context) (err error) {
	const everyone = 1 // the lock of all that prepare
	if _, err := s.conn.ExecContext(ctx, "SELECT pg_advisory_lock($1, $2)", everyone, everyone); err != nil {
		return err
	}
	defer func() {
		_, unlockErr := s.conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1, $2)", everyone, everyone)
		err = errors.Join(err, unlockErr)
	}()
	var roles, templates int
	if err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM pg_roles WHERE rolname = $1", role).Scan(&roles); err != nil {
		return err
	}
	if roles == 0 {
		password, _ := s.role.Password()
		if err := s.do(ctx, fmt.Sprintf("CREATE ROLE %s LOGIN NOSUPERUSER PASSWORD '%s'", role, password)); err != nil {
			return err
		}
	}
	if err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM pg_database WHERE datname = $1 AND datistemplate", s.name).Scan(&templates); err != nil || templates > 0 {
		return err
	}
	if err := s.do(ctx, "DROP DATABASE IF EXISTS "+s.name, fmt.Sprintf("CREATE DATABASE %s OWNER %s", s.name, role)); err != nil {
		return err
	}
	d, err := db.Open(ctx, db.Config{URL: s.of(s.name, s.role)})
	if err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	if err := s.within(ctx, s.name, remember); err != nil {
		return err
	}
	return s.do(ctx, fmt.Sprintf("ALTER DATABASE %s IS_TEMPLATE true", s.name))
}

func (s *server) do(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := s.conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// take locks an unused database and empties it.
func (s *server) take(ctx context.Context) (n int, err error) {
	n, err = s.claim(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.within(ctx, s.database(n), reset); err == nil {
		return n, nil
	}
	// It is not there yet, or its schema is no longer the migrations'.
	s.mu.Lock()
	defer s.mu.Unlock()
	return n, s.do(ctx, fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", s.database(n)),
		fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s OWNER %s", s.database(n), s.name, role))
}

func (s *server) claim(ctx context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := 0; ; n++ {
		if s.used[n] { // the server would give the lock to its holder again
			continue
		}
		var got bool
		if err := s.conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(hashtext($1), $2)", s.name, n).Scan(&got); err != nil {
			return 0, err
		}
		if got {
			s.used[n] = true
			return n, nil
		}
	}
}

// give unlocks a database. The next taker empties it.
func (s *server) give(ctx context.Context, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.used, n)
	_, err := s.conn.ExecContext(ctx, "SELECT pg_advisory_unlock(hashtext($1), $2)", s.name, n)
	return err
}

// within runs statements in a database, as superuser and in one transaction.
func (s *server) within(ctx context.Context, database, statements string) (err error) {
	pool, err := sql.Open("pgx", s.of(database, s.url.User)+"&default_query_exec_mode=simple_protocol")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	_, err = pool.ExecContext(ctx, statements)
	return err
}

// schema sums up what a test may have changed besides rows.
const schema = `(SELECT md5(string_agg(line, ',' ORDER BY line)) FROM (
	SELECT concat_ws(' ', c.relname, a.attnum, a.attname, a.atttypid, a.attnotnull) AS line
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
	WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0
	UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
	UNION ALL SELECT concat_ws(' ', tgrelid::regclass, tgname, tgenabled) FROM pg_trigger WHERE NOT tgisinternal
	UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
	UNION ALL SELECT nspname::text FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('public', 'dbtest', 'information_schema')
) lines)`

// remember notes in the template what the migrations leave: the schema, and the
// rows of the tables that are not empty.
const remember = `
CREATE SCHEMA dbtest;
DO $$ DECLARE t regclass; filled boolean; BEGIN
	FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
		EXECUTE format('SELECT EXISTS (SELECT FROM %s)', t) INTO filled;
		IF filled THEN EXECUTE format('CREATE TABLE dbtest.%s AS TABLE public.%s', t, t); END IF;
	END LOOP;
END $$;
CREATE TABLE dbtest.schema_sum AS SELECT ` + schema + ` AS sum;`

// reset ends what is left of the last test's connections and brings a database back
// to what the template holds. It fails where the schema has changed. Deleting is
// quicker than truncating as long as a table is small; foreign keys are not checked
// meanwhile.
const reset = `
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
SET session_replication_role = replica;
DO $$ DECLARE t regclass; size bigint; BEGIN
	IF (SELECT sum FROM dbtest.schema_sum) <> ` + schema + ` THEN
		RAISE 'the schema has changed';
	END IF;
	FOR t, size IN SELECT oid, pg_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
		IF size > 262144 THEN
			EXECUTE format('TRUNCATE %s CASCADE', t);
		ELSIF size > 0 THEN
			EXECUTE format('DELETE FROM %s', t);
		END IF;
	END LOOP;
	FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'dbtest'::regnamespace AND relname <> 'schema_sum' LOOP
		EXECUTE format('INSERT INTO public.%I SELECT * FROM %s', (SELECT relname FROM pg_class WHERE oid = t), t);
	END LOOP;
END $$;`
