package caller

import (
	"cmp"
	"fmt"
	"io"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/framename"
	"svc.example/internal/render/openjd"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/inspection"
)

// takeBundle puts what a bundle orders into the flags that were not given. A format or an engine
// other than the scene's is refused: an order cannot choose them. Names of frames are those of
// the scene where the bundle asks for them; to tells where it asks for others.
func (c *Render) takeBundle(to io.Writer) error {
	order, err := openjd.Read(c.OpenJD, openjd.Choice{ViewLayer: c.ViewLayer, Camera: c.Camera})
	if err != nil {
		return terminal.WrongUsage(err)
	}
	if c.OCIO == "" && order.OCIO != "" {
		if c.OCIO = order.OCIO; (config{path: c.OCIO}).check(c.FileFlags) != nil {
			return terminal.WrongUsagef("the bundle names the OpenColorIO configuration %s, which is not a file that can be sent. Name one with --ocio, or render with --ocio none", c.OCIO)
		}
	}
	chosen := order.Settings
	c.Scene, c.Frames, c.Out = order.Scene, cmp.Or(c.Frames, FrameList(order.Frames)), cmp.Or(c.Out, order.Out)
	c.SceneName, c.ViewLayer, c.Camera = cmp.Or(c.SceneName, chosen.Scene), cmp.Or(c.ViewLayer, chosen.ViewLayer), cmp.Or(c.Camera, chosen.Camera)
	c.Resolution = cmp.Or(c.Resolution, Resolution{x: chosen.ResolutionX, y: chosen.ResolutionY})
	facts, _, err := readFacts(c.Scene, c.settings())
	if err != nil {
		return fmt.Errorf("%s: %w", c.Scene, inspection.Refusal(err))
	}
	return c.compareBundle(to, order, facts.Scene)
}

// compareBundle compares the bundle with the scene that it renders.
func (c *Render) compareBundle(to io.Writer, order *openjd.Order, scene *blendfile.Scene) error {
	if scene == nil { // refused when it is read for the order
		return nil
	}
	format := scene.OutputFormat
	if scene.MovieOutput {
		format = "PNG"
	}
	switch {
	case order.Format != "" && order.Format != format:
		return terminal.WrongUsagef("the bundle asks for %s, and the scene saves %s: svc renders the scene's own format. Save the scene with the other format, or change the bundle", order.Format, format)
	case order.Engine != "" && order.Engine != scene.Engine:
		return terminal.WrongUsagef("the bundle asks for the engine %s, and the scene renders with %s: svc renders with the scene's own", order.Engine, scene.Engine)
	case order.Name == "" || c.OutputName != "":
	case framename.Of(order.Name) == framename.Of(scene.OutputPath):
		c.OutputName = settings.NameScene
	default:
		_, _ = fmt.Fprintf(to, "the frames are named frame_0001 and so on; the bundle's %s is not used\n", order.Name) // nothing depends on it
	}
	return nil
}
