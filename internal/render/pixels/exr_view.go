package pixels

import (
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"slices"

	"svc.example/internal/render/pixels/exr"
)

// Bounds of views.
const (
	// ViewMost is how many pixels a picture has at most that View shows: those of 5K.
	ViewMost = 5120 * 2880
	// MostExposure is how many stops lighter or darker View shows a picture at most.
	MostExposure = 16
	// viewMost bounds what a view keeps, in bytes.
	viewMost = 56 << 20
)

// Transform makes a screen's colours of light.
type Transform string

// The transforms. None is that of the scene, which is not known here.
const (
	// Standard clips what is brighter than a screen, as Blender's Standard does.
	Standard Transform = "standard"
	// Filmic lets highlights roll off instead, by a curve that is close to Blender's Filmic.
	Filmic Transform = "filmic"
	// Raw shows light as if it were a screen's code.
	Raw Transform = "raw"
)

// Transforms lists them, the first for those who choose none.
func Transforms() []Transform { return []Transform{Standard, Filmic, Raw} }

// TransformOf reads a transform; Standard for any other text.
func TransformOf(text string) Transform {
	if t := Transform(text); slices.Contains(Transforms(), t) {
		return t
	}
	return Standard
}

// Label names the transform for people.
func (t Transform) Label() string {
	return map[Transform]string{Standard: "Standard", Filmic: "Filmic-like", Raw: "Raw"}[t]
}

// of gives what a screen shows of light: from 0 up, to 0 to 1.
func (t Transform) of(light float64) float64 {
	switch t {
	case Filmic: // the fit of the ACES curve by Krzysztof Narkowicz
		x := 0.6 * light
		if x > 1e3 {
			return 1 // where the squares could overflow
		}
		return onScreen(min(1, x*(2.51*x+0.03)/(x*(2.43*x+0.59)+0.14)))
	case Raw:
		return min(1, light)
	}
	return onScreen(min(1, light))
}

// Look is how View shows a picture.
type Look struct {
	Exposure  float64   // stops more light
	Transform Transform // of light
	Layer     string    // one of Layers; any other name is the first one's
	Channel   string    // of the layer, as grey; "" or any other name for its colours
}

// View reads an OpenEXR picture to its end and returns it at its full size, as look says and
// without the view of its scene. It takes less than 64 MiB. Errors: ErrUnsupported (also for all
// other formats, and for OpenEXR in DWA), ErrTooLarge, and those of a file that is damaged.
func View(r io.Reader, look Look) (*image.YCbCr, error) {
	f, err := openView(r)
	if err != nil {
		return nil, err
	}
	if size := int64(f.Width) * int64(f.Height); size > ViewMost || f.ViewMemory()+size*3/2 > viewMost {
		return nil, fmt.Errorf("%d x %d pixels: %w", f.Width, f.Height, ErrTooLarge)
	}
	rgb := layerNamed(f, look.Layer).shown(look.Channel)
	to, gain, codes := image.NewYCbCr(image.Rect(0, 0, f.Width, f.Height), image.YCbCrSubsampleRatio420), math.Exp2(look.Exposure), look.Transform.codes()
	err = f.Chunks(io.Discard, func(y int, row []byte) {
		r, g, b := rgb[0].Of(row), rgb[1].Of(row), rgb[2].Of(row)
		code := func(v exr.Values, x int) uint8 { return codes[step(v.At(x), gain)] }
		for x := range f.Width {
			luma, blue, red := color.RGBToYCbCr(code(r, x), code(g, x), code(b, x))
			to.Y[to.YOffset(x, y)] = luma
			if x%2 == 0 && y%2 == 0 { // a JPEG has one colour for each two by two pixels
				at := to.COffset(x, y)
				to.Cb[at], to.Cr[at] = blue, red
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return to, nil
}

// Light is told apart by the exponent and the first eight bits of its fraction: no step is more
// than one code of a screen.
const (
	stepBits    = 16
	screenSteps = 1 << stepBits
)

// step is the step of a value, times a gain. What is no number is dark.
func step(value float32, gain float64) uint16 {
	light := float32(float64(value) * gain)
	if light > 0 { // no number is not
		return uint16(math.Float32bits(light) >> (32 - 1 - stepBits))
	}
	return 0
}

// codes are those of a screen for each step.
func (t Transform) codes() *[screenSteps]uint8 {
	var codes [screenSteps]uint8
	for i := range codes {
		light := float64(math.Float32frombits(uint32(i)<<(32-1-stepBits) | 1<<(32-2-stepBits))) // the middle of the step
		if math.IsNaN(light) {
			light = math.Inf(1) // the last steps
		}
		codes[i] = uint8(math.Round(255 * t.of(light)))
	}
	return &codes
}
