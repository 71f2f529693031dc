package archive_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/archive"
	"svc.example/internal/test/alone"
)

// read opens an archive and all files of it, up to so many bytes of each.
func read(data []byte, most int64) (content map[string]string, err error) {
	files, err := archive.Open(bytes.NewReader(data), int64(len(data)))
	content = map[string]string{}
	for i := range files {
		if err != nil {
			break
		}
		var r io.ReadCloser
		if r, err = files[i].Open(); err != nil {
			break
		}
		var text []byte
		text, err = io.ReadAll(io.LimitReader(r, most))
		content[files[i].Path] = string(text)
		_ = r.Close()
	}
	return content, err
}

func TestEachKindOfArchiveIsDecided(t *testing.T) {
	t.Parallel()
	file := func(name string) made { return made{name: name, content: "x", creator: unix} }
	for name, c := range map[string]struct {
		entries []made
		records *uint16
		behind  string
		files   string // their paths with commas; "" where it is refused
		refused string // part of the error
	}{
		"stored":                            {entries: []made{file("a"), file("b/c")}, files: "a,b/c"},
		"deflated":                          {entries: []made{{name: "a", content: strings.Repeat("x", 5000), deflated: true}}, files: "a"},
		"sizes after the bytes":             {entries: []made{{name: "a", content: "xyz", described: true, deflated: true}, file("b")}, files: "a,b"},
		"sizes after stored bytes":          {entries: []made{{name: "a", content: "xyz", described: true}, file("b")}, files: "a,b"},
		"ZIP64":                             {entries: []made{{name: "a", content: "xyz", zip64: true}, file("b")}, files: "a,b"},
		"ZIP64 with sizes after":            {entries: []made{{name: "a", content: "xyz", zip64: true, described: true, deflated: true}}, files: "a"},
		"ZIP64 of more than a disk has":     {entries: []made{{name: "a", zip64: true, size: new(uint64(1 << 63)), packed: new(uint64(1))}}, refused: "more bytes"},
		"ZIP64 that begins nowhere":         {entries: []made{{name: "a", zip64: true, packed: new(uint64(1 << 62))}}, refused: "outside"},
		"an empty file":                     {entries: []made{{name: "a", creator: unix}}, files: "a"},
		"a comment":                         {entries: []made{file("a")}, behind: "made by hand", files: "a"},
		"a folder":                          {entries: []made{{name: "b/", creator: unix, mode: fs.ModeDir | 0o755}, file("b/c")}, files: "b/c"},
		"a folder without a mode":           {entries: []made{{name: "b/"}, file("b/c")}, files: "b/c"},
		"a folder of Windows":               {entries: []made{{name: `b\`, creator: ntfs}, file("b/c")}, files: "b/c"},
		"a folder with bytes":               {entries: []made{{name: "b/", content: "x", creator: unix}}, refused: "folder with bytes"},
		"what macOS adds":                   {entries: []made{file("a.blend"), file("__MACOSX/._a.blend"), file(".DS_Store"), file("tex/.DS_Store")}, files: "a.blend"},
		"what Windows adds":                 {entries: []made{file("a.blend"), file("tex/Thumbs.db")}, files: "a.blend"},
		"a link":                            {entries: []made{{name: "a", content: "/etc/passwd", creator: unix, mode: fs.ModeSymlink | 0o777}}, refused: "is a link"},
		"a link of macOS":                   {entries: []made{{name: "a", content: "b", creator: macOS, mode: fs.ModeSymlink | 0o777}}, refused: "is a link"},
		"a link to a folder, and a file":    {entries: []made{{name: "a", content: "/tmp", creator: unix, mode: fs.ModeSymlink}, file("a/b")}, refused: "is a link"},
		"a pipe":                            {entries: []made{{name: "a", creator: unix, mode: fs.ModeNamedPipe}}, refused: "neither"},
		"a socket":                          {entries: []made{{name: "a", creator: unix, mode: fs.ModeSocket}}, refused: "neither"},
		"a disk":                            {entries: []made{{name: "a", creator: unix, mode: fs.ModeDevice}}, refused: "neither"},
		"a terminal":                        {entries: []made{{name: "a", creator: unix, mode: fs.ModeDevice | fs.ModeCharDevice}}, refused: "neither"},
		"encrypted":                         {entries: []made{{name: "a", content: "x", flags: 1}}, refused: "encrypted"},
		"strongly encrypted":                {entries: []made{{name: "a", content: "x", flags: 0x41}}, refused: "encrypted"},
		"encrypted by AES":                  {entries: []made{{name: "a", content: "x", flags: 1, method: new(uint16(99))}}, refused: "encrypted"},
		"Deflate64":                         {entries: []made{{name: "a", content: "x", method: new(uint16(9))}}, refused: "method 9"},
		"bzip2":                             {entries: []made{{name: "a", content: "x", method: new(uint16(12))}}, refused: "method 12"},
		"LZMA":                              {entries: []made{{name: "a", content: "x", method: new(uint16(14))}}, refused: "method 14"},
		"Zstandard":                         {entries: []made{{name: "a", content: "x", method: new(uint16(93))}}, refused: "method 93"},
		"more bytes than declared, stored":  {entries: []made{{name: "a", content: "xyz", size: new(uint64(1))}}, refused: "damaged"},
		"more bytes than declared":          {entries: []made{{name: "a", content: strings.Repeat("x", 100_000), deflated: true, size: new(uint64(10))}}, refused: "damaged"},
		"fewer bytes than declared":         {entries: []made{{name: "a", content: "xyz", deflated: true, size: new(uint64(10))}}, refused: "damaged"},
		"another checksum":                  {entries: []made{{name: "a", content: "xyz", crc: new(uint32(1))}}, refused: "damaged"},
		"another checksum after":            {entries: []made{{name: "a", content: "xyz", crc: new(uint32(1)), described: true}}, refused: "damaged"},
		"bytes that are not deflated":       {entries: []made{{name: "a", content: "xyz\xff\xff", method: new(uint16(8))}}, refused: "damaged"},
		"one entry twice":                   {entries: []made{file("a"), {name: "a", content: "x", creator: unix, at: new(0)}}, refused: "shares bytes"},
		"entries in each other's bytes":     {entries: []made{{name: "a", content: strings.Repeat("x", 100), packed: new(uint64(120))}, file("b")}, refused: "shares bytes"},
		"an entry within another":           {entries: []made{{name: "a", content: string(make([]byte, 200)), packed: new(uint64(230))}, {name: "b", content: "x"}}, refused: "shares bytes"},
		"an entry after the end":            {entries: []made{{name: "a", content: "x", at: new(1 << 20)}}, refused: "outside"},
		"an entry at no header":             {entries: []made{{name: "aaaaaaaa", content: "x", at: new(3)}}, refused: "outside"},
		"an entry that is longer":           {entries: []made{{name: "a", content: "x", packed: new(uint64(1 << 20))}}, refused: "outside"},
		"more entries than its end says":    {entries: []made{file("a"), file("b")}, records: new(uint16(1)), refused: "no .zip"},
		"fewer entries than its end says":   {entries: []made{file("a")}, records: new(uint16(2)), refused: "no .zip"},
		"no entries":                        {entries: nil, files: ""},
		"a way up, to be refused by others": {entries: []made{file("../a")}, files: "../a"},
		"an absolute path, likewise":        {entries: []made{file("/a")}, files: "/a"},
		"backslashes of Windows":            {entries: []made{{name: `tex\b\c.png`, content: "x", creator: 0}, {name: `d\e`, content: "x", creator: ntfs}, {name: `f\g`, content: "x", creator: vfat}}, files: "d/e,f/g,tex/b/c.png"},
		"a way up of Windows":               {entries: []made{{name: `..\a`, content: "x"}}, files: "../a"},
		"a backslash of Unix":               {entries: []made{file(`a\b`)}, files: `a\b`}, // a name, that others refuse
		"a drive":                           {entries: []made{{name: `C:\a`, content: "x"}}, refused: "absolute"},
		"a drive with a slash":              {entries: []made{{name: "c:/a", content: "x", creator: ntfs}}, refused: "absolute"},
		"a path of the drive's folder":      {entries: []made{{name: "c:a", content: "x", creator: ntfs}}, refused: "absolute"},
		"letters taken apart":               {entries: []made{{name: "cafe\u0301.png", content: "x", creator: macOS, flags: utf8Is}}, files: "caf\u00e9.png"},
		"UTF-8 that says so":                {entries: []made{{name: "木.png", content: "x", flags: utf8Is}}, files: "木.png"},
		"UTF-8 that does not say so":        {entries: []made{{name: "木.png", content: "x", creator: unix}}, files: "木.png"},
		"UTF-8 that is none":                {entries: []made{{name: "\x81.png", content: "x", flags: utf8Is}}, refused: "not UTF-8"},
		"code page 437":                     {entries: []made{{name: "\x81ber \x84.png", content: "x"}}, files: "über ä.png"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := build(t, c.entries, c.records, []byte(c.behind)...)
			content, err := read(data, 1<<20)
			if c.refused != "" {
				if _, ok := errors.AsType[*archive.Error](err); !ok || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("it is read as %q, %v; want %q", content, err, c.refused)
				}
				return
			}
			var paths []string
			for at, text := range content {
				paths = append(paths, at)
				i := slices.IndexFunc(c.entries, func(e made) bool { return len(e.content) == len(text) })
				if i < 0 || c.entries[i].content != text {
					t.Errorf("%s holds %q", at, text)
				}
			}
			slices.Sort(paths)
			if got := strings.Join(paths, ","); got != c.files || err != nil {
				t.Errorf("it holds %q, %v; want %q", got, err, c.files)
			}
		})
	}
}

func TestAnArchiveThatIsCutOrNoneIsRefused(t *testing.T) {
	t.Parallel()
	whole := build(t, []made{{name: "a", content: strings.Repeat("x", 1000)}}, nil)
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("hello"), "its first half": whole[:len(whole)/2], "all but a byte": whole[:len(whole)-1],
		"its directory alone": whole[1031:], "a .blend": []byte("BLENDER-v401" + strings.Repeat("x", 5000)),
	} {
		if _, err := read(data, 1<<20); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func TestTenThousandFilesPassAndOneMoreDoesNot(t *testing.T) {
	t.Parallel()
	for n, passes := range map[int]bool{archive.MaxFiles: true, archive.MaxFiles + 1: false, 70_000: false} {
		var b bytes.Buffer
		w := zip.NewWriter(&b) // beyond 65,535 entries it writes ZIP64
		for i := range n {
			if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("textures/%05d.png", i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := archive.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if (err == nil) != passes || passes && len(files) != n {
			t.Errorf("%d files: %d, %v", n, len(files), err)
		}
	}
}

// A directory of a hundred megabytes would take a gigabyte of memory.
func TestALargeDirectoryIsReadWithinABound(t *testing.T) {
	alone.Run(t, aLargeDirectoryIsReadWithinABound)
}

func aLargeDirectoryIsReadWithinABound(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 1 << 20 {
		if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := archive.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	runtime.ReadMemStats(&after)
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; err == nil || grown > 64 {
		t.Errorf("%d bytes took %d MiB: %v", b.Len(), grown, err)
	}
}

// FuzzArchive compares what is read with what was declared.
func FuzzArchive(f *testing.F) {
	for _, entries := range [][]made{
		{{name: "a", content: "x"}, {name: `b\c`, content: strings.Repeat("y", 500), deflated: true}},
		{{name: "a", content: "x", zip64: true, described: true}, {name: "\x81", content: "y"}},
		{{name: "l", content: "/", creator: unix, mode: fs.ModeSymlink}},
	} {
		f.Add(build(f, entries, nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := archive.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for i := range files {
			file := &files[i]
			r, err := file.Open()
			if err != nil {
				continue
			}
			n, err := io.Copy(io.Discard, io.LimitReader(r, 1<<20))
			_ = r.Close()
			if n > file.Size || err == nil && n < min(file.Size, 1<<20) {
				t.Errorf("%q gives %d bytes and declares %d, %v", file.Path, n, file.Size, err)
			}
		}
	})
}
