package doctor_test

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"svc.example/cmd/svc/doctor"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/process"
)

// failed are the checks that failed, with what they change.
func failed(found []doctor.Finding) map[string]string {
	all := map[string]string{}
	for _, f := range found {
		if !f.OK {
			all[f.Check] = f.Change
		}
	}
	return all
}

// TestAPoolerThatSharesConnectionsByTransactionsIsNamed: a real PgBouncer, in both of its modes.
func TestAPoolerThatSharesConnectionsByTransactionsIsNamed(t *testing.T) {
	t.Parallel()
	direct := dbtest.URL(t, "postgres")
	for way, address := range map[string]string{"direct": direct, "session": pgbouncer(t, direct, "session"), "transaction": pgbouncer(t, direct, "transaction")} {
		found, err := doctor.Database(t.Context(), address, 1, 1)
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		want := map[string]string{}
		if way == "transaction" {
			want["database_pooler"] = "In pgbouncer.ini: pool_mode = session"
		}
		if got := failed(found); !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", way, got, want)
		}
	}
}

func TestMoreProcessesThanPostgreSQLHasConnectionsForAreCounted(t *testing.T) {
	t.Parallel()
	found, err := doctor.Database(t.Context(), dbtest.URL(t, "postgres")+"&pool_max_conns=30", 3, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if change := failed(found)["database_connections"]; !strings.HasPrefix(change, "In postgresql.conf: max_connections = 30013, or start each process with --database-connections ") {
		t.Errorf("%+v", found)
	}
}

// TestConnectionsThatTheAddressAsksForCount: each process opens as many, unless it is told otherwise.
func TestConnectionsThatTheAddressAsksForCount(t *testing.T) {
	t.Parallel()
	for most, want := range map[string]bool{"": false, "&pool_max_conns=20000": true} {
		found, err := doctor.Database(t.Context(), dbtest.URL(t, "postgres")+most, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, named := failed(found)["database_connections"]; named != want {
			t.Errorf("%s: %+v", most, found)
		}
	}
}

func TestProcessesOfTwoVersionsAreTold(t *testing.T) {
	t.Parallel()
	all := []process.Process{
		{Host: "a", Version: "v1.1.0", Schema: 93, Alive: true}, {Host: "b", Version: "v1.0.0", Schema: 85, Alive: true}, {Host: "c", Version: "v0.9.0", Schema: 80},
	}
	if f := doctor.Processes(all); f.OK || f.Change != "Upgrade svc on b and restart it" {
		t.Errorf("%+v", f)
	}
	if f := doctor.Processes(slices.Delete(all, 1, 2)); !f.OK {
		t.Errorf("one version serves: %+v", f)
	}
}

// TestAUnitThatLeadsElsewhereThanCommandsIsNamed: the unit of the package does not.
func TestAUnitThatLeadsElsewhereThanCommandsIsNamed(t *testing.T) {
	t.Parallel()
	packaged, err := os.ReadFile("../../../packaging/systemd/svc.service")
	if err != nil {
		t.Fatal(err)
	}
	for unit, want := range map[string]string{
		string(packaged): "",
		"[Service]\nExecStart=/usr/bin/svc serve --data /var/lib/svc\n":                       "",
		"[Service]\nExecStart=/usr/bin/svc serve \\\n  --listen :80 --data=/srv/svc\n":        "--data /srv/svc",
		"[Service]\nEnvironment=\"SVC_DATA=/srv/svc\" SVC_LISTEN=:80\n":                       "--data /srv/svc",
		"[Service]\nExecStart=\nExecStart=/usr/bin/svc serve --blobs s3://frames --dev":       "--blobs s3://frames",
		"[Service]\nExecStart=/usr/bin/svc serve --data /srv\nExecStart=/usr/bin/svc serve\n": "",
	} {
		f := doctor.Unit(unit, map[string]string{"data": "/var/lib/svc", "database": "", "blobs": ""})
		if f.OK != (want == "") || !strings.Contains(f.Lacks, want) {
			t.Errorf("%s\n%+v, want %q", unit, f, want)
		}
	}
}

// pgbouncer starts one in a mode in front of a database, and returns the address to use.
func pgbouncer(t *testing.T, database, mode string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	address := story.FreeAddress(t)
	port := address[strings.LastIndexByte(address, ':')+1:]
	folder, err := os.MkdirTemp("/tmp", "svc-pgbouncer-") // it may run as another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	password, _ := u.User.Password()
	text := fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = %s
ignore_startup_parameters = extra_float_digits,search_path,options
`, u.Hostname(), u.Port(), u.User.Username(), password, port, mode)
	path := filepath.Join(folder, "pgbouncer.ini")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	arguments := []string{path}
	if os.Getuid() == 0 { // it refuses to run as root
		arguments = []string{"-u", "nobody", path}
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	pooler := exec.CommandContext(t.Context(), "/usr/sbin/pgbouncer", arguments...)
	pooler.Cancel = func() error { return pooler.Process.Signal(syscall.SIGTERM) }
	pooler.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	pooler.Stderr = t.Output()
	if err := pooler.Start(); err != nil {
		t.Fatalf("start PgBouncer (scripts/install-tools outside installs it): %v", err)
	}
	t.Cleanup(func() { _ = pooler.Wait() })
	await.Listener(t, "PgBouncer", address)
	u.Host = address
	return u.String()
}
