package caller

import (
	"fmt"
	"regexp"
	"strconv"

	"svc.example/client"
)

// SettingFlags choose what is rendered of a file in place of what the file says.
type SettingFlags struct {
	SceneName  string     `name:"scene" env:"SVC_SCENE" placeholder:"NAME" help:"Scene to render. Default: the file's active scene."`
	Camera     string     `env:"SVC_CAMERA" placeholder:"NAME" help:"Camera for all frames. Default: the scene's own, and those of its markers."`
	ViewLayer  string     `env:"SVC_VIEW_LAYER" placeholder:"NAME" help:"The only view layer to render. Default: all that the scene renders."`
	Resolution Resolution `env:"SVC_RESOLUTION" placeholder:"SIZE" help:"Size of the pictures, as in 50% of the scene's resolution, or 1920x1080 pixels."`
	Samples    int        `env:"SVC_SAMPLES" placeholder:"N" help:"Samples of a pixel, at most the scene's."`
	OutputName string     `env:"SVC_OUTPUT_NAME" enum:",frame,scene" default:"" placeholder:"frame|scene" help:"Names of the frames: frame (frame_0001, the default) or scene (the scene's own output path)."`
}

// settings are those of the flags, as the service takes them.
func (f SettingFlags) settings() client.Settings {
	s := client.Settings{
		Scene: f.SceneName, Camera: f.Camera, ViewLayer: f.ViewLayer, Samples: f.Samples, OutputName: f.OutputName,
		ResolutionPercentage: f.Resolution.percentage, ResolutionX: f.Resolution.x, ResolutionY: f.Resolution.y,
	}
	if s.OutputName == "frame" { // the default has one form, so that equal orders are equal
		s.OutputName = ""
	}
	return s
}

// Resolution is the value of --resolution: a percentage or a size in pixels.
type Resolution struct{ percentage, x, y int }

var resolution = regexp.MustCompile(`^(?:(\d{1,3}) ?%|(\d{1,6}) ?[x×] ?(\d{1,6}))$`)

// UnmarshalText reads 50% or 1920x1080.
func (r *Resolution) UnmarshalText(text []byte) error {
	parts := resolution.FindSubmatch(text)
	if parts == nil {
		return fmt.Errorf("%.40q is not a size such as 50%% or 1920x1080", text)
	}
	for i, to := range []*int{&r.percentage, &r.x, &r.y} {
		*to, _ = strconv.Atoi(string(parts[i+1])) // digits, or none
	}
	if *r == (Resolution{}) || r.x == 0 != (r.y == 0) {
		return fmt.Errorf("%.40q has no pixels", text)
	}
	return nil
}
