package measure

import (
	"embed"
	"fmt"
)

// A scene's file is its name and .blend, the reference of its picture its name
// and .png.
//
//go:embed scenes/*.blend scenes/*.png
var scenes embed.FS

// blendOf returns a scene's file. The scenes are part of the program, so every worker of a
// version measures the same bytes.
func blendOf(scene string) ([]byte, error) {
	file, err := scenes.ReadFile("scenes/" + scene + ".blend")
	if err != nil {
		return nil, fmt.Errorf("take the benchmark's scene: %w", err)
	}
	return file, nil
}
