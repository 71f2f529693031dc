package intake_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/render/settings"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// On SQLite every other write waits for a transaction, so none of them may take the longer the
// more a workspace has stored.
func TestWhatAWorkspaceStoresIsNotSummedWhileOthersWait(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ran []string
	h := newService(t, dbtest.Open(t, db.Config{URL: dbtest.URL(t, "sqlite"), OnWrite: func(name string) {
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, name)
	}}))
	h.Unstarted = 64 << 20 // less than half of it is used, then more
	h.mustSend(string(scene(t)), true)
	h.mustSend("a", true)
	made, err := h.receiveProject(h.listing("a"))
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		for n := range 3 {
			h.mustSend(fmt.Sprint(round, n), true)
			if _, err := h.receiveProject(h.listing("a")); err != nil {
				t.Fatal(err)
			}
			if _, err := h.quoteOf(made); err != nil {
				t.Fatal(err)
			}
		}
		h.must(func(tx *db.Tx) error {
			sum := sha256.Sum256([]byte("half"))
			_, err := project.Keep(t.Context(), tx, h.workspace, project.Content{SHA256: hex.EncodeToString(sum[:]), SizeBytes: h.Unstarted / 2, BlobKey: "uploads/half"})
			return err
		})
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(ran, "ProjectCreate") || slices.Contains(ran, "ContentUnstarted") {
		t.Errorf("the writer ran %d statements, ContentUnstarted among them: %t", len(ran), slices.Contains(ran, "ContentUnstarted"))
	}
}

// The scene of a hostile file is five megabytes of JSON. Whoever looks at its upload or asks for
// its price, again and again, keeps nobody from writing while that is read.
func TestASceneIsReadWhileOthersWrite(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ran []string
	h := newService(t, dbtest.Open(t, db.Config{URL: dbtest.URL(t, "sqlite"), OnWrite: func(name string) {
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, name)
	}}))
	made := h.upload()
	mu.Lock()
	ran = nil
	mu.Unlock()
	seen, err := h.Inspected(t.Context(), h.workspace, made.UploadID)
	if err != nil || seen.Quote.QuoteID != made.Quote.QuoteID || !reflect.DeepEqual(seen.Scene, made.Scene) {
		t.Fatalf("the upload shows %+v: %v", seen, err)
	}
	mu.Lock()
	if len(ran) > 0 {
		t.Errorf("to show an upload the writer ran %q", ran)
	}
	mu.Unlock()
	asked, err := h.Compare(t.Context(), h.workspace, made.UploadID, quote.RequestedFrames{})
	if err != nil {
		t.Fatal(err)
	}
	h.must(func(tx *db.Tx) error {
		if _, err := tx.UploadDropScene(t.Context(), made.UploadID); err != nil {
			return err
		}
		again, err := h.Requote(t.Context(), tx, h.workspace, made.UploadID, asked)
		if err == nil && !reflect.DeepEqual(again.Scene, made.Scene) {
			t.Errorf("the scene was read in the transaction: %+v", again)
		}
		return err
	})
}

// An archive may have ten thousand files.
func TestAnArchiveIsRegisteredInPages(t *testing.T) {
	t.Parallel()
	const files = 450
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var mu sync.Mutex
		most, now, all := 0, 0, 0
		h := newService(t, dbtest.Open(t, db.Config{URL: url, OnWrite: func(name string) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case name == "ContentKeep":
				now, all = now+1, all+1
			case strings.HasPrefix(name, "SAVEPOINT"): // another caller's turn
				now = 0
			}
			most = max(most, now)
		}}))
		var packed bytes.Buffer
		w := zip.NewWriter(&packed)
		add := func(name string, content []byte) {
			f, err := w.Create(name)
			if err == nil {
				_, err = f.Write(content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		add("scene.blend", scene(t))
		for n := range files {
			add(fmt.Sprint(n), fmt.Append(nil, n))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		send := func(inTx func(*db.Tx, intake.Inspection) error) (intake.Inspection, error) {
			a, err := h.ReceiveArchive(t.Context(), h.workspace, intake.File{Name: "scene.zip", Body: bytes.NewReader(packed.Bytes())})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Abort()
			r, err := a.Unpack(t.Context(), "", settings.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			return r.Quote(t.Context(), oneFrame(), inTx)
		}
		left := func(want int) {
			t.Helper()
			var rows int
			if err := dbtest.Raw(t, url).QueryRowContext(t.Context(), "SELECT count(*) FROM content").Scan(&rows); err != nil {
				t.Fatal(err)
			}
			if stored := len(h.blobs()); rows != want || stored != want {
				t.Errorf("%d rows and %d files are kept, want %d", rows, stored, want)
			}
			h.sound()
		}
		refused := errors.New("refused")
		if _, err := send(func(*db.Tx, intake.Inspection) error { return refused }); !errors.Is(err, refused) {
			t.Errorf("got %v", err)
		}
		left(0)
		i, err := send(nil)
		if err != nil {
			t.Fatal(err)
		}
		left(files + 1)
		if _, err := send(nil); err != nil { // the same bytes once more
			t.Fatal(err)
		}
		left(files + 1)
		if err := h.Delete(t.Context(), h.workspace, i.UploadID); err != nil {
			t.Fatal(err)
		}
		left(files + 1)
		mu.Lock()
		defer mu.Unlock()
		if sqlite := h.DB.Engine() == "sqlite"; sqlite && (most > 200 || all < files) {
			t.Errorf("a transaction registers %d of %d contents while others wait", most, all)
		}
	})
}
