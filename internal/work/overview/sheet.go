package overview

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/result"
)

// Looks of a contact sheet, in pixels.
const (
	gap        = 6  // around cells
	label      = 16 // the height of a line of text
	narrowest  = 42 // of a cell: a frame number of six digits
	aspect     = 1.5
	smallest   = 16 // the shortest longer side of a frame that is tried
	quality    = 80 // of the JPEG, 1 to 100
	lowQuality = 20
)

// Colours of a contact sheet: light text and dark ground, as viewers of pictures have them.
var (
	ground = color.RGBA{0x20, 0x20, 0x20, 0xff}
	empty  = color.RGBA{0x48, 0x48, 0x48, 0xff} // a frame of which no picture can be made
	ink    = color.RGBA{0xe0, 0xe0, 0xe0, 0xff}
)

// grid is where the frames of a contact sheet lie.
type grid struct {
	side          int // pixels of the longer side of a frame
	cellW, cellH  int // pixels, without the number below
	columns, rows int
}

// layOut finds the largest frames, of width x height at full size, of which n fit into the
// pixels of a contact sheet.
func layOut(n, width, height int) grid {
	for side := contract.ContactSheetSide; ; side -= 8 {
		g := grid{side: side, cellW: width, cellH: height}
		if longer := max(width, height); longer > side {
			g.cellW, g.cellH = max(1, width*side/longer), max(1, height*side/longer)
		}
		g.cellW = max(g.cellW, narrowest)
		// So many columns that the sheet is about aspect times as wide as high.
		ideal := math.Sqrt(aspect * float64(n) * float64(g.cellH+label+gap) / float64(g.cellW+gap))
		g.columns = min(n, max(1, int(math.Round(ideal))))
		g.rows = (n + g.columns - 1) / g.columns
		if size := g.size(); size.X*size.Y <= contract.OverviewPixels || side <= smallest {
			return g
		}
	}
}

// size is that of the whole sheet, its line of text included.
func (g grid) size() image.Point {
	return image.Pt(max(gap+g.columns*(g.cellW+gap), narrowest*6), gap+label+g.rows*(g.cellH+label+gap))
}

// cell is where frame i lies, by its place in the sheet.
func (g grid) cell(i int) image.Rectangle {
	at := image.Pt(gap+i%g.columns*(g.cellW+gap), gap+label+i/g.columns*(g.cellH+label+gap))
	return image.Rectangle{at, at.Add(image.Pt(g.cellW, g.cellH))}
}

// sheet draws the contact sheet. Errors: those of Content.
func (v Overview) sheet(ctx context.Context) ([]byte, error) {
	width, height := 1, 1
	for _, f := range v.chosen {
		width, height = max(width, int(f.Width)), max(height, int(f.Height))
	}
	g := layOut(len(v.chosen), width, height)
	to := image.NewRGBA(image.Rectangle{Max: g.size()})
	draw.Draw(to, to.Bounds(), image.NewUniform(ground), image.Point{}, draw.Src)
	write(to, image.Pt(gap, 0), v.caption())
	drawn := 0
	for i, f := range v.chosen {
		cell := g.cell(i)
		shown, err := v.cell(ctx, to, cell, f, g.side)
		if err != nil {
			return nil, err
		}
		if shown {
			drawn++
		}
		number := strconv.FormatInt(f.Frame, 10)
		write(to, image.Pt(cell.Min.X+(g.cellW-textWidth(number))/2, cell.Max.Y), number)
	}
	if drawn == 0 {
		return nil, notShown(v.record.JobID)
	}
	var out bytes.Buffer
	for q := quality; ; q -= 20 {
		out.Reset()
		if err := jpeg.Encode(&out, to, &jpeg.Options{Quality: q}); err != nil {
			return nil, err
		}
		if out.Len() <= contract.OverviewBytes || q <= lowQuality {
			return out.Bytes(), nil
		}
	}
}

// caption says how much of the job the sheet shows.
func (v Overview) caption() string {
	of := strconv.FormatInt(v.record.FrameCount, 10)
	switch {
	case int64(v.Shown) == v.record.FrameCount:
		return of + " frames"
	case int64(v.Frames) == v.record.FrameCount:
		return fmt.Sprintf("%d of %s frames", v.Shown, of)
	case v.Shown == v.Frames:
		return fmt.Sprintf("%d of %s frames so far", v.Shown, of)
	}
	return fmt.Sprintf("%d of %d frames so far, of %s", v.Shown, v.Frames, of)
}

// cell draws a frame into the middle of its cell. shown is false where no picture can be
// made of it.
func (v Overview) cell(ctx context.Context, to draw.Image, cell image.Rectangle, f result.Frame, side int) (shown bool, err error) {
	picture, err := v.picture(ctx, f, side)
	if err != nil {
		return false, err
	}
	if picture == nil {
		draw.Draw(to, cell, image.NewUniform(empty), image.Point{}, draw.Src)
		return false, nil
	}
	b := picture.Bounds()
	at := cell.Min.Add(image.Pt((cell.Dx()-b.Dx())/2, (cell.Dy()-b.Dy())/2))
	draw.Draw(to, image.Rectangle{at, at.Add(b.Size())}.Intersect(cell), picture, b.Min, draw.Src)
	return true, nil
}

// picture decodes the preview of a frame; nil for a frame that none can be made of.
func (v Overview) picture(ctx context.Context, f result.Frame, side int) (image.Image, error) {
	small, err := v.small(ctx, f, side)
	if err != nil || small == nil {
		return nil, err
	}
	return jpeg.Decode(bytes.NewReader(small))
}

// write draws one line of text of ASCII below at.
func write(to draw.Image, at image.Point, text string) {
	pen := font.Drawer{
		Dst: to, Src: image.NewUniform(ink), Face: basicfont.Face7x13,
		Dot: fixed.P(at.X, at.Y+basicfont.Face7x13.Ascent+1),
	}
	pen.DrawString(text)
}

func textWidth(text string) int { return len(text) * basicfont.Face7x13.Advance }
