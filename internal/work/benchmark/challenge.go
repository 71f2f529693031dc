package benchmark

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"time"

	"svc.example/internal/ground/digest"
	"svc.example/internal/render/pixels"
)

// Challenge is a picture that the service drew and a run must render (decisions 21): one
// of the benchmark's scenes, with noise and a camera position that could not be known
// before. So a matching picture was made after the challenge was drawn.
type Challenge struct {
	ChallengeID string     `json:"challenge_id"`
	Scene       string     `json:"scene"`
	Seed        int        `json:"seed"`         // of Cycles, 1 to 2^31-1
	Frame       int        `json:"frame"`        // the frame of the scene to render
	CameraShift [2]float64 `json:"camera_shift"` // added to the camera's: to the right, up; whole thousandths
	Samples     int        `json:"samples"`      // of a pixel; in scenes-v1 the number of the frame
}

// Answer is the challenge of a run, and the picture that answers it.
type Answer struct {
	Challenge
	FrameSHA256 string `json:"frame_sha256"` // of the PNG that comes with the receipt
	PixelSHA256 string `json:"pixel_sha256"` // of its decoded pixels
}

// Bounds of challenges.
const (
	ChallengeSamples = 8                // a few seconds of a processor
	ChallengeLife    = 30 * time.Minute // from the drawing to the receipt
	ChallengesHour   = 6                // of a node key, within an hour
	// MostShift is the largest shift of the camera in a direction, in thousandths.
	MostShift = 60
	// MostFrameBytes bounds the picture of a challenge: a PNG that does not compress.
	MostFrameBytes = 1 << 20
	// frameWidth and frameHeight are the size of every scene's pictures.
	frameWidth, frameHeight = 480, 270
)

// consistent checks that an answer does not contradict itself.
func (a Answer) consistent() error {
	switch {
	case a.ChallengeID == "" || len(a.ChallengeID) > maxText || !plain(a.ChallengeID):
		return errors.New("it has no proper id")
	case a.Scene == "" || len(a.Scene) > maxText || !plain(a.Scene):
		return errors.New("it has no proper scene")
	case a.Seed < 1 || a.Seed > math.MaxInt32 || a.Samples < 1 || a.Frame < 0:
		return fmt.Errorf("seed %d, frame %d, %d samples", a.Seed, a.Frame, a.Samples)
	case !digest.Is(a.FrameSHA256) || !digest.Is(a.PixelSHA256):
		return errors.New("it has no proper hashes")
	}
	for _, shift := range a.CameraShift {
		if !(math.Abs(shift) <= 1) {
			return fmt.Errorf("camera_shift is %v", a.CameraShift)
		}
	}
	return nil
}

// ReadFrame decodes the picture of an answer. An error says what is wrong with it: it is
// not the picture of the hashes, or not one of a scene's size.
func ReadFrame(file []byte, a Answer) (image.Image, error) {
	if len(file) == 0 || len(file) > MostFrameBytes {
		return nil, fmt.Errorf("the picture of the challenge has %d bytes, not 1 to %d", len(file), MostFrameBytes)
	}
	if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != a.FrameSHA256 {
		return nil, errors.New("the picture of the challenge is not the one of the receipt")
	}
	img, err := decodeFrame(file)
	if err != nil {
		return nil, err
	}
	if pixels.Of(img).SHA256 != a.PixelSHA256 {
		return nil, errors.New("the picture of the challenge has other pixels than the receipt says")
	}
	return img, nil
}

// decodeFrame decodes a PNG of the scenes' size; its header is read first.
func decodeFrame(file []byte) (image.Image, error) {
	size, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("the picture of the challenge is no PNG: %w", err)
	}
	if size.Width != frameWidth || size.Height != frameHeight {
		return nil, fmt.Errorf("the picture of the challenge is %dx%d, not %dx%d", size.Width, size.Height, frameWidth, frameHeight)
	}
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("the picture of the challenge: %w", err)
	}
	return img, nil
}

// ReferenceTolerance is the largest difference between two renders of one challenge, as
// FrameDifference measures it. docs/internal/benchmark-tolerance.md says how it was measured.
const ReferenceTolerance = 0.01

// FrameDifference is the root mean square of the differences of two pictures of a
// challenge over all channels of all pixels, 0 to 1. Both have the same noise, so pixels are
// compared and not averages of many. Errors: a file is no picture of a scene.
func FrameDifference(a, b []byte) (float64, error) {
	one, err := decodeFrame(a)
	if err != nil {
		return 1, err
	}
	other, err := decodeFrame(b)
	if err != nil {
		return 1, err
	}
	return pixels.Difference(one, other), nil
}
