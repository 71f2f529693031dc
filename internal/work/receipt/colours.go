package receipt

import (
	"fmt"
	"slices"
)

// ConfigOf is the OpenColorIO configuration at a path of the input; nil for "". Error: the input
// has no such file.
func (in Input) ConfigOf(path string) (*InputConfig, error) {
	if path == "" {
		return nil, nil
	}
	at := slices.IndexFunc(in.Files, func(f InputFile) bool { return f.Path == path })
	if at < 0 {
		return nil, fmt.Errorf("the OpenColorIO configuration %q is not in the project", path)
	}
	return &InputConfig{Path: path, SHA256: in.Files[at].SHA256}, nil
}

// consistentColors checks that the configuration is the one that was ordered, and a file of the
// project.
func (r Receipt) consistentColors() error {
	want, err := r.Input.ConfigOf(r.Settings.OCIO)
	if err != nil {
		return err
	}
	if (want == nil) != (r.OCIO == nil) || want != nil && *want != *r.OCIO {
		return fmt.Errorf("the OpenColorIO configuration is not the one that was ordered, %q, with the hash of the project's file", r.Settings.OCIO)
	}
	return nil
}
