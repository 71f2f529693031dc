package synthetic

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// Paint returns a frame's picture as a PNG file. The frame's number sets the colours,
// so that 65,536 frames in a row have different pixels.
func Paint(frame int, size image.Point) ([]byte, error) {
	return Draw(size, weave, coloursOf(frame))
}

// coloursOf are the colours of a frame.
func coloursOf(frame int) color.Palette {
	colours := make(color.Palette, 256)
	for i := range colours {
		colours[i] = color.NRGBA{R: byte(frame), G: byte(frame>>8) ^ byte(i), B: byte(i), A: 255}
	}
	return colours
}

// weave makes stripes in both directions: no area is of one colour, which the frame check
// would take for blank.
func weave(x, y int) byte { return byte(x ^ y) }

// Draw returns a PNG file of pixels that are given by their palette index.
// size must be at least 1x1. A palette picture takes a byte for each pixel, so large
// frames stay cheap to paint.
func Draw(size image.Point, colour func(x, y int) byte, colours color.Palette) ([]byte, error) {
	picture := image.NewPaletted(image.Rectangle{Max: size}, colours)
	for y := range size.Y {
		row := picture.Pix[y*picture.Stride:][:size.X]
		for x := range row {
			row[x] = colour(x, y)
		}
	}
	var file bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, picture)
	return file.Bytes(), err
}

// paintFaulty is Paint with a fault in the picture.
func paintFaulty(frame int, size image.Point, fault Fault) ([]byte, error) {
	switch fault {
	case Small:
		return Paint(frame, image.Pt(max(1, size.X/2), max(1, size.Y/2)))
	case Black:
		return Draw(size, func(int, int) byte { return 0 }, color.Palette{color.NRGBA{A: 255}})
	case Wrong:
		return Draw(size, func(x, y int) byte { return weave(x, y) ^ 1 }, coloursOf(frame))
	case Half:
		content, err := Paint(frame, size)
		return content[:len(content)/2], err
	}
	return Paint(frame, size)
}
