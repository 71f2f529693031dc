package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sum writes SHA256SUMS over all files of the folder, in the form of sha256sum, and its
// signature when there is a key. os.ReadDir sorts by name.
func sum(folder, keyFile string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	path := filepath.Join(folder, "SHA256SUMS")
	if err := os.WriteFile(path, []byte(sums.String()), 0o644); err != nil || keyFile == "" {
		return err
	}
	return sign(path, keyFile)
}

// sign writes the raw Ed25519 signature of a file beside it, as openssl pkeyutl -rawin
// makes it. Such a key also signs receipts and checkpoints; no list of sums is the text
// of either, which begin otherwise.
func sign(path, keyFile string) error {
	text, err := os.ReadFile(keyFile)
	if err != nil {
		return err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fmt.Errorf("%s has no PEM block", keyFile)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return fmt.Errorf("read %s: %w", keyFile, err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return fmt.Errorf("%s has a %T, and Ed25519 is wanted", keyFile, parsed)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path+".sig", ed25519.Sign(private, data), 0o644)
}
