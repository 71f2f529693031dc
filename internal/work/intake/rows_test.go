package intake_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/wallet"
)

// rows is the length of the texts that a workspace keeps.
func (h service) rows(url string) (bytes int64) {
	h.t.Helper()
	err := dbtest.Raw(h.t, url).QueryRowContext(h.t.Context(), `SELECT coalesce((SELECT sum(length(scene)) FROM upload), 0)
		+ coalesce((SELECT sum(length(manifest)) FROM project), 0) + coalesce((SELECT sum(length(warnings)) FROM quote), 0)`).Scan(&bytes)
	if err != nil {
		h.t.Fatal(err)
	}
	return bytes
}

// Nothing but rows grows: the content of every project is the same few bytes.
func TestRowsCountLikeContent(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h, disk := bounded(t, url, 0)
		h.Unstarted = 2 << 20
		h.mustSend(string(scene(t)), true)
		h.mustSend("a", true)
		l := h.listing("a")
		for n := range 999 {
			f := l.Files[1]
			f.Path = fmt.Sprint(n)
			l.Files = append(l.Files, f)
		}
		var made []intake.Inspection
		until := func(what string, do func() error) {
			t.Helper()
			for range 30 {
				err := do()
				if used, limit, refused := full(t, err); refused {
					if used > limit || h.rows(url) > limit {
						t.Errorf("%s: %d bytes are reported as used, %d are", what, used, h.rows(url))
					}
					return
				}
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			t.Errorf("%s: 30 times, and %d bytes of rows are kept", what, h.rows(url))
		}
		until("projects of many files", func() error {
			i, err := h.receiveProject(l)
			if err == nil {
				made = append(made, i)
			}
			return err
		})
		// What is deleted makes room, in the table too.
		before, disked := h.rows(url), disk.now
		if err := h.Delete(t.Context(), workspace, made[0].UploadID); err != nil {
			t.Fatal(err)
		}
		if _, err := h.receiveProject(l); err != nil || h.rows(url) > before+100 || disk.now != disked {
			t.Errorf("one was deleted: %v; rows had %d bytes and have %d", err, before, h.rows(url))
		}
		if _, err := h.quoteOf(made[0]); !fault.Is(err, fault.UploadNotFound) {
			t.Errorf("a quote of the deleted upload: %v", err)
		}
		for _, i := range made[1:] {
			if err := h.Delete(t.Context(), workspace, i.UploadID); err != nil {
				t.Fatal(err)
			}
		}

		// Kept answers leave little room.
		answer := strings.Repeat("x", int(h.Unstarted)-500<<10)
		h.must(func(tx *db.Tx) error {
			hold := query.IdempotencyHoldParams{WorkspaceID: workspace, Route: "/v1/uploads", Key: "k", Holder: "h", LapsesAt: tx.Now + 1, Now: tx.Now}
			_, err := tx.IdempotencyHold(t.Context(), hold)
			if err == nil {
				_, err = tx.IdempotencyFinish(t.Context(), query.IdempotencyFinishParams{WorkspaceID: workspace, Route: hold.Route, Key: hold.Key, Holder: "h", Status: 200, Body: answer, ExpiresAt: tx.Now + 1})
			}
			return err
		})
		var last intake.Inspection
		until("the same file again and again", func() error {
			for range 4 {
				i, err := h.receiveAs(intake.File{Name: strings.Repeat("n", 200) + ".blend", Body: bytes.NewReader(scene(t)), SHA256: sumOf(scene(t))}, nil)
				if err != nil {
					return err
				}
				last = i
			}
			return nil
		})
		until("quotes of one upload", func() error { _, err := h.quoteOf(last); return err })
		// What a job pays for does not count, and its quotes still do.
		h.Unstarted += 64 << 10
		if _, err := h.quoteOf(last); err != nil {
			t.Error(err)
		}
		if err := h.start(last); err != nil {
			t.Error(err)
		}
		until("quotes of a paid upload", func() error {
			for range 20 {
				if _, err := h.quoteOf(last); err != nil {
					return err
				}
			}
			return nil
		})
		h.sound()
	})
}

// quoteOf locks another price.
func (h service) quoteOf(i intake.Inspection) (out intake.Inspection, err error) {
	asked, err := h.Compare(h.t.Context(), h.workspace, i.UploadID, oneFrame())
	if err != nil {
		return out, err
	}
	err = h.DB.Write(h.t.Context(), func(tx *db.Tx) (err error) {
		out, err = h.Requote(h.t.Context(), tx, h.workspace, i.UploadID, asked)
		return err
	})
	return out, err
}

// Workspaces cost nothing, so a bound for each of them is none for all.
func TestUnpaidWorkspacesHaveABoundTogether(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h, disk := bounded(t, url, 0)
		h.Unpaid = 3*fileSize + fileSize/2
		send := func(workspaceID string, number int) error {
			h.workspace = workspaceID
			_, err := h.receiveAs(intake.File{Name: "a.blend", Body: bytes.NewReader(file(t, number)), Announced: fileSize}, nil)
			return err
		}
		another := func(credit int64) string {
			workspaceID := id.New(id.Workspace)
			h.must(func(tx *db.Tx) error {
				err := errors.Join(tx.WorkspaceCreate(t.Context(), query.WorkspaceCreateParams{WorkspaceID: workspaceID, CreatedAt: tx.Now}), wallet.Open(t.Context(), tx, workspaceID))
				if err == nil && credit > 0 {
					err = wallet.Credit(t.Context(), tx, workspaceID, workspaceID, credit)
				}
				return err
			})
			return workspaceID
		}
		stored := 0
		for n := range 10 {
			err := send(another(0), n)
			if _, _, refused := full(t, err); refused {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			stored++
		}
		if stored != 3 || disk.most > h.Unpaid {
			t.Errorf("%d workspaces that never paid stored a file, %d bytes at most", stored, disk.most)
		}
		// Another process has admitted nothing, and reads what is stored.
		other := service{&intake.Intake{DB: h.DB, Blobs: disk, Envelope: h.Envelope, Unpaid: h.Unpaid}, t, another(0)}
		if _, _, refused := full(t, func() error { _, err := other.sendPart(file(t, 20)); return err }()); !refused {
			t.Error("another process has room for another workspace")
		}
		if err := send(another(500), 30); err != nil {
			t.Errorf("a workspace with credit: %v", err)
		}
	})
}
