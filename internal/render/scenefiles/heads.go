package scenefiles

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"path"
	"strings"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/cutoff"
)

// Unreadable is a file of the tree that Blender cannot read as what it is wanted for.
type Unreadable struct {
	Path string `json:"path"`
	Why  string `json:"why"` // such as "is a Git LFS pointer, not a picture"
}

// Bounds of reading the beginnings of files.
const (
	headBytes    = 512
	maxHeads     = 2000     // files that are opened
	smallFile    = 1024     // a Git LFS pointer is smaller
	headsOfASet  = 8        // of the larger files of a set: what spoils one mostly spoils all
	maxEnds      = 500      // files whose end is looked at too, which takes another request of a store
	maxThrough   = 64 << 20 // of files that are read to their end, since only all of it tells where that is
	targaHeader  = 18
	isobmffBrand = 8 // where a file of the MP4 family names its kind
)

// readHeads looks at the first bytes of the files that the picture needs, and of sounds, and at
// the last bytes of some, and notes those that cannot be read.
func (s *search) readHeads(files []File) {
	left, rest, known := maxHeads, ends{files: maxEnds, bytes: maxThrough}, map[string]string{}
	for i := range files {
		f := &files[i]
		if !f.There() || f.Kind == KindLibrary || f.Reach != ReachNeeded && f.Kind != KindSound {
			continue
		}
		larger := 0
		for _, n := range f.Names {
			if n.Bytes > smallFile {
				larger++
			}
			if larger > headsOfASet && n.Bytes > smallFile {
				continue
			}
			if s.full() || left <= 0 {
				return
			}
			key := string(f.Kind) + "\x00" + n.Path
			why, seen := known[key]
			if !seen {
				left--
				why = s.unreadable(f.Kind, n, &rest)
				known[key] = why
			}
			if why != "" {
				s.answer -= nameCost + len(n.Path) + len(why)
				f.Unreadable = append(f.Unreadable, Unreadable{n.Path, why})
			}
		}
	}
}

// ends is how much may still be read of the ends of files.
type ends struct {
	files int
	bytes int64 // of those that are read as a whole
}

// unreadable says why a file cannot be read; "" where it may be. A file that cannot be opened
// is the concern of those that send it.
func (s *search) unreadable(kind Kind, n Name, left *ends) string {
	if n.Bytes == 0 {
		return whyUnreadable(kind, n, nil)
	}
	f, err := s.tree.files.Open(n.Path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, headBytes)
	read, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	if why := whyUnreadable(kind, n, head[:read]); why != "" || left.files <= 0 || kind == KindSimulation {
		return why
	}
	left.files--
	if in, ok := f.(io.ReaderAt); ok && cutoff.Is(n.Path, n.Bytes, in, &left.bytes) {
		return "is cut off: its end is missing"
	}
	return ""
}

// whyUnreadable judges a file by its first bytes. It says nothing when it is unsure: a
// warning about a good file does harm.
func whyUnreadable(kind Kind, n Name, head []byte) string {
	what := "a " + nouns()[kind]
	text := strings.ToLower(string(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")))
	begins := func(heads ...string) bool {
		for _, h := range heads {
			if strings.HasPrefix(text, h) {
				return true
			}
		}
		return false
	}
	switch {
	case begins("version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"):
		return "is a Git LFS pointer, not " + what
	case n.Bytes < smallFile && begins("/annex/objects/"):
		return "is a git-annex pointer, not " + what
	case begins("<!doctype html", "<html"):
		return "is a web page, not " + what
	case kind == KindSimulation: // what its files hold is known to the simulation only
	case n.Bytes == 0:
		return "is empty"
	case kind == KindImage, kind == KindSequence, kind == KindTiles:
		return noPicture(n, head)
	case kind == KindVolume, kind == KindCache, kind == KindFont:
		magics, known := dataMagics()[strings.ToLower(path.Ext(n.Path))]
		if known && !beginsWith(head, magics) {
			return "does not begin as " + what + " of its kind"
		}
	}
	return ""
}

// spoilt says what is wrong with a library that Blender cannot read either: it renders
// without it. "" is any other error, such as of a library that is too large for this search.
func (s *search) spoilt(library *blend) string {
	err := library.failed
	_, cut := errors.AsType[*blendfile.TruncatedError](err)
	_, damaged := errors.AsType[*blendfile.DamagedError](err)
	_, unknown := errors.AsType[*blendfile.UnsupportedError](err)
	switch {
	case cut || damaged || unknown:
		return "cannot be read: " + err.Error()
	case !errors.Is(err, blendfile.ErrNotBlend):
		return ""
	case library.inside == nil:
		if n, ok := s.tree.file(library.path); ok {
			return cmp.Or(s.unreadable(KindLibrary, n, new(ends)), "is not a .blend file")
		}
	}
	return "is not a .blend file"
}

// nouns are what an artist calls a file of a kind.
func nouns() map[Kind]string {
	return map[Kind]string{
		KindImage: "picture", KindSequence: "picture", KindTiles: "picture", KindMovie: "film", KindVolume: "volume", KindFont: "font",
		KindLibrary: "library", KindSound: "sound", KindCache: "cache", KindSimulation: "cache", KindScript: "shader", KindLight: "light profile",
	}
}

// dataMagics are how files begin that are no pictures, by their extensions.
func dataMagics() map[string][]string {
	// FreeType, and so Blender, goes by a font's content: any font may have any of these names.
	font := []string{"\x00\x01\x00\x00", "OTTO", "true", "typ1", "ttcf", "wOFF", "wOF2", "\xa5kbd", "\xa5lst", "%!", "\x80\x01", "\x01fcp", "STARTFONT", "PFR", "MZ", "\x00\x00\x01\x00", "\x1f\x8b", "\x1f\x9d", "BZh"}
	return map[string][]string{".ttf": font, ".otf": font, ".ttc": font, ".woff": font, ".woff2": font, ".vdb": {" BDV\x00\x00\x00\x00"}, ".abc": {"Ogawa", "\x89HDF\r\n\x1a\n"}, ".usdc": {"PXR-USDC"}, ".usda": {"#usda "}, ".usdz": {"PK\x03\x04"}}
}

// pictureMagics are how pictures begin that some Blender reads. Blender goes by them, not by
// the file's name.
func pictureMagics() []string {
	return []string{
		"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "\x76\x2f\x31\x01", "II*\x00", "MM\x00*", "II+\x00", "MM\x00+", "BM", "#?", "DDS ", "\x01\xda", "\x80\x2a\x5f\xd7", "\xd7\x5f\x2a\x80",
		"SDPX", "XPDS", "\x00\x00\x00\x0cjP  ", "\xff\x4f\xff\x51", "RIFF", "8BPS", "GIF8",
	}
}

// pictureNames are the extensions of files that are judged as pictures. TGA has no beginning
// of its own.
func pictureNames() []string {
	return []string{".png", ".jpg", ".jpeg", ".exr", ".tif", ".tiff", ".bmp", ".hdr", ".dpx", ".cin", ".jp2", ".j2c", ".webp", ".dds", ".psd"}
}

func beginsWith(head []byte, magics []string) bool {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m)) {
			return true
		}
	}
	return false
}

// noPicture says why a file named as a picture is not one.
func noPicture(n Name, head []byte) string {
	ext := strings.ToLower(path.Ext(n.Path))
	named := false
	for _, e := range pictureNames() {
		named = named || e == ext
	}
	switch {
	case !named, beginsWith(head, pictureMagics()), perhapsTarga(head):
		return ""
	case len(head) > isobmffBrand && string(head[4:isobmffBrand]) == "ftyp":
		return "is a HEIC, AVIF or film file, which Blender does not read as a picture"
	}
	return "does not begin as any picture that Blender reads"
}

// perhapsTarga reports whether a header is one that a TGA file can have.
func perhapsTarga(h []byte) bool {
	if len(h) < targaHeader || h[1] > 1 {
		return false
	}
	switch h[2] {
	case 1, 2, 3, 9, 10, 11, 32, 33:
	default:
		return false
	}
	switch h[16] {
	case 8, 15, 16, 24, 32:
		return (h[12] != 0 || h[13] != 0) && (h[14] != 0 || h[15] != 0)
	}
	return false
}
