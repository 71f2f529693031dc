package seal_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/ground/seal"
)

func generated(t testing.TB, n int) [][]byte {
	t.Helper()
	keys := make([][]byte, n)
	for i := range keys {
		key, err := seal.Generate(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = key
	}
	return keys
}

func parsed(t testing.TB, lines ...[]byte) *seal.Keys {
	t.Helper()
	k, err := seal.Parse(bytes.Join(lines, nil))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestWhatIsSealedOpensAtItsPlaceOnly(t *testing.T) {
	t.Parallel()
	k := parsed(t, generated(t, 1)...)
	rapid.Check(t, func(t *rapid.T) {
		text, place := rapid.SliceOf(rapid.Byte()).Draw(t, "text"), rapid.String().Draw(t, "place")
		sealed := k.Seal(text, place)
		if got, err := k.Open(sealed, place); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("opened %q, %v", got, err)
		}
		if _, err := k.Open(sealed, place+"x"); err == nil {
			t.Fatal("it opened at another place")
		}
		if len(text) > 3 && strings.Contains(sealed, string(text)) {
			t.Fatal("the text can be read")
		}
		if sealed == k.Seal(text, place) {
			t.Fatal("the same text was sealed the same twice")
		}
	})
}

func TestAChangedTextDoesNotOpen(t *testing.T) {
	t.Parallel()
	k := parsed(t, generated(t, 1)...)
	sealed := k.Seal([]byte("whsec_secret"), "row")
	for i := range len(sealed) {
		changed := []byte(sealed)
		changed[i] ^= 1
		if got, err := k.Open(string(changed), "row"); err == nil {
			t.Errorf("with byte %d changed it opened as %q", i, got)
		}
	}
	for _, text := range []string{"", "v1", "v1..", "v2" + sealed[2:], sealed + ".", sealed + "A"} {
		if _, err := k.Open(text, "row"); err == nil {
			t.Errorf("%q opened", text)
		}
	}
}

func TestARotatedKeyOpensTheOldAndSealsTheNew(t *testing.T) {
	t.Parallel()
	lines := generated(t, 2)
	before, after, later := parsed(t, lines[0]), parsed(t, lines[1], []byte("\n"), lines[0]), parsed(t, lines[1])
	old, fresh := before.Seal([]byte("old"), "row"), after.Seal([]byte("new"), "row")
	if got, err := after.Open(old, "row"); err != nil || string(got) != "old" {
		t.Errorf("the older key's text: %q, %v", got, err)
	}
	if got, err := later.Open(fresh, "row"); err != nil || string(got) != "new" {
		t.Errorf("the newer key's text: %q, %v", got, err)
	}
	if _, err := later.Open(old, "row"); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("without its key: %v", err)
	}
}

func TestKeysThatAreNoneAreRefusedWithoutBeingQuoted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n\n", "AAAA\n", "secret!\n", strings.Repeat("A", 45)} {
		_, err := seal.Parse([]byte(text))
		if err == nil {
			t.Errorf("%q was taken", text)
		} else if len(text) > 5 && strings.Contains(err.Error(), strings.TrimSpace(text)) {
			t.Errorf("the error quotes the key: %v", err)
		}
	}
}
