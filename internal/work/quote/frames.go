package quote

import (
	"cmp"
	"errors"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/reuse"
)

// Frames is a range of frames: Start, Start+Step, ... up to End. Step is 1 or more. End
// may lie between two frames; Resolve moves it back to the last one.
type Frames struct {
	Start int `json:"frame_start"`
	End   int `json:"frame_end"`
	Step  int `json:"frame_step"`
}

// Count returns the number of frames; 0 for an empty range or a step below 1.
func (f Frames) Count() int {
	if f.Step < 1 || f.End < f.Start {
		return 0
	}
	return (f.End-f.Start)/f.Step + 1
}

// Selection is the frames of a quote.
type Selection struct {
	// Frames is their range, or the span of a list that is none.
	Frames Frames
	// Skipped is how many frames of the scene's range were left out.
	Skipped int
	// List has the frames if they are not a range; otherwise it is nil.
	List framelist.List
}

// outside returns the selected frames that a scene's range does not reach. A frame that the
// scene's step passes over is inside: it lies on the scene's timeline.
func (s Selection) outside(scene Frames) (l framelist.List) {
	for n := range s.each {
		if n < scene.Start || n > scene.End {
			l = append(l, n)
		}
	}
	return l
}

// RequestedFrames is the part of a range that the caller chose; nil members come from
// the scene. The zero value requests the scene's own range. Count chooses nothing: it
// must be the number of frames that the others mean.
type RequestedFrames struct {
	Start *int
	End   *int
	Step  *int
	Count *int
	// List chooses frames one by one. Then Start, End and Step choose nothing.
	List framelist.List
	// Choice is what else was chosen of the file.
	Choice Choice
	// Own is the upload's own scene, which intake reads before the transaction that locks the
	// price; nil where it has not.
	Own *Scene
	// RerenderOf is the job whose frames these are once more; "" for none.
	RerenderOf string
	// AskReuse asks to take over frames of earlier jobs that show the same. Reuse is what the
	// pictures come from, which only intake finds out; nil takes none over.
	AskReuse bool
	Reuse    *reuse.Pictures
}

// In lists the frames that are requested of a scene. Errors: those of Resolve.
func (a RequestedFrames) In(scene Scene) (framelist.List, error) {
	s, err := a.selection(a.Choice.Of(scene).Frames())
	if err != nil || s.List != nil {
		return s.List, err
	}
	return framelist.Range{First: s.Frames.Start, Last: s.Frames.End, Step: s.Frames.Step}.List(), nil
}

// Chosen returns the frames that a caller names: those of a list, or of a range's members.
// A list that is nil names none. Errors: those of ReadList, invalid_request where both are
// given.
func Chosen(list *string, r RequestedFrames) (RequestedFrames, error) {
	if list == nil {
		return r, nil
	}
	for _, given := range []struct {
		name string
		set  bool
	}{{"frame_start", r.Start != nil}, {"frame_end", r.End != nil}, {"frame_step", r.Step != nil}} {
		if given.set {
			return r, fault.Field("body."+given.name, "cannot be sent together with frames")
		}
	}
	var err error
	r.List, err = ReadList(*list)
	if err == nil && r.Count != nil && *r.Count != len(r.List) {
		err = fault.New(fault.InvalidFrameRange, "frame_count is %d, but frames lists %d.", *r.Count, len(r.List))
	}
	return r, err
}

// ReadList reads a list of frames as a caller sends it, such as 3,7-9. Errors:
// invalid_frame_range, frame_range_too_large.
func ReadList(text string) (framelist.List, error) {
	l, err := framelist.Parse(text, contract.MaxFrames)
	if errors.Is(err, framelist.ErrTooMany) {
		return nil, fault.New(fault.FrameRangeTooLarge, "The list has more than %d frames, which is the maximum for a job.", contract.MaxFrames).
			WithAction("Send a list of at most 10000 frames.")
	}
	if err != nil {
		return nil, fault.New(fault.InvalidFrameRange, "The list of frames is not valid: %v.", err).WithAction("Send frames and ranges separated by commas, such as 3,7-9 or 10-100x5.")
	}
	return l, nil
}

// selection completes the caller's choice. Errors: invalid_frame_range,
// frame_range_too_large.
func (a RequestedFrames) selection(scene Frames) (s Selection, err error) {
	if a.List == nil {
		s.Frames, s.Skipped, err = a.Resolve(scene)
		return s, err
	}
	l := a.List
	if last := l[len(l)-1]; last > contract.MaxFrameNumber {
		return s, fault.New(fault.InvalidFrameRange, "Frame %d is above %d, the highest frame number in Blender.", last, contract.MaxFrameNumber)
	}
	if r, ok := l.Range(); ok {
		return Selection{Frames: Frames{r.First, r.Last, r.Step}}, nil
	}
	return Selection{Frames: Frames{l[0], l[len(l)-1], 1}, List: l}, nil
}

// count returns the number of selected frames.
func (s Selection) count() int {
	if s.List != nil {
		return len(s.List)
	}
	return s.Frames.Count()
}

// ListOf returns the frames of a quote or a job from its row; list is "" for the range.
// A row that no quote writes gives an error.
func ListOf(start, end, step, count int64, list string) (framelist.List, error) {
	if start < contract.MinFrames || step < 1 || count < 1 || count > contract.MaxFrames || end != start+(count-1)*step && list == "" {
		return nil, fmt.Errorf("frames %d to %d by %d are not %d", start, end, step, count)
	}
	if list == "" {
		return framelist.Range{First: int(start), Last: int(end), Step: int(step)}.List(), nil
	}
	l, err := framelist.Parse(list, contract.MaxFrames)
	if err != nil {
		return nil, err
	}
	if _, isRange := l.Range(); isRange || l.String() != list || int64(len(l)) != count || int64(l[0]) != start || int64(l[len(l)-1]) != end || step != 1 {
		return nil, fmt.Errorf("frames %d to %d by %d, %d in all, are not %s", start, end, step, count, list)
	}
	return l, nil
}

// ListText writes the frames of a quote or a job, such as 3,7-9. list is "" for the range.
func ListText(start, end, step int, list string) string {
	return cmp.Or(list, framelist.Range{First: start, Last: end, Step: step}.String())
}

// Resolve completes the caller's choice from the scene's range and checks it. Frames
// begin at 1 (spec 2.4), so a scene's frames 0 and below are skipped; skipped is their
// number. A caller who asks for such a frame is refused instead: the caller can choose
// another one. Errors: invalid_frame_range, frame_range_too_large.
//
// Steps and numbers are bounded before anything is computed from them, so that the
// numbers of a hostile file cannot overflow.
func (a RequestedFrames) Resolve(scene Frames) (f Frames, skipped int, err error) {
	f = scene
	if a.Step != nil {
		f.Step = *a.Step
	}
	if a.End != nil {
		f.End = *a.End
	}
	if a.Start != nil {
		f.Start = *a.Start
	}
	if f.Step < 1 || f.Step > contract.MaxFrameNumber {
		return f, 0, fault.New(fault.InvalidFrameRange, "frame_step is %d; it must be 1 to %d.", f.Step, contract.MaxFrameNumber)
	}
	if f.Start > contract.MaxFrameNumber || f.End > contract.MaxFrameNumber {
		return f, 0, fault.New(fault.InvalidFrameRange, "The range %d to %d goes above %d, the highest frame number in Blender.",
			f.Start, f.End, contract.MaxFrameNumber)
	}
	if a.Start != nil && f.Start < contract.MinFrames {
		return f, 0, fault.New(fault.InvalidFrameRange, "frame_start is %d; frames begin at 1.", f.Start)
	}
	// Whole steps are skipped, so that the frames that remain are those of the scene.
	if f.Start < contract.MinFrames && f.End >= contract.MinFrames {
		skipped = (contract.MinFrames - f.Start + f.Step - 1) / f.Step
		f.Start += skipped * f.Step
	}
	if f.End < f.Start || f.Start < contract.MinFrames {
		return f, 0, fault.New(fault.InvalidFrameRange, "The range %d to %d contains no frame from 1 on.", f.Start, f.End).
			With(rangeDetail{scene, f})
	}
	if n := f.Count(); n > contract.MaxFrames {
		return f, 0, fault.New(fault.FrameRangeTooLarge, "The range %d to %d has %d frames; a job can have at most %d. Send frame_start and frame_end.",
			f.Start, f.End, n, contract.MaxFrames).With(rangeDetail{scene, f})
	}
	if n := f.Count(); a.Count != nil && *a.Count != n {
		return f, 0, fault.New(fault.InvalidFrameRange, "frame_count is %d, but frames %d to %d, every %d, are %d.", *a.Count, f.Start, f.End, f.Step, n).
			With(rangeDetail{scene, f})
	}
	// End becomes the last rendered frame, so that equal ranges compare equal.
	f.End = f.Start + (f.Count()-1)*f.Step
	return f, skipped, nil
}

// rangeDetail is the detail of both errors. It shows the scene's range next to
// the requested one, so that a caller can choose a range that fits.
type rangeDetail struct {
	Scene Frames `json:"scene"`
	Asked Frames `json:"asked"`
}

// Span is the range of the older flow (decisions 6): from start (1 when absent) to end,
// or count frames. If both are present they must agree; without both it is one frame.
// The scene takes no part, because this range is known before the file is read. Errors:
// invalid_frame_range, frame_range_too_large.
func Span(start, end, count *int) (Frames, error) {
	f := Frames{Start: contract.MinFrames, Step: 1}
	if start != nil {
		f.Start = *start
	}
	f.End = f.Start
	switch {
	case end != nil:
		f.End = *end
	case count != nil:
		f.End = f.Start + *count - 1
	}
	if count != nil && f.End-f.Start+1 != *count {
		return f, fault.New(fault.InvalidFrameRange, "frame_count is %d, but frames %d to %d are %d.", *count, f.Start, f.End, f.End-f.Start+1)
	}
	f, _, err := RequestedFrames{Start: &f.Start, End: &f.End}.Resolve(Frames{Step: 1})
	return f, err
}
