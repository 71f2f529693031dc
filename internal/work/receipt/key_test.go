package receipt

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestKeyIDIsTheHashOfTheRawPublicKey(t *testing.T) {
	t.Parallel()
	// The first key of RFC 8032 7.1; its id was computed with another program.
	seed, err := hex.DecodeString("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
	if err != nil {
		t.Fatal(err)
	}
	key, err := NewKey(bytes.NewReader(seed))
	if err != nil {
		t.Fatal(err)
	}
	const want = "21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9"
	if got := key.Public().ID(); got != want {
		t.Errorf("key id is %s, wanted %s", got, want)
	}
}

func TestProcessesThatStartTogetherAgreeOnOneKey(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "signing-key.pem")
	ids := make([]string, 16)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			key, err := LoadOrCreateKey(path, rand.Reader)
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
	if _, err := LoadOrCreateKey(path, rand.Reader); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("wanted an error that names the file, got %v", err)
	}
}

func TestPublicKeyOutlivesItsPEM(t *testing.T) {
	t.Parallel()
	key, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParsePublicPEM(text)
	if err != nil || again.ID() != key.Public().ID() {
		t.Errorf("got key %s, error %v", again.ID(), err)
	}
	if _, err := ParsePublicPEM(append(text, "more"...)); err == nil {
		t.Error("text after the key was accepted")
	}
	if _, err := ParseKeyPEM(text); err == nil {
		t.Error("a public key was taken for a signing key")
	}
}
