package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// file is one file of an archive or a package.
type file struct {
	name string // with slashes
	data []byte
	mode fs.FileMode
}

// pack writes an archive whose files lie in one folder. They are sorted, have no
// owner and are as old as the commit, so that the same files give the same bytes.
func pack(path, folder string, files []file, when time.Time) error {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var out bytes.Buffer
	write := packTar
	if strings.HasSuffix(path, ".zip") {
		write = packZIP
	}
	if err := write(&out, folder, files, when); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

func packTar(out io.Writer, folder string, files []file, when time.Time) error {
	zipped := gzip.NewWriter(out)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		err := archive.WriteHeader(&tar.Header{Name: folder + "/" + f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: when})
		if err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func packZIP(out io.Writer, folder string, files []file, when time.Time) error {
	archive := zip.NewWriter(out)
	for _, f := range files {
		header := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: when}
		header.SetMode(f.mode)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return archive.Close()
}
