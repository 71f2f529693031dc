package signingkey

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"testing"
)

func TestKeyIDIsTheHashOfTheRawPublicKey(t *testing.T) {
	t.Parallel()
	// The first key of RFC 8032 7.1; its id was computed with another program.
	seed, err := hex.DecodeString("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
	if err != nil {
		t.Fatal(err)
	}
	key, err := New(bytes.NewReader(seed))
	if err != nil {
		t.Fatal(err)
	}
	const want = "21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9"
	if got := key.Public().ID(); got != want {
		t.Errorf("key id is %s, wanted %s", got, want)
	}
}

func TestPublicKeyOutlivesItsPEM(t *testing.T) {
	t.Parallel()
	key, err := New(rand.Reader)
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
	if _, err := ParsePEM(text); err == nil {
		t.Error("a public key was taken for a signing key")
	}
}
