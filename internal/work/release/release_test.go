package release_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/release"
)

const archive, other = "svc_1.2.0_linux_amd64.tar.gz", "svc_1.2.0_amd64.deb"

// published is a folder with a release of two files, as it was downloaded.
type published struct {
	t               *testing.T
	folder          string
	key             signingkey.Key
	sums, signature []byte
}

func key(t *testing.T, letter string) signingkey.Key {
	t.Helper()
	made, err := signingkey.New(strings.NewReader(strings.Repeat(letter, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func publish(t *testing.T) *published {
	t.Helper()
	p := &published{t: t, folder: t.TempDir(), key: key(t, "r")}
	p.write(archive, "archive")
	p.write(other, "package")
	p.sign(sumsOf(archive, "archive") + sumsOf(other, "package"))
	return p
}

func sumsOf(name, content string) string {
	return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(content)), name)
}

func (p *published) write(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *published) sign(sums string) {
	p.t.Helper()
	p.sums = []byte(sums)
	var err error
	if p.signature, err = release.Sign(p.sums, p.key); err != nil {
		p.t.Fatal(err)
	}
}

func (p *published) verify() release.Report {
	return release.Verify(p.sums, p.signature, []signingkey.Public{key(p.t, "x").Public(), p.key.Public()}, p.folder)
}

// statusOf is the status of a check, "" if it was not made.
func statusOf(r release.Report, name string) receipt.Status {
	for _, c := range r.Checks {
		if c.Name == name {
			return c.Status
		}
	}
	return ""
}

func TestASoundReleaseIsVerified(t *testing.T) {
	t.Parallel()
	p := publish(t)
	r := p.verify()
	if r.Err() != nil || r.KeyID != p.key.Public().ID() {
		t.Errorf("%v, key %s", r.Err(), r.KeyID)
	}
	for _, name := range []string{"signature", "sums", archive, other} {
		if statusOf(r, name) != receipt.OK {
			t.Errorf("%s is %q", name, statusOf(r, name))
		}
	}
}

func TestAFileThatIsNotThereIsSkipped(t *testing.T) {
	t.Parallel()
	p := publish(t)
	for _, name := range []string{other, archive} {
		if err := os.Remove(filepath.Join(p.folder, name)); err != nil {
			t.Fatal(err)
		}
		r := p.verify()
		if statusOf(r, name) != receipt.Skipped {
			t.Errorf("%s is %q", name, statusOf(r, name))
		}
		if want := name == archive; errors.Is(r.Err(), release.ErrNothingChecked) != want {
			t.Errorf("without %s: %v", name, r.Err())
		}
	}
}

func TestEveryChangeOfAReleaseIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*published)
		check  string
		kind   error
	}{
		"a file": {func(p *published) { p.write(archive, "another") }, archive, receipt.ErrBadArtifact},
		"a file and its sum": {func(p *published) {
			p.write(archive, "another")
			p.sums = []byte(sumsOf(archive, "another") + sumsOf(other, "package"))
		}, "sums", receipt.ErrBadSignature},
		"a file left out of the list": {func(p *published) { p.sums = []byte(sumsOf(other, "package")) }, "sums", receipt.ErrBadSignature},
		"names exchanged": {func(p *published) {
			p.sums = []byte(sumsOf(other, "archive") + sumsOf(archive, "package"))
		}, "sums", receipt.ErrBadSignature},
		"an empty list":   {func(p *published) { p.sums = nil }, "sums", receipt.ErrBadSignature},
		"a truncated one": {func(p *published) { p.sums = p.sums[:len(p.sums)-1] }, "sums", receipt.ErrBadSignature},
		"another release's signature": {func(p *published) {
			sums := p.sums
			p.sign(sumsOf(archive, "of another version"))
			p.sums = sums
		}, "sums", receipt.ErrBadSignature},
		"signed by another key": {func(p *published) {
			own := p.key
			p.key = key(p.t, "m")
			p.sign(string(p.sums))
			p.key = own
		}, "signature", receipt.ErrBadSignature},
		"signed by another key in the name of ours": {func(p *published) {
			own := p.key
			p.key = key(p.t, "m")
			p.sign(string(p.sums))
			p.signature = []byte(strings.ReplaceAll(string(p.signature), p.key.Public().ID(), own.Public().ID()))
			p.key = own
		}, "signature", receipt.ErrBadSignature},
		"no signature": {func(p *published) { p.signature = nil }, "signature", receipt.ErrBadSignature},
		"the key's signature of a receipt": {func(p *published) {
			job, err := receipttest.Complete(1)
			if err == nil {
				p.signature, err = receipt.Sign(job.Receipt, p.key)
			}
			if err != nil {
				p.t.Fatal(err)
			}
		}, "sums", receipt.ErrBadSignature},
		"a pipe in place of a file": {func(p *published) {
			path := filepath.Join(p.folder, archive)
			if err := errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)); err != nil {
				p.t.Fatal(err)
			}
		}, archive, receipt.ErrBadArtifact},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := publish(t)
			c.change(p)
			r := p.verify()
			if !errors.Is(r.Err(), c.kind) || statusOf(r, c.check) != receipt.Failed {
				t.Errorf("%v; %s is %q", r.Err(), c.check, statusOf(r, c.check))
			}
			if c.kind == receipt.ErrBadSignature && statusOf(r, archive) != "" {
				t.Error("a file was compared with an unsigned list")
			}
		})
	}
}

func TestAListThatLeavesItsFolderIsNeverSigned(t *testing.T) {
	t.Parallel()
	sum := fmt.Sprintf("%x", sha256.Sum256(nil))
	for _, text := range []string{
		"", "\n", sum + "  a", sum + "  a\n\n", sum + "  \n", sum + " *a\n", sum + "\ta\n", "SHA256 (a) = " + sum + "\n",
		sum[1:] + "  a\n", strings.ToUpper(sum) + "  a\n", sum + "  a\r\n", sum + "  a\n" + sum + "  a\n",
		sum + "  ../a\n", sum + "  /etc/passwd\n", sum + "  a/b\n", sum + `  ..\a` + "\n", sum + `  C:\a` + "\n", sum + "  C:a\n",
		sum + "  .\n", sum + "  ..\n", sum + "  .hidden\n", sum + "  a b\n", sum + "  a\x00b\n", sum + "  a\x1b[2J\n", sum + "  -rf\n", sum + "  ä\n",
	} {
		if _, err := release.ParseSums([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
		if _, err := release.Sign([]byte(text), key(t, "r")); err == nil {
			t.Errorf("%q is signed", text)
		}
	}
}

// A list that is read is written again as it was, and every file of it is in its folder.
func FuzzParseSums(f *testing.F) {
	f.Add(sumsOf(archive, "archive") + sumsOf(other, "package"))
	f.Add(sumsOf("../a", ""))
	f.Fuzz(func(t *testing.T, text string) {
		files, err := release.ParseSums([]byte(text))
		if err != nil {
			return
		}
		again := ""
		for _, file := range files {
			again += file.SHA256 + "  " + file.Name + "\n"
			if filepath.Dir(filepath.Join("folder", file.Name)) != "folder" {
				t.Errorf("%q leaves its folder", file.Name)
			}
		}
		if again != text || len(files) == 0 {
			t.Errorf("%q is read as %q", text, again)
		}
	})
}
