package blender

import (
	"errors"
	"path/filepath"
	"strings"
)

// config is where Blender finds the OpenColorIO configuration of Options.Colours.
func (p *Process) config() string {
	return filepath.Join(p.placed, filepath.FromSlash(p.opts.Colours.Settings.OCIO))
}

// folderOf is the folder with the files of an input. One with a configuration is there since the
// start.
func (p *Process) folderOf(in Input) (string, error) {
	c := p.opts.Colours
	switch {
	case c == nil && in.Settings.OCIO == "":
		return p.place(in)
	case c == nil || c.Settings.OCIO != in.Settings.OCIO || c.Main != in.Main:
		return "", errors.New("this Blender was started for other colours")
	}
	return p.placed, nil
}

// used is what Blender prints of the configuration that it has taken. Without this line it has
// taken its own.
const used = "as a configuration file"

// usesColours refuses a Blender that did not take the configuration of Options.Colours: it would
// render with other colours.
func (p *Process) usesColours() error {
	if log := p.output.text(); p.opts.Colours != nil && !strings.Contains(log, used) {
		return colourError(log)
	}
	return nil
}

// withoutColours is the error of a Blender that did not start: one ends where it cannot read the
// configuration of Options.Colours, which is then the reason.
func (p *Process) withoutColours(err error) error {
	failed, ok := errors.AsType[*Error](err)
	if p.opts.Colours == nil || !ok || failed.Code != Crashed || !strings.Contains(failed.Log, complaint) {
		return err
	}
	return colourError(failed.Log)
}

// complaint is how OpenColorIO's errors begin.
const complaint = "OpenColorIO Error:"

// colourError is the failure of a job whose configuration OpenColorIO does not read. Every Blender
// of the version fails in the same way.
func colourError(log string) *Error {
	message := "Blender cannot use the project's OpenColorIO configuration"
	if _, why, ok := strings.Cut(log, complaint); ok {
		why, _, _ = strings.Cut(why, "\n")
		message += ":" + why
	}
	return &Error{Code: OCIOUnusable, Message: message, Log: log, Final: true}
}
