package intake_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/settings"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/project"
)

// project lists the real scene and more files of one part each, under their texts.
func (h service) listing(more ...string) project.Listing {
	l := project.Listing{Main: "scene.blend"}
	add := func(path string, content []byte) {
		sum := sha256.Sum256(content)
		l.Files = append(l.Files, project.Listed{Path: path, SizeBytes: int64(len(content)), Parts: []string{hex.EncodeToString(sum[:])}})
	}
	add("scene.blend", scene(h.t))
	for _, text := range more {
		add(text, []byte(text))
	}
	return l
}

// receiveProject makes a project of sent parts.
func (h service) receiveProject(l project.Listing) (intake.Inspection, error) {
	r, err := h.ReceiveProject(h.t.Context(), h.workspace, l, settings.Settings{})
	if err != nil {
		return intake.Inspection{}, err
	}
	return r.Quote(h.t.Context(), oneFrame(), nil)
}

// Whichever comes first: a project has all its parts, or its sender learns which to send.
func TestAProjectHasItsPartsOrIsTold(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newService(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		l := h.listing("a", "b")
		for range 20 {
			for _, part := range [][]byte{scene(t), []byte("a"), []byte("b")} {
				if _, err := h.sendPart(part); err != nil {
					t.Fatal(err)
				}
			}
			skew.Add(int64(contract.LoosePartLife + time.Minute))
			var made intake.Inspection
			var err error
			var both sync.WaitGroup
			both.Go(func() { made, err = h.receiveProject(l) })
			both.Go(func() { h.forgetParts() })
			both.Wait()
			switch {
			case err == nil:
				lost, err := project.Store{DB: h.DB, Blobs: h.Blobs, Whole: &blob.Whole{}}.Lost(t.Context(), made.UploadID)
				if err != nil || lost != "" {
					t.Fatalf("the project lost %q, %v", lost, err)
				}
				if err := h.Delete(t.Context(), h.workspace, made.UploadID); err != nil {
					t.Fatal(err)
				}
			case !fault.Is(err, fault.PartsMissing) && !fault.Is(err, fault.Unavailable):
				t.Fatal(err)
			}
			h.sound()
			h.forgetParts()
			if left := h.blobs(); len(left) != 0 {
				t.Fatalf("%v are left", left)
			}
		}
	})
}

func TestPartsOfAProjectStayWithTheLastThatUsesThem(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newService(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		for _, part := range []string{string(scene(t)), "a", "b"} {
			h.mustSend(part, true)
		}
		one, err := h.receiveProject(h.listing("a", "b"))
		two, also := h.receiveProject(h.listing("a"))
		if err := errors.Join(err, also); err != nil {
			t.Fatal(err)
		}
		skew.Add(int64(contract.LoosePartLife + time.Minute))
		if n := h.forgetParts(); n != 0 {
			t.Errorf("%d parts of projects went", n)
		}
		for i, left := range []int{2, 0} {
			if err := h.Delete(t.Context(), h.workspace, []string{one.UploadID, two.UploadID}[i]); err != nil {
				t.Fatal(err)
			}
			if n := len(h.blobs()); n != left {
				t.Errorf("%d files are left, want %d", n, left)
			}
			h.sound()
		}
	})
}
