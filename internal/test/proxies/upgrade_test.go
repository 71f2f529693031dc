//go:build proxies

package proxies

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/test/programs"
)

// nextMigration is what a later release may do under an older one that serves: it adds to
// tables that are written all the time (docs/internal/migrations.md).
const nextMigration = `-- +goose Up
CREATE TABLE next_release (
  id text PRIMARY KEY
);
ALTER TABLE workspace ADD COLUMN next_release text NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN next_release text NOT NULL DEFAULT '';
ALTER TABLE frame ADD COLUMN next_release bigint NOT NULL DEFAULT 0;
ALTER TABLE lease ADD COLUMN next_release bigint;
CREATE INDEX next_release_job ON job (input_size_bytes, job_id);

-- +goose Down
DROP TABLE next_release;
`

// nextSchema is its number.
const nextSchema = 99999

// nextRelease builds this program with one more migration.
func nextRelease(t *testing.T) (path string) {
	t.Helper()
	folder := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	migration := filepath.Join(folder, "migration.sql")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "internal/ground/db/migrations/99999_next_release.sql"): migration}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{migration: []byte(nextMigration), filepath.Join(folder, "overlay.json"): overlay} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(folder, "next")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-overlay", filepath.Join(folder, "overlay.json"), "-o", path, "./cmd/svc")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the next release: %v\n%s", err, output)
	}
	return path
}

// open begins a site's store: its processes, a worker and callers on it.
func (s *site) open(binary string) (node string, callers *load) {
	s.t.Helper()
	for i := range s.running {
		s.start(i, binary)
	}
	var workspace struct {
		Agent string `json:"agent_key"`
	}
	s.mustAdmin(&workspace, binary, "workspace", "create", "--email", "you@example.com", "--credit-cents", "1000000")
	var key struct {
		Key string `json:"key"`
	}
	s.mustAdmin(&key, binary, "key", "create", "--kind", "node", "--name", "one")
	callers = &load{t: s.t, base: s.url, key: workspace.Agent}
	callers.begin(3)
	return key.Key, callers
}

// TestNoCallFailsWhileProcessesAreUpgraded upgrades three processes and a worker one after the
// other while callers use them, goes back to the older program and upgrades again. A process
// that stops keeps no caller waiting and loses nothing: the store audits clean.
func TestNoCallFailsWhileProcessesAreUpgraded(t *testing.T) {
	t.Parallel()
	older, next := os.Getenv("SVC_PREVIOUS"), nextRelease(t)
	if older == "" {
		older = programs.Path(t, programs.Svc)
	}
	s := newSite(t, 3)
	node, callers := s.open(older)
	worker := s.worker(older, node)
	callers.more(3)
	roll := func(binary string) {
		for i := range s.running {
			s.replace(i, binary)
			callers.more(3)
		}
	}
	roll(next)
	s.wantSchema(next, nextSchema)
	end(t, worker)
	worker = s.worker(next, node)
	callers.more(3)
	roll(older)
	if output, err := s.admin(older, "audit"); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("the older program audits a newer database: %v %s", err, output)
	}
	roll(next)
	s.wantSchema(next, nextSchema)
	callers.end()
	end(t, worker)
	if output, err := s.admin(next, "audit"); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	for i := range s.running {
		s.stop(i)
	}
}

// wantSchema checks which schema every process that serves knows.
func (s *site) wantSchema(binary string, schema int64) {
	s.t.Helper()
	var list struct {
		Processes []struct {
			Schema int64 `json:"schema"`
			Alive  bool  `json:"alive"`
		} `json:"processes"`
	}
	s.mustAdmin(&list, binary, "process", "list")
	alive := 0
	for _, p := range list.Processes {
		if p.Alive && p.Schema == schema {
			alive++
		}
	}
	if alive != len(s.running) {
		s.t.Errorf("of %d processes, %d know schema %d: %+v", len(s.running), alive, schema, list.Processes)
	}
}

// TestNoCallFailsWhileProcessesRestart restarts two processes in turn while callers use them.
func TestNoCallFailsWhileProcessesRestart(t *testing.T) {
	t.Parallel()
	binary := programs.Path(t, programs.Svc)
	s := newSite(t, 2)
	node, callers := s.open(binary)
	worker := s.worker(binary, node)
	callers.more(2)
	for range 5 {
		for i := range s.running {
			s.replace(i, binary)
			callers.more(1)
		}
	}
	callers.end()
	end(t, worker)
	if output, err := s.admin(binary, "audit"); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
