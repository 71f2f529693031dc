package processes_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/synthetic"
)

// oldStores are what scripts/make-old-store made of the demo scene, and when: nothing in
// them is over yet then. Their names have the last migration; svc-11 is of commit 0dfca28,
// svc-38 of 0b44971, the last one whose frames had no times.
var oldStores = map[string]time.Time{
	"svc-11": time.Date(2026, 11, 22, 8, 50, 0, 0, time.UTC),
	"svc-38": time.Date(2026, 11, 24, 11, 56, 0, 0, time.UTC),
}

// TestAStoreOfAnOlderServiceGoesOn opens what an older service has left: it audits
// clean, what was finished is as it was, and what waited is rendered.
func TestAStoreOfAnOlderServiceGoesOn(t *testing.T) {
	t.Parallel()
	for name, madeAt := range oldStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goesOn(t, name, madeAt)
		})
	}
}

// goesOn opens an old store, and renders what waits there.
func goesOn(t *testing.T, name string, madeAt time.Time) {
	t.Helper()
	behind := time.Until(madeAt)
	config := app.Config{
		Listen: story.FreeAddress(t), Data: t.TempDir(), Log: story.LogOf(t), AllowSynthetic: true, Skew: func() time.Duration { return behind },
	}
	unpack(t, "testdata/store/"+name+".tar.zst", config.Data)
	svc := story.Open(t, config)
	svc.Audit()
	svc.Serve()
	c, jobs := ownerOf(svc)
	wantJob := func(filename string) *client.Job {
		t.Helper()
		for _, id := range jobs {
			job, err := c.Job(story.Patient(t), id)
			if err != nil {
				t.Fatal(err)
			}
			if job.Filename == filename {
				return job
			}
		}
		t.Fatalf("there is no job of %s", filename)
		return nil
	}
	old := wantJob("scene.blend")
	if old.Status != client.StatusCompleted {
		t.Errorf("the job that was completed is %s", old.Status)
	}
	svc.Worker(synthetic.Renderer{})
	fresh := c.Await(wantJob("the same %22again%22.blend").JobID, client.StatusCompleted)
	var members [2][]string
	for i, job := range []*client.Job{old, fresh} {
		members[i] = membersOfVerified(c, job)
		if output, err := c.Outside(job, "", nil); err != nil || !strings.Contains(output, "verified without svc") {
			t.Errorf("%s for others: %v: %s", job.Filename, err, output)
		}
	}
	// Later receipts also have a statement about the tree over the frames, and what of each
	// frame was checked.
	for i := range members {
		members[i] = slices.DeleteFunc(members[i], func(member string) bool {
			return strings.HasPrefix(member, "/frame_set/") || strings.HasPrefix(member, "/frames/*/checked ")
		})
	}
	if !slices.Equal(members[0], members[1]) {
		t.Errorf("a receipt had the members\n%q, now\n%q", members[0], members[1])
	}
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		if keys, err := tx.ContentKeys(ctx); err != nil || len(keys) != 1 {
			t.Errorf("three uploads of the same bytes are kept as %v, %v", keys, err)
		}
		return nil
	})
}

// unpack writes an archive's files below folder.
func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	plain, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for entries := tar.NewReader(plain); ; {
		e, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Typeflag != tar.TypeReg {
			continue
		}
		path := filepath.Join(folder, e.Name)
		content, err := io.ReadAll(entries)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// ownerOf gives the one workspace of a store a new key, and returns its jobs.
func ownerOf(svc *story.Service) (c story.Caller, jobs []string) {
	svc.T.Helper()
	c.T = svc.T
	svc.Write(func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err := tx.JobIDs(ctx, "")
		for _, row := range rows {
			jobs = append(jobs, row.JobID)
		}
		if err != nil || len(jobs) == 0 {
			return errors.Join(err, errors.New("the store has no jobs"))
		}
		job, err := tx.JobGet(ctx, jobs[0])
		if err != nil {
			return err
		}
		c.Workspace = job.WorkspaceID
		c.Agent, err = identity.CreateAgentKey(ctx, tx, c.Workspace, identity.AgentTerms{Name: "story"})
		return err
	})
	c.Client = story.NewClient(svc.T, svc.URL, c.Agent.Secret)
	return c, jobs
}

// membersOfVerified checks a job's receipt against its ZIP and returns the receipt's
// members, at every depth.
func membersOfVerified(c story.Caller, job *client.Job) []string {
	c.T.Helper()
	c.VerifiedZIP(job)
	receipt, err := c.Receipt(story.Patient(c.T), job.JobID)
	if err != nil {
		c.T.Fatal(err)
	}
	var all any
	d := json.NewDecoder(bytes.NewReader(receipt.Members))
	if err := d.Decode(&all); err != nil {
		c.T.Fatal(err)
	}
	names := map[string]bool{}
	collect(names, "", all)
	return slices.Sorted(maps.Keys(names))
}

func collect(names map[string]bool, at string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			collect(names, at+"/"+name, inner)
		}
	case []any:
		for _, inner := range v {
			collect(names, at+"/*", inner)
		}
	default:
		names[fmt.Sprintf("%s %T", at, value)] = true
	}
}
