package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"svc.example/internal/render/pixels"
)

// hash returns the hash of the pixels of each file. Files that package pixels does not
// decode are read by one Blender.
func (c Config) hash(ctx context.Context, folder string, files []string) (map[string]string, error) {
	hashes := map[string]string{}
	var others []string
	for _, path := range files {
		switch sum, err := pixelHash(path); {
		case errors.Is(err, pixels.ErrUnsupported) || (err == nil && sum == ""):
			others = append(others, path) // only Blender decodes it
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		default:
			hashes[path] = sum
		}
	}
	if len(others) == 0 {
		return hashes, nil
	}
	script, err := writeScripts(folder)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(others)
	if err != nil {
		return nil, err
	}
	list := filepath.Join(folder, "list.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return nil, err
	}
	return hashes, runScript(ctx, c.Blender, &hashes, filepath.Join(script, "hash.py"), list, filepath.Join(folder, "hashes.json"))
}

func pixelHash(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	picture, err := pixels.Read(file)
	return picture.SHA256, err
}
