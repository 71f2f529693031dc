package overview

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	"math"

	"github.com/HugoSmits86/nativewebp"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/result"
)

// How long a loop shows a picture, in seconds. A scene plays at its own speed; frames that
// lie further apart than the longest time are a time lapse. Browsers play what is shorter
// than the shortest slower.
const (
	shortestShown = 0.02
	longestShown  = 0.2
)

// loop makes the animated WebP. Errors: those of Content.
func (v Overview) loop(ctx context.Context) ([]byte, error) {
	var pictures []image.Image
	var shown []result.Frame
	for _, f := range v.chosen {
		picture, err := v.picture(ctx, f, v.loopSide())
		if err != nil {
			return nil, err
		}
		if picture == nil || (len(pictures) > 0 && picture.Bounds() != pictures[0].Bounds()) {
			continue // a loop has one size
		}
		pictures, shown = append(pictures, opaque(picture)), append(shown, f)
	}
	if len(pictures) == 0 {
		return nil, notShown(v.record.JobID)
	}
	for {
		content, err := animate(pictures, v.times(shown))
		longer := max(pictures[0].Bounds().Dx(), pictures[0].Bounds().Dy())
		if err != nil || len(content) <= contract.OverviewBytes || longer <= smallest {
			return content, err
		}
		for i, p := range pictures {
			pictures[i] = pixels.Smaller(p.(*image.RGBA), longer*3/4)
		}
	}
}

// loopSide is the longest side of a picture of which so many as are chosen fit into the
// pixels of an overview.
func (v Overview) loopSide() int {
	f := v.chosen[0]
	long, short := float64(max(f.Width, f.Height, 1)), float64(max(1, min(f.Width, f.Height)))
	most := math.Sqrt(contract.OverviewPixels / float64(len(v.chosen)) * long / short)
	return max(smallest, min(contract.LoopSide, int(most)))
}

// opaque copies a decoded JPEG.
func opaque(from image.Image) *image.RGBA {
	to := image.NewRGBA(image.Rectangle{Max: from.Bounds().Size()})
	draw.Draw(to, to.Bounds(), from, from.Bounds().Min, draw.Src)
	return to
}

// times are how long the pictures of frames are shown, in milliseconds.
func (v Overview) times(frames []result.Frame) []uint {
	times := make([]uint, len(frames))
	var at, told float64 // seconds, and what the rounded times add up to
	last := int64(1)
	for i, f := range frames {
		if i+1 < len(frames) {
			last = frames[i+1].Frame - f.Frame
		}
		at += min(longestShown, max(shortestShown, float64(last)/v.fps))
		ms := math.Round((at - told) * 1000)
		times[i], told = uint(ms), told+ms/1000
	}
	return times
}

// animate encodes pictures of one size as a WebP that plays for ever.
func animate(pictures []image.Image, times []uint) ([]byte, error) {
	var out bytes.Buffer
	err := nativewebp.EncodeAll(&out, &nativewebp.Animation{Images: pictures, Durations: times, Disposals: make([]uint, len(pictures))}, nil)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return out.Bytes(), nil
}
