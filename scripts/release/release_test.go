package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/ground/signingkey/keyfile"
	"svc.example/internal/work/release"
)

func TestAnArchiveFollowsFromItsFilesAlone(t *testing.T) {
	t.Parallel()
	files := []file{{"svc", []byte("program"), 0o755}, {"LICENSE", []byte("text"), 0o644}}
	turned := []file{files[1], files[0]}
	for _, kind := range []string{".tar.gz", ".zip"} {
		var made [2][]byte
		for i, order := range [][]file{files, turned} {
			path := filepath.Join(t.TempDir(), "archive"+kind)
			if err := pack(path, "svc_1", order, time.Unix(1e9, 0).UTC()); err != nil {
				t.Fatal(err)
			}
			var err error
			if made[i], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(made[0], made[1]) {
			t.Errorf("%s: another order gives other bytes", kind)
		}
	}
}

func TestABillNamesEveryModuleAndGo(t *testing.T) {
	t.Parallel()
	made := listMaterials(&debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "svc.example", Version: "v1.2.0"},
		Deps: []*debug.Module{
			{Path: "m.example/a", Version: "v1.0.0+incompatible"},
			{Path: "m.example/b", Version: "v1.0.0", Replace: &debug.Module{Path: "m.example/fork", Version: "v1.1.0"}},
		},
	}, "abc", time.Unix(1e9, 0).UTC())
	var urls []string
	for _, c := range made.Components {
		urls = append(urls, c.PURL)
	}
	want := "pkg:golang/std@1.26.8 pkg:golang/m.example/a@v1.0.0%2Bincompatible pkg:golang/m.example/fork@v1.1.0"
	if got := strings.Join(urls, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if c := made.Metadata.Component; c.Name != "svc" || c.Version != "v1.2.0" || c.Hashes[0].Content != "abc" {
		t.Errorf("the program is %+v", c)
	}
}

// docs/internal/releasing.md tells people to use svc verify, or openssl and sha256sum.
func TestTheSumsAreCheckedBySvcAndByOtherPrograms(t *testing.T) {
	t.Parallel()
	folder, keys := t.TempDir(), t.TempDir()
	key, err := keyfile.LoadOrCreate(filepath.Join(keys, "key.pem"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(keys, "public.pem"), public)
	write(filepath.Join(folder, "svc.tar.gz"), []byte("archive"))
	if err := sum(folder, filepath.Join(keys, "key.pem")); err != nil {
		t.Fatal(err)
	}
	check := func() (svc, others error) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(folder, release.SumsFile))
		if err != nil {
			t.Fatal(err)
		}
		signature, err := os.ReadFile(filepath.Join(folder, release.SignatureFile))
		if err != nil {
			t.Fatal(err)
		}
		command := exec.Command("sh", "-c", "sha256sum --check SHA256SUMS && openssl pkeyutl -verify -pubin -inkey "+
			filepath.Join(keys, "public.pem")+" -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig")
		command.Dir = folder
		return release.Verify(text, signature, []signingkey.Public{key.Public()}, folder).Err(), command.Run()
	}
	if svc, others := check(); svc != nil || others != nil {
		t.Errorf("sound sums are refused: %v, %v", svc, others)
	}
	write(filepath.Join(folder, "svc.tar.gz"), []byte("another"))
	if svc, others := check(); svc == nil || others == nil {
		t.Errorf("another file passes: %v, %v", svc, others)
	}
	write(filepath.Join(folder, release.SumsFile), fmt.Appendf(nil, "%x  svc.tar.gz\n", sha256.Sum256([]byte("another"))))
	if svc, others := check(); svc == nil || others == nil {
		t.Errorf("another list of sums passes: %v, %v", svc, others)
	}
}

func TestAnUnreleasedVersionSortsBeforeTheRelease(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v1.2.0":                               "1.2.0",
		"v1.2.0-rc.1":                          "1.2.0~rc.1",
		"v0.0.0-20261122205327-dd2707d902c6":   "0.0.0~20261122205327.dd2707d902c6",
		"v1.2.1-0.20261122205327-dd2707d902c6": "1.2.1~0.20261122205327.dd2707d902c6",
	} {
		if got := debianVersion(version); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
}
