package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/release"
)

// sum writes the sums of all files of the folder, in the form of sha256sum, and their
// signatures when there is a key. os.ReadDir sorts by name.
func sum(folder, keyFile string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		hash, err := digest.OfFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", hash, e.Name())
	}
	if err := os.WriteFile(filepath.Join(folder, release.SumsFile), []byte(sums.String()), 0o644); err != nil || keyFile == "" {
		return err
	}
	return sign(folder, []byte(sums.String()), keyFile)
}

// sign writes two signatures next to the sums: the one that svc verify checks, and the
// raw one of the text itself that openssl checks. Such a key may also sign receipts and
// checkpoints: no list of sums is the text of either, which begin otherwise.
func sign(folder string, sums []byte, keyFile string) error {
	text, err := os.ReadFile(keyFile)
	if err != nil {
		return err
	}
	key, err := signingkey.ParsePEM(text)
	if err != nil {
		return fmt.Errorf("%s: %w", keyFile, err)
	}
	signature, err := release.Sign(sums, key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, release.SignatureFile), signature, 0o644); err != nil {
		return err
	}
	block, _ := pem.Decode(text) // ParseKeyPEM has found an Ed25519 key in it
	raw, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, release.RawSignatureFile), ed25519.Sign(raw.(ed25519.PrivateKey), sums), 0o644)
}
