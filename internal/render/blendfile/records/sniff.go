package records

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// sniffLength is how much of a file is read to learn what it is.
const sniffLength = 512

// isGzip recognises gzip, in which Blender packed files before 3.0.
func isGzip(b []byte) bool { return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) }

// isZstd recognises zstd, in which Blender packs files from 3.0 on: a frame, or a
// skippable frame, which may come first.
func isZstd(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	magic := binary.LittleEndian.Uint32(b)
	return magic == 0xFD2FB528 || magic&^0xF == 0x184D2A50
}

// isCutMagic recognizes a packed file of which nearly nothing is there.
func isCutMagic(b []byte) bool {
	return len(b) > 0 && len(b) < 4 && (bytes.HasPrefix([]byte{0x28, 0xb5, 0x2f, 0xfd}, b) || b[0] == 0x1f && len(b) == 1)
}

// looksLikeBlend accepts a stream that begins like a .blend, cut ones included.
// Otherwise it says what the stream is, if known.
func looksLikeBlend(b []byte) error {
	const magic = "BLENDER"
	if len(b) > 0 && bytes.HasPrefix([]byte(magic), b[:min(len(b), len(magic))]) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNotBlend, guess(b))
}

// guess names what people upload in place of a .blend.
func guess(b []byte) string {
	text := bytes.ToLower(bytes.TrimLeft(b, " \t\r\n\xef\xbb\xbf"))
	starts := func(s string) bool { return bytes.HasPrefix(b, []byte(s)) }
	reads := func(s string) bool { return bytes.HasPrefix(text, []byte(s)) }
	switch {
	case len(b) == 0:
		return "it is empty"
	case starts("version https://git-lfs.github.com/"):
		return "it is a Git LFS pointer; run git lfs pull and send the real file"
	case reads("<!doctype html"), reads("<html"):
		return "it is an HTML page, perhaps from a failed download"
	case reads("<?xml"):
		return "it is an XML document"
	case starts("PK\x03\x04"), starts("PK\x05\x06"):
		return "it is a ZIP archive; send the .blend inside it"
	case starts("Rar!"), starts("7z\xbc\xaf\x27\x1c"), starts("\xfd7zXZ\x00"), starts("BZh"), len(b) > 262 && string(b[257:262]) == "ustar":
		return "it is an archive; send the .blend inside it"
	case starts("\x89PNG"), starts("\xff\xd8\xff"), starts("GIF8"), starts("\x76\x2f\x31\x01"), starts("II*\x00"), starts("MM\x00*"):
		return "it is a picture"
	case starts("%PDF"):
		return "it is a PDF document"
	case starts("glTF"), starts("Kaydara FBX"), starts("PXR-USDC"), reads("#usda"), reads("ply\n"), reads("solid "):
		return "it is a 3D model of another format"
	case starts("\x7fELF"), starts("MZ"):
		return "it is a program"
	case reads("{"), reads("["):
		return "it is a JSON document"
	case len(bytes.Trim(b, "\x00")) == 0:
		return "it contains only zeros"
	}
	return "it does not begin with BLENDER"
}
