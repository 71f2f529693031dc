// Package archive reads .zip files from untrusted sources: which files they hold, under
// which names, and their bytes.
//
// What always holds: an archive that could mean two things is refused. Such archives have
// entries that share bytes, are links or devices, are encrypted, or use an unusual
// compression method. An entry never gives more bytes than it declares. Reading the
// directory of an archive takes bounded memory, whatever size it declares.
//
// It does not judge paths and sizes: an entry's path may be "../a". Start reading at
// Open.
package archive

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// Bounds of an archive.
const (
	MaxFiles      = 10_000
	maxEntries    = 2 * MaxFiles // folders included
	maxDirectory  = 4 << 20      // bytes of all entries' descriptions
	searchForEnd  = 80 << 10     // bytes in which the end of the directory is looked for
	encryptedFlag = 0x1
	utf8Flag      = 0x800
)

// Error says what is wrong with an archive, for its owner.
type Error struct {
	Path   string // of the entry; "" when it is about the archive
	Reason string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Path == "" {
		return "the archive " + e.Reason
	}
	return fmt.Sprintf("the entry %q %s", e.Path, e.Reason)
}

// File is a file of an archive.
type File struct {
	Path string // with "/" between folders, in composed Unicode
	Size int64  // bytes, as declared
	zip  *zip.File
}

// Open reads the directory of an archive of size bytes. It skips folders and the files
// that operating systems add: __MACOSX, .DS_Store, Thumbs.db. Error: *Error.
func Open(r io.ReaderAt, size int64) ([]File, error) {
	bounded := &directory{r: r, left: maxDirectory + searchForEnd}
	z, err := zip.NewReader(bounded, size)
	switch {
	case bounded.left < 0:
		return nil, &Error{Reason: fmt.Sprintf("has more than %d entries, or their names are too long", maxEntries)}
	case err != nil:
		return nil, &Error{Reason: "is no .zip file, or is damaged: " + strings.TrimPrefix(err.Error(), "zip: ")}
	case len(z.File) > maxEntries:
		return nil, &Error{Reason: fmt.Sprintf("has %d entries; the most are %d", len(z.File), maxEntries)}
	}
	bounded.left = math.MaxInt64
	if err := disjoint(z.File, size); err != nil {
		return nil, err
	}
	files := []File{}
	for _, entry := range z.File {
		at, err := check(entry)
		if err != nil {
			return nil, err
		}
		if entry.Mode().IsDir() || strings.HasSuffix(at, "/") || isLitter(at) {
			continue
		}
		files = append(files, File{Path: at, Size: int64(entry.UncompressedSize64), zip: entry})
	}
	if len(files) > MaxFiles {
		return nil, &Error{Reason: fmt.Sprintf("has %d files; the most are %d", len(files), MaxFiles)}
	}
	return files, nil
}

// directory is an archive of which only so many bytes are read.
type directory struct {
	r    io.ReaderAt
	left int64
}

func (d *directory) ReadAt(p []byte, at int64) (int, error) {
	if d.left -= int64(len(p)); d.left < 0 {
		return 0, errors.New("too much")
	}
	return d.r.ReadAt(p, at)
}

// check refuses an entry that is not plainly a file or a folder, and returns its path.
func check(entry *zip.File) (at string, err error) {
	at, err = nameOf(entry)
	refuse := func(reason string) (string, error) { return "", &Error{Path: at, Reason: reason} }
	isFolder := entry.Mode().IsDir() || strings.HasSuffix(at, "/")
	switch kind := entry.Mode().Type(); {
	case err != nil:
		return refuse(err.Error())
	case kind == fs.ModeSymlink:
		return refuse("is a link")
	case kind != 0 && kind != fs.ModeDir:
		return refuse("is neither a file nor a folder")
	case entry.Flags&encryptedFlag != 0:
		return refuse("is encrypted")
	case entry.Method != zip.Store && entry.Method != zip.Deflate:
		return refuse(fmt.Sprintf("is packed by the method %d; only deflate and none are read", entry.Method))
	case entry.UncompressedSize64 > math.MaxInt64 || entry.CompressedSize64 > math.MaxInt64:
		return refuse("declares more bytes than there are")
	case isFolder && entry.UncompressedSize64 > 0:
		return refuse("is a folder with bytes")
	}
	return at, nil
}

// nameOf is the path of an entry. Windows tools write backslashes. Old tools write names in
// code page 437 without a flag, and so do others that write UTF-8. macOS stores letters and
// their accents separately.
func nameOf(entry *zip.File) (string, error) {
	name := entry.Name
	switch {
	case utf8.ValidString(name):
	case entry.Flags&utf8Flag != 0:
		return strings.ToValidUTF8(name, "\ufffd"), errors.New("has a name that is not UTF-8, and says that it is")
	default:
		decoded, err := charmap.CodePage437.NewDecoder().String(name)
		if err != nil {
			return "", err
		}
		name = decoded
	}
	if madeOnWindows(entry) {
		name = strings.ReplaceAll(name, `\`, "/")
		if len(name) > 1 && name[1] == ':' {
			return name, errors.New("has an absolute path")
		}
	}
	return norm.NFC.String(name), nil
}

// madeOnWindows reports whether an entry says that it was made on a DOS or Windows file
// system: FAT, NTFS or VFAT. Tools use two numbers for NTFS.
func madeOnWindows(entry *zip.File) bool {
	switch entry.CreatorVersion >> 8 {
	case 0, 10, 11, 14:
		return true
	}
	return false
}

// isLitter reports whether a path is one that operating systems add
// automatically.
func isLitter(at string) bool {
	name := path.Base(at)
	return strings.HasPrefix(at, "__MACOSX/") || name == ".DS_Store" || name == "Thumbs.db"
}

// disjoint refuses entries that share bytes: a small archive could then give any number of
// them. It reads where the bytes of each begin.
func disjoint(entries []*zip.File, size int64) error {
	type span struct {
		from, to int64
		name     string
	}
	spans := make([]span, 0, len(entries))
	for _, entry := range entries {
		from, err := entry.DataOffset()
		if err != nil || entry.CompressedSize64 > uint64(size) || from > size-int64(entry.CompressedSize64) {
			return &Error{Path: strings.ToValidUTF8(entry.Name, "\ufffd"), Reason: "lies outside of the archive, or its header is damaged"}
		}
		spans = append(spans, span{from, from + int64(entry.CompressedSize64), entry.Name})
	}
	slices.SortFunc(spans, func(a, b span) int { return int(min(max(a.from-b.from, -1), 1)) })
	for i := 1; i < len(spans); i++ {
		// Each entry has a header of 30 bytes or more before its bytes.
		if spans[i].from-localHeader < spans[i-1].to {
			return &Error{Path: strings.ToValidUTF8(spans[i].name, "\ufffd"), Reason: "shares bytes with another entry"}
		}
	}
	return nil
}

// localHeader is the least length of the header before an entry's bytes.
const localHeader = 30

// Open opens a file. It never gives more than Size bytes. Reading ends with an *Error where
// the bytes are not those that the archive declares.
func (f *File) Open() (io.ReadCloser, error) {
	r, err := f.zip.Open()
	if err != nil {
		return nil, &Error{Path: f.Path, Reason: "cannot be read"}
	}
	return &reader{r, f}, nil
}

type reader struct {
	io.ReadCloser
	of *File
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = &Error{Path: r.of.Path, Reason: "is damaged: its bytes are not those that the archive declares"}
	}
	return n, err
}
