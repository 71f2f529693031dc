// Package keyfile keeps signing keys in files.
//
// What always holds: a file that exists is never overwritten, because its key may have signed;
// processes that start at the same time get the same key; a key is on disk before it is used.
// Start reading at LoadOrCreate.
package keyfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/signingkey"
)

// LoadOrCreate reads the PKCS#8 PEM key at path, or creates it with mode 0600. It
// returns after the key is on disk. Processes that start at the same time all get the
// same key.
func LoadOrCreate(path string, entropy io.Reader) (signingkey.Key, error) {
	key, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	fresh, err := signingkey.New(entropy)
	if err != nil {
		return signingkey.Key{}, err
	}
	if err := Create(path, fresh); err != nil {
		return signingkey.Key{}, err
	}
	// Another process may have been first, so the file on disk decides.
	return Load(path)
}

// Load reads the PKCS#8 PEM key at path. A missing file is an [fs.ErrNotExist].
func Load(path string) (signingkey.Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return signingkey.Key{}, fmt.Errorf("load signing key: %w", err)
	}
	key, err := signingkey.ParsePEM(text)
	if err != nil {
		return signingkey.Key{}, fmt.Errorf("load %s: %w", path, err)
	}
	return key, nil
}

// Create writes the key to path as PKCS#8 PEM with mode 0600, and returns after it
// is on disk. An existing file stays unchanged and is no error: a key that has signed
// must never be overwritten.
func Create(path string, key signingkey.Key) error {
	text, err := key.PEM()
	if err == nil {
		err = atomicfile.Create(path, text, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create signing key %s: %w", path, err)
	}
	return nil
}
