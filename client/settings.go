package client

import (
	"mime/multipart"
	"strconv"
)

// Settings are what is rendered of a file in place of what the file says. A zero member is as
// in the file. The pictures are those of a file that was saved with these settings. What the
// file offers is in Quote.Scene.
type Settings struct {
	Scene     string `json:"scene,omitempty"`      // "" for the active one
	Camera    string `json:"camera,omitempty"`     // for all frames
	ViewLayer string `json:"view_layer,omitempty"` // "" for all that render
	// ResolutionPercentage is 1 to 100; or else ResolutionX and ResolutionY are pixels.
	ResolutionPercentage int `json:"resolution_percentage,omitempty"`
	ResolutionX          int `json:"resolution_x,omitempty"`
	ResolutionY          int `json:"resolution_y,omitempty"`
	Samples              int `json:"samples,omitempty"` // at most the scene's
	// OutputName is how frames are named: "frame" (frame_0001, the default) or "scene" (the
	// scene's own names).
	OutputName string `json:"output_name,omitempty"`
	// OCIO is the path in the project of the OpenColorIO configuration with which Blender runs;
	// "" for Blender's own. The project has the files that it needs.
	OCIO string `json:"ocio,omitempty"`
}

// write puts the settings into a form.
func (s Settings) write(form *multipart.Writer) error {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	for _, field := range []struct{ name, value string }{
		{"scene", s.Scene}, {"camera", s.Camera}, {"view_layer", s.ViewLayer}, {"resolution_percentage", number(s.ResolutionPercentage)},
		{"resolution_x", number(s.ResolutionX)}, {"resolution_y", number(s.ResolutionY)}, {"samples", number(s.Samples)}, {"output_name", s.OutputName}, {"ocio", s.OCIO},
	} {
		if field.value == "" {
			continue
		}
		if err := form.WriteField(field.name, field.value); err != nil {
			return err
		}
	}
	return nil
}
