// Command release makes what is published of one commit: an archive for each platform,
// Debian packages, a bill of materials for each binary, and the signed sums of all.
//
//	go run ./scripts/release --out dist --key release-key.pem
//
// What always holds: everything comes from a fresh clone of HEAD, never from the working
// tree; the same commit and the same Go give the same bytes, on any machine and in any
// folder. go compiles, and dpkg-deb makes the Debian package. Start reading at make;
// docs/internal/releasing.md is for the person who releases.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	syscall.Umask(0o022) // the modes of the package's folders must not depend on the person
	out := flag.String("out", "dist", "folder for the files; what is in it is deleted")
	key := flag.String("key", os.Getenv("SVC_RELEASE_KEY"), "private key that signs the sums, Ed25519 in PKCS#8 PEM; without one the sums are not signed")
	only := flag.String("only", "", "make the files of this platform alone, such as linux/amd64")
	flag.Parse()
	if err := run(*out, *key, *only); err != nil {
		log.Fatal(err)
	}
}

func run(out, key, only string) (err error) {
	out, err = filepath.Abs(out)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "svc-release-")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(work)) }()
	r := &publication{source: filepath.Join(work, "source"), work: work, out: out}
	if err := r.make(only); err != nil {
		return err
	}
	if err := sum(out, key); err != nil {
		return err
	}
	r.say("%s is in %s", r.version, out)
	if key == "" {
		r.say("NOT SIGNED: --key, or SVC_RELEASE_KEY, names no key")
	}
	return nil
}

// publication is one commit on its way to its files.
type publication struct {
	source, work, out string
	commit, version   string // version is that of the module, v1.2.3 or v0.0.0-TIME-COMMIT
	time              time.Time
	manual            []file // manual pages
	completion        []file
}

func (r *publication) say(format string, args ...any) { fmt.Printf("release: "+format+"\n", args...) }

// make fills the folder with everything but the sums, for all platforms or only one.
func (r *publication) make(only string) error {
	if err := r.clone(); err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	platforms, err := readPlatforms(filepath.Join(r.source, "scripts", "platforms"))
	if err != nil {
		return err
	}
	if err := r.describe(); err != nil {
		return err
	}
	if only != "" {
		platforms = slices.DeleteFunc(platforms, func(p platform) bool { return p.String() != only })
	}
	if len(platforms) == 0 {
		return fmt.Errorf("scripts/platforms has no %s", only)
	}
	for _, p := range platforms {
		if err := r.publish(p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

// clone gets HEAD, with the tags that give it a version. Only what is committed is in it.
func (r *publication) clone() error {
	if _, err := run1("", "git", "clone", "--quiet", ".", r.source); err != nil {
		return err
	}
	commit, err := run1(r.source, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	hash, seconds, _ := strings.Cut(commit, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("read the commit's time: %w", err)
	}
	r.commit, r.time = hash, time.Unix(unix, 0).UTC()
	return nil
}

// publish makes the files of one platform.
func (r *publication) publish(p platform) error {
	r.say("building for %s", p)
	binary, err := r.build(p)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("svc_%s_%s_%s", strings.TrimPrefix(r.version, "v"), p.system, p.arch)
	files, err := r.contents(binary, p)
	if err != nil {
		return err
	}
	if err := pack(filepath.Join(r.out, name+p.archive()), name, files, r.time); err != nil {
		return err
	}
	bill, err := billOfMaterials(binary, r.time)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, name+".cdx.json"), bill, 0o644); err != nil {
		return err
	}
	if p.system != "linux" {
		return nil
	}
	return r.debian(binary, p.arch)
}
