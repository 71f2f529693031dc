package caller

import (
	"os"
	"strings"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/render/scenefiles"
)

// noConfig is the value of --ocio for Blender's own colours.
const noConfig = "none"

// config is the OpenColorIO configuration with which a scene is rendered.
type config struct {
	path string // on this machine; "" for Blender's own
	from string // what named it
}

// configOf is the configuration of the flags, or that of this environment, with which Blender
// runs here.
func configOf(flags FileFlags) config {
	switch {
	case flags.OCIO == noConfig:
		return config{}
	case flags.OCIO != "":
		return config{flags.OCIO, "--ocio"}
	}
	return config{os.Getenv("OCIO"), "the variable OCIO"}
}

// check refuses a configuration that cannot be sent.
func (c config) check(flags FileFlags) error {
	const instead = "; --ocio none renders with Blender's own colours"
	switch {
	case c.path == "":
		return nil
	case flags.NoFiles:
		return terminal.WrongUsagef("--no-files does not send the OpenColorIO configuration that %s names%s", c.from, instead)
	case strings.HasPrefix(c.path, "ocio://"):
		return terminal.WrongUsagef("%s is built into OpenColorIO and cannot be sent (it comes from %s); name a file%s", c.path, c.from, instead)
	}
	if info, err := os.Stat(c.path); err != nil || !info.Mode().IsRegular() {
		return terminal.WrongUsagef("the OpenColorIO configuration %s, which %s names, is not a file here%s", c.path, c.from, instead)
	}
	return nil
}

// in finds the configuration in the scene's files, or brings it there; "" for Blender's own.
func (c config) in(disk *scenefiles.Disk) (name string, err error) {
	if c.path == "" {
		return "", nil
	}
	return disk.Configure(c.path)
}

// say shows which configuration is used.
func (c config) say(row func(name, format string, args ...any)) {
	if c.path != "" {
		row("colours", "OpenColorIO configuration %s, from %s", near(c.path), c.from)
	}
}
