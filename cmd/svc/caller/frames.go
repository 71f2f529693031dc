package caller

import (
	"svc.example/internal/ground/contract"
	"svc.example/internal/render/framelist"
)

// FrameList is the value of --frames: frames and ranges, as in 1,3,5-9 or 10-100x5, written
// so that equal lists are equal texts. The zero value is the scene's own range.
type FrameList string

// UnmarshalText reads the list. A frame that is named twice is rendered once.
func (l *FrameList) UnmarshalText(text []byte) error {
	list, err := framelist.Parse(string(text), contract.MaxFrames)
	if err == nil {
		*l = FrameList(list.String())
	}
	return err
}

// Frames returns the numbers, none for the scene's own range.
func (l FrameList) Frames() framelist.List {
	if l == "" {
		return nil
	}
	list, err := framelist.Parse(string(l), contract.MaxFrames)
	if err != nil {
		panic(err) // UnmarshalText has read it
	}
	return list
}

// rangeText writes a range as --frames reads it.
func rangeText(start, end, step int) string {
	return framelist.Range{First: start, Last: end, Step: step}.String()
}
