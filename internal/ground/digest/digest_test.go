package digest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"svc.example/internal/ground/digest"
)

// abc is the SHA-256 of "abc" (FIPS 180-4, example B.1).
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestADigestIsTheSHA256InLowerCaseHex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "abc")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	read, readErr := digest.Of(strings.NewReader("abc"))
	filed, fileErr := digest.OfFile(path)
	if err := errors.Join(readErr, fileErr); err != nil || read != abc || filed != abc {
		t.Errorf("got %s and %s, error %v", read, filed, err)
	}
}

func TestNoDigestIsMadeOfPartOfTheBytes(t *testing.T) {
	t.Parallel()
	broken := errors.New("it broke off")
	if sum, err := digest.Of(iotest.ErrReader(broken)); sum != "" || !errors.Is(err, broken) {
		t.Errorf("got %q, error %v", sum, err)
	}
	if sum, err := digest.OfFile(filepath.Join(t.TempDir(), "none")); sum != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %q, error %v", sum, err)
	}
}

func TestOnly64LowerCaseHexDigitsAreADigest(t *testing.T) {
	t.Parallel()
	for text, is := range map[string]bool{
		abc: true, "": false, abc[1:]: false, abc + "0": false, strings.ToUpper(abc): false, abc[:63] + "g": false, abc[:63] + "\n": false,
	} {
		if digest.Is(text) != is {
			t.Errorf("%q: %v", text, !is)
		}
	}
}
