package intake_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/project"
)

// sendPart sends a part of the workspace.
func (h service) sendPart(part []byte) (stored bool, err error) {
	sum := sha256.Sum256(part)
	_, stored, err = h.ReceivePart(context.Background(), h.workspace, intake.Part{SHA256: hex.EncodeToString(sum[:]), Announced: -1, Body: bytes.NewReader(part)})
	return stored, err
}

func (h service) mustSend(part string, want bool) {
	h.t.Helper()
	if stored, err := h.sendPart([]byte(part)); stored != want || err != nil {
		h.t.Errorf("%q: stored %v, %v", part, stored, err)
	}
}

func (h service) forgetParts() int64 {
	h.t.Helper()
	n, err := intake.ForgetParts(h.t.Context(), h.DB, h.Blobs)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func TestAPartWithoutAProjectGoesADayAfterItWasSentLast(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newService(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		used := h.upload() // its content has a project
		h.mustSend("once", true)
		h.mustSend("again", true)
		skew.Add(int64(contract.LoosePartLife - time.Minute))
		h.mustSend("again", false)
		if n := h.forgetParts(); n != 0 {
			t.Errorf("%d parts went before their day was over", n)
		}
		skew.Add(int64(2 * time.Minute))
		if n := h.forgetParts(); n != 1 || len(h.blobs()) != 2 || !h.hasFile(used) {
			t.Errorf("%d parts went, %v stay", n, h.blobs())
		}
		h.mustSend("once", true)
		h.mustSend("again", false)
		skew.Add(int64(contract.LoosePartLife + time.Minute))
		if n := h.forgetParts(); n != 2 || len(h.blobs()) != 1 || !h.hasFile(used) {
			t.Errorf("%d parts went, %v stay", n, h.blobs())
		}
		h.sound()
	})
}

// sound audits what the package has stored.
func (h service) sound() {
	h.t.Helper()
	h.must(func(tx *db.Tx) error {
		breach := func(rule, thing, format string, args ...any) {
			h.t.Errorf("%s: %s %s", rule, thing, fmt.Sprintf(format, args...))
		}
		if err := intake.Audit(h.t.Context(), tx, contract.Published(), breach); err != nil {
			return err
		}
		return project.Audit(h.t.Context(), tx, breach)
	})
}

func TestAPartIsSentOrRemovedNeverBoth(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newService(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		for i := range 20 {
			part := fmt.Sprintf("part %d", i)
			h.mustSend(part, true)
			skew.Add(int64(contract.LoosePartLife + time.Minute))
			var both sync.WaitGroup
			both.Go(func() { h.forgetParts() })
			var err error
			both.Go(func() { _, err = h.sendPart([]byte(part)) })
			both.Wait()
			if err != nil && !strings.Contains(err.Error(), "unavailable") {
				t.Fatal(err)
			}
			if err == nil {
				h.mustSend(part, false)
				if len(h.blobs()) != 1 {
					t.Fatalf("the part that is there is stored as %v", h.blobs())
				}
			}
			skew.Add(int64(contract.LoosePartLife + time.Minute))
			h.forgetParts()
			if left := h.blobs(); len(left) != 0 {
				t.Fatalf("%v are left", left)
			}
		}
	})
}

func TestAWorkspaceHasSoManyPartsWithoutAProject(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h := newService(t, dbtest.Open(t, db.Config{URL: url}))
		h.must(func(tx *db.Tx) error {
			for i := range contract.MaxLooseParts {
				sum := sha256.Sum256(fmt.Append(nil, i))
				_, err := project.Keep(t.Context(), tx, h.workspace, project.Content{SHA256: hex.EncodeToString(sum[:]), SizeBytes: 1, BlobKey: fmt.Sprint("uploads/", i)})
				if err != nil {
					return err
				}
			}
			return nil
		})
		_, err := h.sendPart([]byte("one more"))
		if _, _, refused := full(t, err); !refused || len(h.blobs()) != 0 {
			t.Errorf("one more: %v, stored %v", err, h.blobs())
		}
	})
}

func TestErasingAWorkspaceTakesItsPartsAlong(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h := newService(t, dbtest.Open(t, db.Config{URL: url}))
		h.mustSend("a part", true)
		var keys []string
		h.must(func(tx *db.Tx) (err error) {
			keys, err = intake.Erase(t.Context(), tx, h.workspace)
			return err
		})
		if stored := h.blobs(); len(keys) != 1 || len(stored) != 1 || keys[0] != stored[0] {
			t.Errorf("%v go of %v", keys, stored)
		}
		h.must(func(tx *db.Tx) error {
			if w, err := project.Unstarted(t.Context(), tx, h.workspace); w != (project.Waiting{}) || err != nil {
				t.Errorf("left: %+v, %v", w, err)
			}
			return nil
		})
	})
}

func TestPartsCannotFillTheDisk(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		const most = 9
		h, disk := bounded(t, url, most)
		var stored atomic.Int64
		var all sync.WaitGroup
		for sender := range 6 {
			all.Go(func() {
				for n := 0; ; n++ {
					_, err := h.sendPart(file(t, 100*sender+n))
					if used, limit, refused := full(t, err); refused {
						if limit != h.Unstarted || used > limit {
							t.Errorf("%d of %d bytes are reported as used", used, limit)
						}
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					stored.Add(1)
				}
			})
		}
		all.Wait()
		if stored.Load() > most || disk.most > h.Unstarted || disk.now != stored.Load()*fileSize {
			t.Errorf("%d parts are stored; %d bytes lie on the disk, %d did at most", stored.Load(), disk.now, disk.most)
		}
		h.sound()
	})
}
