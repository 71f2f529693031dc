package keyfile

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestProcessesThatStartTogetherAgreeOnOneKey(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "signing-key.pem")
	ids := make([]string, 16)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			key, err := LoadOrCreate(path, rand.Reader)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = key.Public().ID()
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("two keys were made: %s and %s", ids[0], id)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Fatalf("left in the folder: %v, error %v", entries, err)
	}
	info, err := entries[0].Info()
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the key's mode is %v, error %v", info.Mode(), err)
	}
}

func TestDamagedKeyFileIsNeverReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signing-key.pem")
	if err := os.WriteFile(path, []byte("-----BEGIN PRIVATE KEY-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOrCreate(path, rand.Reader); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("wanted an error that names the file, got %v", err)
	}
}
