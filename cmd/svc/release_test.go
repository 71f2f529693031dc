package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/release"
)

// writeRelease FOLDER writes a release of two files, with the public key that signed it
// and another one.
func writeRelease(ts *testscript.TestScript, _ bool, args []string) {
	folder := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(folder, 0o755))
	key, err := signingkey.New(strings.NewReader(strings.Repeat("r", 32)))
	ts.Check(err)
	other, err := signingkey.New(strings.NewReader(strings.Repeat("o", 32)))
	ts.Check(err)
	var sums strings.Builder
	written := map[string][]byte{"key.pem": publicPEM(ts, key), "other.pem": publicPEM(ts, other)}
	for _, name := range []string{"svc_1.2.0_linux_amd64.tar.gz", "svc_1.2.0_windows_amd64.zip"} {
		written[name] = []byte(strings.Repeat(name, 10))
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(written[name]), name)
	}
	written[release.SumsFile] = []byte(sums.String())
	written[release.SignatureFile], err = release.Sign([]byte(sums.String()), key)
	ts.Check(err)
	for name, content := range written {
		ts.Check(os.WriteFile(filepath.Join(folder, name), content, 0o644))
	}
}
