package intake_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/quote"
)

// metered is a store that knows how many bytes lie on its disk, unfinished files
// included, and how many lay there at most.
type metered struct {
	blob.Store
	mu        sync.Mutex
	now, most int64
	sizes     map[string]int64 // of committed blobs
}

func (m *metered) add(n int64) {
	m.now += n
	m.most = max(m.most, m.now)
}

func (m *metered) Create(ctx context.Context, key string) (blob.Writer, error) {
	w, err := m.Store.Create(ctx, key)
	return &meteredWriter{Writer: w, of: m, key: key}, err
}

func (m *metered) Delete(ctx context.Context, key string) error {
	err := m.Store.Delete(ctx, key)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now -= m.sizes[key]
	delete(m.sizes, key)
	return err
}

type meteredWriter struct {
	blob.Writer
	of      *metered
	key     string
	written int64
	ended   bool
}

func (w *meteredWriter) Write(p []byte) (int, error) {
	w.of.mu.Lock()
	w.written += int64(len(p))
	w.of.add(int64(len(p)))
	w.of.mu.Unlock()
	return w.Writer.Write(p)
}

func (w *meteredWriter) Commit() error {
	err := w.Writer.Commit()
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.ended = true
	w.of.sizes[w.key] = w.written
	return err
}

func (w *meteredWriter) Abort() {
	w.Writer.Abort()
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if !w.ended {
		w.of.add(-w.written)
	}
	w.ended = true
}

// fileSize is the size of the files that these tests send: several reads long.
const fileSize = 256 << 10

// file is a file of its own, of fileSize bytes.
func file(t *testing.T, number int) []byte {
	t.Helper()
	bytes := append(scene(t), make([]byte, fileSize)...)[:fileSize]
	copy(bytes[fileSize-20:], fmt.Sprint(number))
	return bytes
}

// bounded is a service whose workspaces may have room for some files and their rows, and its
// disk.
func bounded(t *testing.T, url string, files int64) (service, *metered) {
	t.Helper()
	h := newService(t, dbtest.Open(t, db.Config{URL: url}))
	disk := &metered{Store: h.Blobs, sizes: map[string]int64{}}
	h.Blobs = disk
	if files > 0 {
		h.Unstarted = files*fileSize + fileSize/2
	}
	return h, disk
}

// full reports that an upload was refused for want of room, and by which figures.
func full(t *testing.T, err error) (used, limit int64, refused bool) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.StorageLimitReached {
		return 0, 0, false
	}
	text, err := json.Marshal(f.Detail)
	if err != nil {
		t.Fatal(err)
	}
	var detail map[string]int64
	if err := json.Unmarshal(text, &detail); err != nil || len(detail) != 2 {
		t.Fatalf("the detail is %s", text)
	}
	return detail["used_bytes"], detail["limit_bytes"], true
}

func TestOneWorkspaceCannotFillTheDisk(t *testing.T) {
	t.Parallel()
	for name, announced := range map[string]int64{"announced": fileSize, "not announced": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.EachURL(t, func(t *testing.T, url string) {
				const files = 5
				h, disk := bounded(t, url, files)
				var mu sync.Mutex
				var stored []intake.Inspection
				send := func(number int) error {
					i, err := h.receiveAs(intake.File{Name: "a.blend", Body: bytes.NewReader(file(t, number)), Announced: announced}, nil)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						stored = append(stored, i)
					}
					return err
				}
				var all sync.WaitGroup
				for connection := range 8 {
					all.Go(func() {
						for n := 0; ; n++ {
							err := send(100*connection + n)
							if used, limit, refused := full(t, err); refused {
								if limit != h.Unstarted || used < 0 || used > limit {
									t.Errorf("%d of %d bytes are reported as used", used, limit)
								}
								return
							}
							if err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				if announced > 0 && len(stored) != files { // the others did not take room that they could not use
					t.Errorf("%d files were stored", len(stored))
				}
				for n := 1000; send(n) == nil; n++ {
				}
				if len(stored) != files || disk.most > h.Unstarted || disk.now != files*fileSize {
					t.Errorf("%d files were stored; %d bytes are on disk, %d at most", len(stored), disk.now, disk.most)
				}
				// What was deleted makes room at once, and exactly that.
				if err := h.Delete(t.Context(), workspace, stored[0].UploadID); err != nil {
					t.Fatal(err)
				}
				if err := send(2000); err != nil {
					t.Errorf("after one was deleted: %v", err)
				}
				if _, _, refused := full(t, send(2001)); !refused || disk.now != files*fileSize {
					t.Errorf("one was deleted, and more than one came: %d bytes are on disk", disk.now)
				}
				// No other caller notices.
				other := h
				other.workspace = id.New(id.Workspace)
				h.must(func(tx *db.Tx) error {
					return tx.WorkspaceCreate(t.Context(), query.WorkspaceCreateParams{WorkspaceID: other.workspace, CreatedAt: tx.Now})
				})
				if _, err := other.receiveAs(intake.File{Name: "a.blend", Body: bytes.NewReader(file(t, 1)), Announced: announced}, nil); err != nil {
					t.Errorf("another workspace: %v", err)
				}
			})
		})
	}
}

// Each process believes that there is room for one more; the transactions find out.
func TestTwoProcessesHoldTheStorageLimitTogether(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		one, disk := bounded(t, url, 1)
		if one.DB.Engine() == "sqlite" {
			return // one process serves a SQLite file
		}
		two := service{&intake.Intake{DB: one.DB, Blobs: disk, Envelope: one.Envelope, Unstarted: one.Unstarted}, t, workspace}
		var received []*intake.Received
		for n, process := range []service{one, two} {
			r, err := process.Receive(t.Context(), workspace, intake.File{Name: "a.blend", Body: bytes.NewReader(file(t, n))})
			if err != nil {
				t.Fatal(err)
			}
			received = append(received, r)
		}
		var errs [2]error
		var both sync.WaitGroup
		for n, r := range received {
			both.Go(func() { _, errs[n] = r.Quote(t.Context(), oneFrame(), nil) })
		}
		both.Wait()
		_, _, first := full(t, errs[0])
		used, _, second := full(t, errs[1])
		if first == second || (second && (used < fileSize || used > one.Unstarted)) || disk.now != fileSize {
			t.Errorf("got %v and %v; %d bytes are on disk", errs[0], errs[1], disk.now)
		}
	})
}

func TestNamedContentThatTheWorkspaceHasCostsNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h, disk := bounded(t, url, 1)
		known := file(t, 1)
		sum := sumOf(known)
		named := func(body io.Reader) (intake.Inspection, error) {
			return h.receiveAs(intake.File{Name: "again.blend", Body: body, SHA256: sum, Announced: fileSize}, nil)
		}
		first, err := named(bytes.NewReader(known))
		if err != nil {
			t.Fatal(err)
		}
		second, err := named(bytes.NewReader(known))
		if err != nil || second.UploadID == first.UploadID || !h.hasFile(second) || disk.most != fileSize {
			t.Errorf("again: %v; %d bytes were on disk at most", err, disk.most)
		}
		// The name is believed only when the bytes bear it out.
		if _, err := named(bytes.NewReader(file(t, 2))); !fault.Is(err, fault.Unavailable) || disk.most != fileSize {
			t.Errorf("other bytes under a known name: %v; %d bytes were on disk at most", err, disk.most)
		}
		// Not named, the bytes need room while they arrive, and none after.
		if _, err := h.receiveAs(intake.File{Name: "again.blend", Body: bytes.NewReader(known)}, nil); !fault.Is(err, fault.StorageLimitReached) {
			t.Errorf("not named: %v", err)
		}
		h.Unstarted += fileSize
		if _, err := h.receiveAs(intake.File{Name: "again.blend", Body: bytes.NewReader(known)}, nil); err != nil || disk.now != fileSize {
			t.Errorf("not named, with room: %v; %d bytes are on disk", err, disk.now)
		}
	})
}

// The content that was named goes while it arrives again, and nothing is stored of it.
func TestNamedContentThatGoesMeanwhileIsAskedForAgain(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h, disk := bounded(t, url, 1)
		known := file(t, 1)
		i, err := h.receiveAs(intake.File{Name: "a.blend", Body: bytes.NewReader(known)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		body := io.MultiReader(bytes.NewReader(known[:fileSize/2]), onRead(func() {
			if err := h.Delete(t.Context(), workspace, i.UploadID); err != nil {
				t.Error(err)
			}
		}), bytes.NewReader(known[fileSize/2:]))
		again := intake.File{Name: "a.blend", Body: body, SHA256: sumOf(known)}
		if _, err := h.receiveAs(again, nil); !fault.Is(err, fault.Unavailable) || disk.now != 0 {
			t.Errorf("got %v; %d bytes are on disk", err, disk.now)
		}
		again.Body = bytes.NewReader(known)
		if i, err = h.receiveAs(again, nil); err != nil || !h.hasFile(i) {
			t.Errorf("sent again: %v", err)
		}
	})
}

// onRead is a reader of nothing that does something once.
type onRead func()

func (f onRead) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func TestOnlyWhatNoJobUsesCountsAsUnstarted(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h, _ := bounded(t, url, 1)
		send := func(number int) (intake.Inspection, error) {
			return h.receiveAs(intake.File{Name: "a.blend", Body: bytes.NewReader(file(t, number))}, nil)
		}
		first, err := send(1)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.start(first); err != nil {
			t.Fatal(err)
		}
		if err := h.Delete(t.Context(), workspace, first.UploadID); !fault.Is(err, fault.UploadInUse) {
			t.Errorf("a job needs the upload, and deleting it answers %v", err)
		}
		second, err := send(2)
		if err != nil {
			t.Fatalf("the first is started: %v", err)
		}
		// A job that ended without being paid pays for nothing.
		h.end(first, "cancelled")
		if _, err := send(3); !fault.Is(err, fault.StorageLimitReached) {
			t.Errorf("the first job is cancelled: %v", err)
		}
		if err := errors.Join(h.Delete(t.Context(), workspace, first.UploadID), h.start(second)); err != nil {
			t.Fatal(err)
		}
		h.end(second, "completed")
		if _, err := send(3); err != nil {
			t.Errorf("the second job is paid: %v", err)
		}
	})
}

// end moves the job of a started upload to its end.
func (h service) end(i intake.Inspection, status string) {
	h.t.Helper()
	h.must(func(tx *db.Tx) error {
		q, err := quote.Take(h.t.Context(), tx, workspace, i.UploadID, i.Quote.QuoteID)
		if err != nil {
			return err
		}
		_, err = tx.JobMove(h.t.Context(), query.JobMoveParams{JobID: q.JobID, FromStatus: "queued", ToStatus: status, Now: tx.Now})
		return err
	})
}

func TestDeletingAnUploadIsRepeatable(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h := newService(t, dbtest.Open(t, db.Config{URL: url}))
		i := h.upload()
		if err := h.Delete(t.Context(), "WSP-2", i.UploadID); !fault.Is(err, fault.UploadNotFound) || !h.hasFile(i) {
			t.Errorf("another workspace deletes it: %v", err)
		}
		for range 2 {
			if err := h.Delete(t.Context(), workspace, i.UploadID); err != nil || h.hasFile(i) || len(h.blobs()) != 0 {
				t.Errorf("got %v, its file is there: %v, files: %v", err, h.hasFile(i), h.blobs())
			}
		}
		if _, err := h.Inspected(t.Context(), workspace, i.UploadID); !fault.Is(err, fault.UploadNotFound) {
			t.Errorf("reading it: %v", err)
		}
		if err := h.start(i); !fault.Is(err, fault.UploadNotFound) {
			t.Errorf("starting it: %v", err)
		}
		if again := h.upload(); !h.hasFile(again) {
			t.Error("the same bytes do not come back")
		}
		if _, err := h.Inspected(t.Context(), workspace, "UPL-0"); !fault.Is(err, fault.UploadNotFound) {
			t.Errorf("an upload that never was: %v", err)
		}
	})
}

// oneFrame asks for a frame of the scene.
func oneFrame() quote.RequestedFrames { return quote.RequestedFrames{Start: new(1), End: new(1)} }

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
