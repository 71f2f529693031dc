package pixels_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/pixels"
)

// anyImage draws a picture of one of the types that the PNG decoder returns.
func anyImage(t *rapid.T) draw.Image {
	r := image.Rect(0, 0, rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "height"))
	var img draw.Image
	switch rapid.SampledFrom([]string{"grey", "grey16", "rgba", "rgba16", "opaque", "opaque16"}).Draw(t, "type") {
	case "grey":
		img = image.NewGray(r)
	case "grey16":
		img = image.NewGray16(r)
	case "rgba":
		img = image.NewNRGBA(r)
	case "rgba16":
		img = image.NewNRGBA64(r)
	case "opaque":
		img = image.NewRGBA(r)
		fill(t, img, true)
		return img
	case "opaque16":
		img = image.NewRGBA64(r)
		fill(t, img, true)
		return img
	}
	fill(t, img, false)
	return img
}

func fill(t *rapid.T, img draw.Image, opaque bool) {
	b := img.Bounds()
	values := rapid.SliceOfN(rapid.Uint16(), 4, 4)
	for y := range b.Dy() {
		for x := range b.Dx() {
			v := values.Draw(t, "pixel")
			if opaque {
				v[3] = 0xffff
			}
			img.Set(x, y, color.NRGBA64{R: v[0], G: v[1], B: v[2], A: v[3]})
		}
	}
}

func encode(t interface{ Fatal(...any) }, img image.Image, level png.CompressionLevel) []byte {
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: level}).Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t interface{ Fatal(...any) }, file []byte) pixels.Picture {
	p, err := pixels.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReencodingKeepsTheHash(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		img := anyImage(t)
		first := read(t, encode(t, img, png.NoCompression))
		again := read(t, encode(t, img, png.BestCompression))
		if first != again {
			t.Fatalf("%+v, encoded otherwise %+v", first, again)
		}
		if first.Width != img.Bounds().Dx() || first.Height != img.Bounds().Dy() {
			t.Fatalf("%dx%d, want %v", first.Width, first.Height, img.Bounds())
		}
	})
}

func TestGreyHashesAsTheSameColours(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		grey := image.NewGray(image.Rect(0, 0, 5, 4))
		fill(t, grey, false)
		colour := image.NewNRGBA(grey.Rect)
		draw.Draw(colour, grey.Rect, grey, image.Point{}, draw.Src)
		palette := image.NewPaletted(grey.Rect, nil)
		for i := range 256 {
			palette.Palette = append(palette.Palette, color.NRGBA{R: uint8(i), G: uint8(i), B: uint8(i), A: 255})
		}
		draw.Draw(palette, grey.Rect, grey, image.Point{}, draw.Src)
		want := read(t, encode(t, grey, png.DefaultCompression))
		for _, other := range []image.Image{colour, palette} {
			if got := read(t, encode(t, other, png.DefaultCompression)); got != want {
				t.Fatalf("%T: %+v, want %+v", other, got, want)
			}
		}
	})
}

func TestAnyChangedPixelChangesTheHash(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		img := anyImage(t)
		before := pixels.Of(img)
		b := img.Bounds()
		x, y := rapid.IntRange(0, b.Dx()-1).Draw(t, "x"), rapid.IntRange(0, b.Dy()-1).Draw(t, "y")
		old := color.NRGBA64Model.Convert(img.At(x, y)).(color.NRGBA64)
		img.Set(x, y, color.NRGBA64{R: old.R ^ 0x8000, G: old.G ^ 0x8000, B: old.B ^ 0x8000, A: 0xffff})
		if after := pixels.Of(img); after.SHA256 == before.SHA256 {
			t.Fatalf("pixel %d,%d changed, the hash did not", x, y)
		}
	})
}

func TestColourUnderZeroAlphaCounts(t *testing.T) {
	t.Parallel()
	a, b := image.NewNRGBA(image.Rect(0, 0, 1, 1)), image.NewNRGBA(image.Rect(0, 0, 1, 1))
	b.Pix[0] = 1
	if read(t, encode(t, a, 0)).SHA256 == read(t, encode(t, b, 0)).SHA256 {
		t.Fatal("red 0 and red 1 under alpha 0 have the same hash")
	}
}

func TestSizeIsPartOfTheHash(t *testing.T) {
	t.Parallel()
	wide, high := pixels.Of(image.NewNRGBA(image.Rect(0, 0, 4, 2))), pixels.Of(image.NewNRGBA(image.Rect(0, 0, 2, 4)))
	if wide.SHA256 == high.SHA256 {
		t.Fatal("4x2 and 2x4 of the same bytes have the same hash")
	}
}

// The canonical form is a promise to verifiers: this pins its bytes.
func TestCanonicalFormIsPinned(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	copy(img.Pix, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	// printf 'svc-pixels-v1 2 1 8\n\x01\x02\x03\x04\x05\x06\x07\x08' | sha256sum
	const want = "a3e5211d3e7325a1d0624a8187dd181c3995d2f2e29c72ba7421bea48c382bca"
	if got := read(t, encode(t, img, 0)); got.SHA256 != want || got.Bits != 8 || got.Format != "png" {
		t.Errorf("8 bits: %+v, want %s", got, want)
	}
	deep := image.NewNRGBA64(image.Rect(0, 0, 1, 1))
	copy(deep.Pix, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	// printf 'svc-pixels-v1 1 1 16\n\x01\x02\x03\x04\x05\x06\x07\x08' | sha256sum
	const want16 = "eb43bd7451002aabd84eed395dab76235f1c204203dc144a947b4563d70f45b2"
	if got := read(t, encode(t, deep, 0)); got.SHA256 != want16 || got.Bits != 16 {
		t.Errorf("16 bits: %+v, want %s", got, want16)
	}
}

func TestJPEGIsHashedAsItsDecodedColours(t *testing.T) {
	t.Parallel()
	img := image.NewRGBA(image.Rect(0, 0, 17, 9))
	for i := range img.Pix {
		img.Pix[i] = byte(i) | 0x0f
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		t.Fatal(err)
	}
	decoded, err := jpeg.Decode(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	got, want := read(t, file.Bytes()), read(t, encode(t, toNRGBA(decoded), 0))
	if got.SHA256 != want.SHA256 || got.Format != "jpeg" {
		t.Fatalf("%+v, want the hash of %+v", got, want)
	}
}

func toNRGBA(img image.Image) image.Image {
	out := image.NewNRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out
}

func TestACutFileIsAnError(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 6, 5))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 37)
	}
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, img, nil); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"png": encode(t, img, 0), "jpeg": jpg.Bytes(), "exr": tinyEXR(3, 2, 7)} {
		read(t, file)
		for n := range file {
			if _, err := pixels.Read(bytes.NewReader(file[:n])); err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s cut to %d of %d bytes: %v", name, n, len(file), err)
			}
		}
	}
}

func TestOtherFormatsAreUnsupported(t *testing.T) {
	t.Parallel()
	if _, err := pixels.Read(bytes.NewReader([]byte("GIF89a and so on, for a while longer"))); !errors.Is(err, pixels.ErrUnsupported) {
		t.Fatalf("%v, want ErrUnsupported", err)
	}
}

func TestAHugePictureIsRefusedBeforeItIsDecoded(t *testing.T) {
	t.Parallel()
	file := encode(t, image.NewGray(image.Rect(0, 0, 1, 1)), 0)
	header := file[16:24]
	binary.BigEndian.PutUint32(header, 1<<20)
	binary.BigEndian.PutUint32(header[4:], 1<<20)
	if _, err := pixels.Read(bytes.NewReader(fixCRC(file))); err == nil {
		t.Fatal("a picture of a million by a million pixels was read")
	}
}

func TestEXRHashIgnoresRemarksAndSeesPixels(t *testing.T) {
	t.Parallel()
	a, later, other := read(t, tinyEXR(3, 2, 7)), read(t, tinyEXR(3, 2, 7, "10:31")), read(t, tinyEXR(3, 2, 8))
	if a != later {
		t.Errorf("another date: %+v, want %+v", later, a)
	}
	if a.SHA256 == other.SHA256 {
		t.Error("other pixels have the same hash")
	}
	if a.Width != 3 || a.Height != 2 || a.Format != "exr" {
		t.Errorf("%+v, want 3x2 exr", a)
	}
}

// TestAJPEGWithoutPixelsIsRefused sets the size in the frame header of a sound file to 0:
// the decoder of the standard library takes that.
func TestAJPEGWithoutPixelsIsRefused(t *testing.T) {
	t.Parallel()
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, image.NewGray(image.Rect(0, 0, 3, 2)), nil); err != nil {
		t.Fatal(err)
	}
	file := jpg.Bytes()
	header := bytes.Index(file, []byte{0xff, 0xc0}) // SOF0: length, precision, height, width
	clear(file[header+5 : header+9])
	if p, err := pixels.Read(bytes.NewReader(file)); err == nil {
		t.Errorf("read as %+v", p)
	}
}

func FuzzRead(f *testing.F) {
	img := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, img, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(encode(f, img, 0))
	f.Add(jpg.Bytes())
	f.Add(tinyEXR(3, 2, 7))
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := pixels.Read(bytes.NewReader(file))
		if err == nil && (p.Width < 1 || p.Height < 1 || len(p.SHA256) != 64) {
			t.Fatalf("read as %+v", p)
		}
	})
}
