package receipt

import (
	"encoding/json"
	"fmt"
	"math"
)

// Times are the parts of an attempt at a frame in seconds, to the microsecond, none of them
// in another; the zero value means that the worker did not report them. They are the
// worker's claims: the service only bounds them. Sync, Render and Encode are the frame's
// RenderSeconds.
type Times struct {
	Load     float64 `json:"load"`     // Blender opened the file; 0 where it was open
	Sync     float64 `json:"sync"`     // until the first sample
	Render   float64 `json:"render"`   // samples, denoising, compositing
	Encode   float64 `json:"encode"`   // colours and encoding of the picture
	Transfer float64 `json:"transfer"` // waiting for the job's files, and sending the picture
	Waiting  float64 `json:"waiting"`  // in the worker's hands before its rendering began
}

// Part is one of Times.
type Part struct {
	Name    string
	Seconds float64
}

// Parts returns the times by name, in the order of their members.
func (t Times) Parts() []Part {
	return []Part{{"load", t.Load}, {"sync", t.Sync}, {"render", t.Render}, {"encode", t.Encode}, {"transfer", t.Transfer}, {"waiting", t.Waiting}}
}

// Within reports whether an attempt that took at most so many seconds can have these
// parts: each is finite and 0 or more, and together they are no more.
func (t Times) Within(seconds float64) bool {
	sum := 0.0
	for _, p := range t.Parts() {
		if !(p.Seconds >= 0) { // NaN too
			return false
		}
		sum += p.Seconds
	}
	return sum <= seconds && !math.IsInf(sum, 0)
}

// Text returns the form in which a store keeps times: JSON to the microsecond, "" for the
// zero value. They are finite.
func (t Times) Text() (string, error) {
	for _, part := range []*float64{&t.Load, &t.Sync, &t.Render, &t.Encode, &t.Transfer, &t.Waiting} {
		*part = math.Round(*part*1e6) / 1e6
	}
	if t == (Times{}) {
		return "", nil
	}
	text, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("store the times of a frame: %w", err)
	}
	return string(text), nil
}

// ParseTimes reads what Text returned.
func ParseTimes(text string) (t Times, err error) {
	if text == "" {
		return t, nil
	}
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return t, fmt.Errorf("read the times of a frame: %w", err)
	}
	return t, nil
}
