package public

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/work/benchmark"
)

// The size that sites ask of a card's picture, in pixels.
const cardWide, cardHigh = 1200, 630

// cardFaces are the fonts of a card's picture. A broken font panics, which the tests would
// see.
var cardFaces = sync.OnceValue(func() (f struct{ huge, large, small font.Face }) {
	face := func(ttf []byte, size float64) font.Face {
		parsed, err := opentype.Parse(ttf)
		if err != nil {
			panic(err) // a programming error
		}
		made, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			panic(err) // a programming error
		}
		return made
	}
	f.huge, f.large, f.small = face(gobold.TTF, 150), face(gobold.TTF, 52), face(goregular.TTF, 36)
	return f
})

// resultCard sends the picture of a result: device, score, place, and whether it is
// verified. Errors: result_not_found.
func (s *Site) resultCard(w http.ResponseWriter, r *http.Request) error {
	result, err := s.Board.Result(r.Context(), r.PathValue("result_id"))
	if err != nil {
		return err
	}
	place := "not ranked"
	if result.Global.Rank != nil {
		place = "rank " + numbers.Grouped(*result.Global.Rank) + " of " + numbers.Grouped[int64](result.Global.Among)
	}
	if result.Verification != benchmark.Verified {
		place += " · " + string(result.Verification)
	}
	var file bytes.Buffer
	s.cards.Lock()
	img := drawCard(plaintext.Line(result.DeviceName), page.ScoreText(result.Score), place)
	s.cards.Unlock()
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, img); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(file.Bytes()) // a failed write means that the client is gone
	return nil
}

// drawCard paints a card's picture. Text that is too long is cut by its edge.
func drawCard(device, score, place string) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, cardWide, cardHigh))
	ground, light, dim := color.RGBA{17, 20, 24, 255}, color.RGBA{240, 242, 245, 255}, color.RGBA{160, 168, 178, 255}
	draw.Draw(img, img.Bounds(), image.NewUniform(ground), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(0, cardHigh-16, cardWide, cardHigh), image.NewUniform(color.RGBA{237, 137, 54, 255}), image.Point{}, draw.Src)
	faces := cardFaces()
	for _, line := range []struct {
		text string
		face font.Face
		in   color.Color
		y    int
	}{
		{device, faces.large, light, 130}, {score, faces.huge, light, 330}, {"samples per minute in Cycles", faces.small, dim, 400}, {place, faces.large, light, 510}, {"svc leaderboard", faces.small, dim, 580},
	} {
		d := font.Drawer{Dst: img, Src: image.NewUniform(line.in), Face: line.face, Dot: fixed.P(70, line.y)}
		d.DrawString(line.text)
	}
	return img
}
