package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"svc.example/internal/render/pixels"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker/outbox"
)

// outputMemory bounds the memory for looking at an output. Of one that takes more, the structure
// is looked at alone.
const outputMemory = 2 << 30

// checkOutputs reads the outputs of a frame, to the end of each: they must be whole pictures of
// a format that Blender writes.
func checkOutputs(s renderedFrame) (all []farmapi.Output, err error) {
	for i, o := range s.frame.Outputs {
		sum, err := checkOutput(filepath.Join(outbox.OutputsOf(s.path), strconv.Itoa(i)), o.SizeBytes)
		if err != nil {
			return nil, fmt.Errorf("the output %s of frame %d: %w", o.Name, s.frame.Number, err)
		}
		all = append(all, farmapi.Output{Name: o.Name, SHA256: sum, SizeBytes: o.SizeBytes, View: o.View})
	}
	return all, nil
}

func checkOutput(path string, size int64) (sum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	in := io.TeeReader(file, hash)
	if _, err = pixels.ReadWithin(in, pixels.Limits{Size: size, Memory: min(outputMemory, pixels.DecodingMemory(size))}); err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	return hex.EncodeToString(hash.Sum(nil)), err
}
