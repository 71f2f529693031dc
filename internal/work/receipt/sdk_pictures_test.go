package receipt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"svc.example/internal/render/pixels"
	"svc.example/internal/test/receipttest"
)

// The size of the pictures of kinds, in pixels.
const pictureWidth, pictureHeight = 37, 29

// pixelsLie states other pixels of a frame than it has.
func pixelsLie(j *receipttest.Job, frame int) {
	other := strings.Repeat("0", 64)
	j.Receipt.Frames[frame].PixelSHA256, j.Manifest.Frames[frame].PixelSHA256 = other, other
}

// put replaces the picture of a frame. The bytes of the receipt are the picture's.
func put(t *testing.T, j *receipttest.Job, frame int, content []byte, pixels string) {
	t.Helper()
	sum := sha256.Sum256(content)
	j.Pictures[frame] = content
	r, m := &j.Receipt.Frames[frame], &j.Manifest.Frames[frame]
	r.SHA256, r.PixelSHA256, r.SizeBytes = hex.EncodeToString(sum[:]), pixels, int64(len(content))
	m.SHA256, m.PixelSHA256, m.SizeBytes = r.SHA256, r.PixelSHA256, r.SizeBytes
	m.Width, m.Height = pictureWidth, pictureHeight
	pack(t, j)
}

// kinds are pictures of each kind of PNG that Blender writes, which use every filter of rows,
// and of kinds that it does not write.
func kinds(t *testing.T) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	box := image.Rect(0, 0, pictureWidth, pictureHeight)
	for name, img := range map[string]interface {
		image.Image
		Set(x, y int, c color.Color)
	}{
		"grey": image.NewGray(box), "deep grey": image.NewGray16(box), "colour": image.NewRGBA(box), "deep colour": image.NewRGBA64(box),
		"colour with alpha": image.NewNRGBA(box), "deep colour with alpha": image.NewNRGBA64(box),
		"palette": image.NewPaletted(box, color.Palette{color.Black, color.White, color.NRGBA{R: 200, A: 255}}),
	} {
		for y := range pictureHeight {
			for x := range pictureWidth {
				v := uint16(x*x*y*977 + y*y*31) // smooth in places, and noise in others
				if x < 18 {
					v = uint16(1000*x + 700*y)
				}
				a := uint16(0xffff)
				if strings.Contains(name, "alpha") {
					a = uint16(x * 1700)
				}
				img.Set(x, y, color.NRGBA64{R: v, G: v * 3, B: uint16(y * 2000), A: a})
			}
		}
		var file bytes.Buffer
		if err := png.Encode(&file, img); err != nil {
			t.Fatal(err)
		}
		found[name] = file.Bytes()
	}
	return found
}

// pixelsOf is the hash of a picture as this service states it.
func pixelsOf(t *testing.T, content []byte) string {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return pixels.Of(img).SHA256
}

// damagedPNG has the length of a chunk of pixels changed, or its last bytes, with right checksums.
func damagedPNG(content []byte, change func(packed []byte) []byte) []byte {
	at := bytes.Index(content, []byte("IDAT"))
	size := int(binary.BigEndian.Uint32(content[at-4:]))
	packed := change(bytes.Clone(content[at+4 : at+4+size]))
	damaged := append(bytes.Clone(content[:at-4]), binary.BigEndian.AppendUint32(nil, uint32(len(packed)))...)
	chunk := append([]byte("IDAT"), packed...)
	damaged = append(damaged, chunk...)
	damaged = binary.BigEndian.AppendUint32(damaged, crc32.ChecksumIEEE(chunk))
	return append(damaged, content[at+8+size:]...)
}

// pictures are receipts whose pictures are of all kinds, true, damaged, and with other pixels
// than the receipt says.
func pictures(t *testing.T) (cases []judged) {
	t.Helper()
	add := func(name string, change func(*receipttest.Job)) {
		c := honest(t, 2, 1, 2, change)
		c.name = name
		cases = append(cases, c)
	}
	all := kinds(t)
	for name, content := range all {
		add("a picture in "+name, func(j *receipttest.Job) { put(t, j, 1, content, pixelsOf(t, content)) })
		if name != "palette" {
			add("other pixels in "+name, func(j *receipttest.Job) { put(t, j, 1, content, pixelsOf(t, all["palette"])) })
		}
	}
	colour := all["colour"]
	for name, content := range map[string][]byte{
		"cut off":                    colour[:len(colour)-14],
		"with a wrong checksum":      bytes.Replace(bytes.Clone(colour), colour[len(colour)-20:len(colour)-12], bytes.Repeat([]byte{7}, 8), 1),
		"with pixels cut off":        damagedPNG(colour, func(p []byte) []byte { return p[:len(p)-40] }),
		"with another sum of pixels": damagedPNG(colour, func(p []byte) []byte { p[len(p)-1]++; return p }),
	} {
		add("a picture "+name, func(j *receipttest.Job) { put(t, j, 1, content, pixelsOf(t, colour)) })
	}
	return cases
}
