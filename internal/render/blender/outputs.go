package blender

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/framename"
)

// OutputLimits bound what a scene may write for a frame besides its picture.
type OutputLimits struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"` // of all together
	// Views has Blender write the other views of a scene with several, and JPEG previews of
	// OpenEXR; otherwise File Output nodes alone write.
	Views bool `json:"views"`
}

// Output is a file that Blender wrote besides the picture: another view, the JPEG preview of an
// OpenEXR, or what a File Output node writes. It lies in Frame.OutputDir; its name there is its
// index in Frame.Outputs.
type Output struct {
	Name      string // safe, and no other output of the frame has it; see framename.Names
	View      bool   // a view or a preview: its name begins with that of the picture
	SizeBytes int64
}

// written is an output as the driver reports it.
type written struct {
	File string `json:"file"`
	Name string `json:"name"` // as the scene has it
	View bool   `json:"view"`
}

// collectOutputs moves what Blender wrote besides the picture out of its reach, into a new folder
// in Options.Out. Errors: too_many_outputs, final, for more than may be; frame_check_failed.
func (p *Process) collectOutputs(all []written) (dir string, outputs []Output, err error) {
	if len(all) == 0 {
		return "", nil, nil
	}
	if dir, err = os.MkdirTemp(p.opts.Out, "outputs-"); err != nil {
		return "", nil, fmt.Errorf("make a folder for the outputs of a frame: %w", err)
	}
	outputs, err = p.takeOutputs(dir, all)
	if err != nil {
		_ = os.RemoveAll(dir) // whoever owns Options.Out empties it
		return "", nil, err
	}
	return dir, outputs, nil
}

func (p *Process) takeOutputs(dir string, all []written) (outputs []Output, err error) {
	refused := func(code, format string, args ...any) error {
		return &Error{Code: code, Message: fmt.Sprintf(format, args...), Log: p.output.text(), Final: code == TooManyOutputs}
	}
	if len(all) > p.outputs.Files {
		return nil, refused(TooManyOutputs, "the scene wrote %d files for a frame besides the picture; it may have %d", len(all), p.outputs.Files)
	}
	var names framename.Names
	left := p.outputs.Bytes
	for i, w := range all {
		o := Output{Name: names.Take(w.Name), View: w.View}
		to := filepath.Join(dir, strconv.Itoa(i))
		if w.File != filepath.Base(w.File) || !filepath.IsLocal(w.File) || os.Rename(filepath.Join(p.out(), w.File), to) != nil {
			return nil, refused(FrameCheckFailed, "the output %s is not where it should be", o.Name)
		}
		// As with pictures, the check comes after the move.
		info, err := os.Lstat(to)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return nil, refused(FrameCheckFailed, "the output %s is no file, or an empty one", o.Name)
		}
		o.SizeBytes = info.Size()
		if left -= o.SizeBytes; left < 0 {
			return nil, refused(TooManyOutputs, "the scene wrote more than %s for a frame besides the picture, the most that it may", sandbox.Size(p.outputs.Bytes))
		}
		outputs = append(outputs, o)
	}
	return outputs, nil
}
