package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// debian makes the package of one processor, with what packaging has for it: units of
// systemd, and in control what dpkg reads and runs.
func (r *publication) debian(binary, arch string) error {
	root := filepath.Join(r.work, "debian-"+arch)
	files, err := r.packageFiles(binary)
	if err != nil {
		return err
	}
	var size int64
	for _, f := range files {
		size += int64(len(f.data))
		if err := place(root, f); err != nil {
			return err
		}
	}
	version := debianVersion(r.version)
	control, err := readFolder(filepath.Join(r.source, "packaging", "control"), "DEBIAN")
	if err != nil {
		return err
	}
	for _, f := range control {
		if f.mode = 0o755; strings.HasSuffix(f.name, "/control") {
			f.mode = 0o644
			f.data = fmt.Appendf(f.data, "Version: %s\nArchitecture: %s\nInstalled-Size: %d\n", version, arch, size/1024)
		}
		if err := place(root, f); err != nil {
			return err
		}
	}
	// dpkg-deb gives files that are newer than the commit the commit's time, and sorts.
	_, err = runWith(r.work, []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix())},
		"dpkg-deb", "--root-owner-group", "-Zgzip", "--build", root, filepath.Join(r.out, fmt.Sprintf("svc_%s_%s.deb", version, arch)))
	return err
}

// debianVersion is a version of Go in Debian's words: there a hyphen begins the version
// of the packaging, and only a tilde sorts before a release.
func debianVersion(v string) string {
	before, after, pre := strings.Cut(strings.TrimPrefix(v, "v"), "-")
	if !pre {
		return before
	}
	return before + "~" + strings.ReplaceAll(after, "-", ".")
}

// packageFiles are the files that the package installs, by their path.
func (r *publication) packageFiles(binary string) (files []file, err error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	files = append(files, file{"usr/bin/svc", program, 0o755})
	units, err := readFolder(filepath.Join(r.source, "packaging", "systemd"), "usr/lib/systemd/system")
	if err != nil {
		return nil, err
	}
	hardening, err := readFolder(filepath.Join(r.source, "packaging", "hardening"), "usr/share/svc")
	if err != nil {
		return nil, err
	}
	files = append(append(files, units...), hardening...)
	for _, f := range r.completion {
		files = append(files, file{"usr/share/" + f.name, f.data, f.mode})
	}
	for _, f := range r.manual {
		text, err := zipped(f.data)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"usr/share/" + f.name + ".gz", text, 0o644})
	}
	licence, err := os.ReadFile(filepath.Join(r.source, "packaging", "copyright"))
	if err != nil {
		return nil, err
	}
	changes, err := os.ReadFile(filepath.Join(r.source, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	if changes, err = zipped(changes); err != nil {
		return nil, err
	}
	return append(files, file{"usr/share/doc/svc/copyright", licence, 0o644}, file{"usr/share/doc/svc/changelog.gz", changes, 0o644}), nil
}

// zipped is data in gzip's form, without the time and the name that gzip adds.
func zipped(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// place writes a file below a folder.
func place(root string, f file) error {
	path := filepath.Join(root, filepath.FromSlash(f.name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, f.data, f.mode)
}
