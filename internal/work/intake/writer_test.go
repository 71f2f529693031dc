package intake_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/project"
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
