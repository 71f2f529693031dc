package records

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
)

// Thumbnail is the preview picture that the file carries.
type Thumbnail struct {
	Width  int `json:"width"`  // pixels
	Height int `json:"height"` // pixels
	rgba   []byte
}

// PNG encodes the picture, with its alpha.
func (t *Thumbnail) PNG() ([]byte, error) {
	// The file holds the rows from the bottom up; PNG wants them from the top.
	m := image.NewNRGBA(image.Rect(0, 0, t.Width, t.Height))
	row := 4 * t.Width
	for y := range t.Height {
		copy(m.Pix[y*m.Stride:], t.rgba[(t.Height-1-y)*row:][:row])
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return nil, fmt.Errorf("encode the preview picture: %w", err)
	}
	return b.Bytes(), nil
}
