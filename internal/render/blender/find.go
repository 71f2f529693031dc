package blender

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"svc.example/internal/ground/contract"
)

// ErrNotFound reports that Find found no Blender. Its text says what to do.
var ErrNotFound = errors.New("no Blender found: run scripts/install-blender, or name one with --blender PATH")

// Find returns the absolute path of the Blender to use: the explicit one if given,
// otherwise the one that scripts/install-blender put under dataHome, otherwise the
// one on the PATH. dataHome is DataHome's result; "" skips that place. An explicit
// one that does not exist is an error, and no other is tried in its place. It does
// not start the program; Probe does. Error: ErrNotFound.
func Find(explicit, dataHome string) (string, error) {
	if explicit != "" {
		path, err := exec.LookPath(explicit)
		if err != nil {
			return "", fmt.Errorf("no Blender at %q: name its program with --blender PATH: %w", explicit, errors.Unwrap(err))
		}
		return filepath.Abs(path)
	}
	if dataHome != "" {
		installed := filepath.Join(dataHome, "svc", "blender-"+contract.BlenderVersion, "blender")
		if path, err := exec.LookPath(installed); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("blender")
	if err != nil {
		return "", ErrNotFound
	}
	return filepath.Abs(path)
}

// DataHome returns the user's data folder by the XDG rules, "" without one.
func DataHome() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return dir
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share")
	}
	return ""
}

// Probe starts the Blender at path, reads its properties and ends it. It creates
// its folders under temp and removes them. It runs without a sandbox and opens no
// file. Errors are Start's.
func Probe(ctx context.Context, path, temp string) (Info, error) {
	p, err := Start(ctx, Options{Path: path, Temp: temp, Out: temp})
	if err != nil {
		return Info{}, err
	}
	return p.Info(), p.Close()
}
