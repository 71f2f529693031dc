package archive_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"testing"
)

// made is an entry of an archive that the tests write byte by byte, to state what no
// tool states. The zero value of a member means the right value.
type made struct {
	name      string
	content   string
	deflated  bool
	flags     uint16
	method    *uint16 // as declared
	creator   uint16  // 0 = FAT, 3 = Unix, 10 and 11 = NTFS, 14 = VFAT, 19 = macOS
	mode      fs.FileMode
	size      *uint64 // as declared
	packed    *uint64 // as declared
	crc       *uint32
	zip64     bool
	described bool // sizes follow the bytes
	at        *int // where the directory says that the entry begins
}

const (
	unix   = 3
	ntfs   = 10
	vfat   = 14
	macOS  = 19
	utf8Is = 0x800
)

// build writes an archive. records, unless it is nil, is how many entries its end declares.
func build(t testing.TB, entries []made, records *uint16, behind ...byte) []byte {
	t.Helper()
	var out, directory bytes.Buffer
	put := func(to *bytes.Buffer, values ...any) {
		for _, v := range values {
			if err := binary.Write(to, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, e := range entries {
		packed, method := []byte(e.content), uint16(0)
		if e.deflated {
			var b bytes.Buffer
			w, _ := flate.NewWriter(&b, flate.BestCompression)
			_, _ = w.Write(packed)
			_ = w.Close()
			packed, method = b.Bytes(), 8
		}
		size, length, sum := uint64(len(e.content)), uint64(len(packed)), crc32.ChecksumIEEE([]byte(e.content))
		if e.method != nil {
			method = *e.method
		}
		if e.size != nil {
			size = *e.size
		}
		if e.packed != nil {
			length = *e.packed
		}
		if e.crc != nil {
			sum = *e.crc
		}
		flags := e.flags
		if e.described {
			flags |= 8
		}
		begins := out.Len()
		put(&out, uint32(0x04034b50), uint16(20), flags, method, uint32(0))
		if e.described {
			put(&out, uint32(0), uint32(0), uint32(0))
		} else {
			put(&out, sum, uint32(length), uint32(size))
		}
		put(&out, uint16(len(e.name)), uint16(0), []byte(e.name), packed)
		if e.described {
			put(&out, uint32(0x08074b50), sum, uint32(length), uint32(size))
		}
		if e.at != nil {
			begins = *e.at
		}
		var extra bytes.Buffer
		shown := []uint32{uint32(length), uint32(size)}
		if e.zip64 {
			put(&extra, uint16(1), uint16(16), size, length)
			shown = []uint32{1<<32 - 1, 1<<32 - 1}
		}
		attributes := uint32(0)
		if e.creator == unix || e.creator == macOS {
			attributes = unixMode(e.mode) << 16
		}
		put(&directory, uint32(0x02014b50), e.creator<<8|20, uint16(20), flags, method, uint32(0), sum, shown,
			uint16(len(e.name)), uint16(extra.Len()), uint16(0), uint16(0), uint16(0), attributes, uint32(begins), []byte(e.name), extra.Bytes())
	}
	n := uint16(len(entries))
	if records != nil {
		n = *records
	}
	at := out.Len()
	put(&out, directory.Bytes(), uint32(0x06054b50), uint16(0), uint16(0), n, n, uint32(directory.Len()), uint32(at), uint16(len(behind)), behind)
	return out.Bytes()
}

// unixMode is a mode as Unix has it.
func unixMode(mode fs.FileMode) uint32 {
	kind := map[fs.FileMode]uint32{
		0: 0o100000, fs.ModeDir: 0o040000, fs.ModeSymlink: 0o120000, fs.ModeNamedPipe: 0o010000, fs.ModeSocket: 0o140000,
		fs.ModeDevice: 0o060000, fs.ModeDevice | fs.ModeCharDevice: 0o020000,
	}[mode.Type()]
	return kind | uint32(mode.Perm())
}
