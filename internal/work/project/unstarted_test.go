package project_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/project"
	"svc.example/internal/work/wallet"
)

// shelf is what a test knows of a workspace, by the plainest rule.
type shelf struct {
	workspaceID string
	stored      map[int]bool             // contents; the size of n is 1<<n bytes, so that a sum names its parts
	order       []string                 // of uploads, as they came
	uploads     map[string][]int         // the contents of each
	jobs        map[string][]*job.Status // of each upload
}

// unstarted is what no job uses that is paid for.
func (s *shelf) unstarted() (w project.Waiting) {
	for n := range s.stored {
		used, paid := false, false
		for uploadID, contents := range s.uploads {
			for _, c := range contents {
				used = used || c == n
				for _, status := range s.jobs[uploadID] {
					paid = paid || c == n && *status != job.Failed && *status != job.Cancelled
				}
			}
		}
		if !paid {
			w.Bytes += 1<<n + 4096
		}
		if !used {
			w.Loose++
		}
	}
	return w
}

// TestUnstartedIsWhatNoPaidJobUses holds the statement that looks for one use of each content
// against the plain rule, while parts, projects and jobs come and go in any order, in two
// workspaces with the same content.
func TestUnstartedIsWhatNoPaidJobUses(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		const contents, steps = 10, 150
		d := dbtest.Open(t, db.Config{URL: url})
		raw := dbtest.Raw(t, url)
		jobs := &job.Jobs{DB: d, Log: slog.New(slog.DiscardHandler)}
		random := rand.New(rand.NewPCG(21, 0)) // one history, the same on both engines
		write := func(do func(ctx context.Context, tx *db.Tx) error) {
			t.Helper()
			if err := d.Write(t.Context(), func(tx *db.Tx) error { return do(t.Context(), tx) }); err != nil {
				t.Fatal(err)
			}
		}
		var shelves []*shelf
		for n := range 2 {
			s := &shelf{stored: map[int]bool{}, uploads: map[string][]int{}, jobs: map[string][]*job.Status{}}
			write(func(ctx context.Context, tx *db.Tx) error {
				p, err := identity.CreateWorkspace(ctx, tx, fmt.Sprintf("owner-%d@example.com", n))
				if err != nil {
					return err
				}
				s.workspaceID = p.WorkspaceID
				return wallet.Credit(ctx, tx, s.workspaceID, "credit of "+s.workspaceID, 10_000)
			})
			shelves = append(shelves, s)
		}
		sum := func(n int) string { return strings.Repeat(fmt.Sprint(n), 64) }
		keep := func(s *shelf, n int) {
			write(func(ctx context.Context, tx *db.Tx) error {
				_, err := project.Keep(ctx, tx, s.workspaceID, project.Content{SHA256: sum(n), SizeBytes: 1 << n, BlobKey: "uploads/" + s.workspaceID + sum(n)})
				return err
			})
			s.stored[n] = true
		}
		did := map[string]int{}
		for step := range steps {
			s := shelves[random.IntN(len(shelves))]
			upload := ""
			if n := len(s.order); n > 0 {
				upload = s.order[random.IntN(n)]
			}
			what := []string{"a part", "an upload", "an upload", "a job", "a job", "an end", "an end", "a removal"}[random.IntN(8)]
			switch {
			case what == "a part":
				keep(s, random.IntN(contents))
			case what == "an upload":
				upload = id.New(id.Upload)
				s.order = append(s.order, upload)
				m := project.Manifest{Main: "0.blend"}
				for i, n := range random.Perm(contents)[:1+random.IntN(3)] {
					keep(s, n)
					s.uploads[upload] = append(s.uploads[upload], n)
					m.Files = append(m.Files, project.File{Path: fmt.Sprintf("%d.blend", i), SHA256: sum(n), SizeBytes: 1 << n, Parts: []string{sum(n)}})
				}
				write(func(ctx context.Context, tx *db.Tx) error {
					_, err := tx.UploadCreate(ctx, query.UploadCreateParams{
						UploadID: upload, WorkspaceID: s.workspaceID, Filename: "0.blend", Sha256: m.Files[0].SHA256, SizeBytes: m.Files[0].SizeBytes, CreatedAt: tx.Now,
						Scene: `{"resolution_x": 8, "resolution_y": 6, "resolution_percentage": 100, "frame_width": 8, "frame_height": 6, "output_format": "PNG"}`,
					})
					if err != nil {
						return err
					}
					files, err := m.Prepare()
					if err != nil {
						return err
					}
					return project.Create(ctx, tx, s.workspaceID, upload, files)
				})
			case upload == "":
				continue
			case what == "a job":
				write(func(ctx context.Context, tx *db.Tx) error {
					quoteID := id.New(id.Quote)
					err := tx.QuoteCreate(ctx, query.QuoteCreateParams{
						QuoteID: quoteID, UploadID: upload, WorkspaceID: s.workspaceID, FrameStart: 1, FrameEnd: 1, FrameStep: 1, FrameCount: 1, PriceCents: 1,
						PricingVersion: "fixed-1c-v1", Qualified: 1, Warnings: "[]", CreatedAt: tx.Now, ExpiresAt: tx.Now + time.Hour.Microseconds(),
					})
					if err != nil {
						return err
					}
					_, err = jobs.Start(ctx, tx, job.StartRequest{
						Principal: identity.Principal{WorkspaceID: s.workspaceID, Scopes: identity.AllScopes()}, UploadID: upload, QuoteID: quoteID, Flow: job.FlowJobAPI,
					})
					return err
				})
				s.jobs[upload] = append(s.jobs[upload], new(job.Queued))
			case what == "an end":
				status := []job.Status{job.AwaitingSubmit, job.Rendering, job.Packaging, job.Completed, job.Failed, job.Cancelled}[random.IntN(6)]
				// By the database's own hand: the statement knows states, and not how they come.
				if _, err := raw.ExecContext(t.Context(), "UPDATE job SET status = $1 WHERE upload_id = $2", string(status), upload); err != nil {
					t.Fatal(err)
				}
				for _, of := range s.jobs[upload] {
					*of = status
				}
			case what == "a removal":
				if len(s.jobs[upload]) > 0 {
					continue // its job needs it
				}
				write(func(ctx context.Context, tx *db.Tx) error {
					keys, err := project.Remove(ctx, tx, upload)
					for _, key := range keys { // of content that no other upload has
						delete(s.stored, int(key[len(key)-1]-'0'))
					}
					return err
				})
				delete(s.uploads, upload)
				s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == upload })
			}
			did[what]++
			for _, s := range shelves {
				var got project.Waiting
				err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
					got, err = project.Unstarted(t.Context(), tx, s.workspaceID)
					return err
				})
				if want := s.unstarted(); err != nil || got != want {
					t.Fatalf("after step %d, %s: %+v, %v, want %+v; contents %v, uploads %v", step, what, got, err, want, s.stored, s.uploads)
				}
			}
		}
		if len(did) != 5 {
			t.Errorf("the history has only %v", did)
		}
	})
}
