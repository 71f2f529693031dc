package caller

import (
	"fmt"
	"slices"
	"strings"

	"svc.example/client"
	"svc.example/internal/ground/contract"
	"svc.example/internal/render/framelist"
)

// FrameList is the value of --frames: frames and ranges, as in 1,3,5-9 or 10-100:5. The
// zero value is the scene's own range.
type FrameList struct {
	// Ranges has one entry for each job: what one job can have is a range of at most
	// contract.MaxFrames frames with one step. No frame is in two of them.
	Ranges []client.Range
}

// mostJobs bounds the jobs of one command. More would take an hour of the rate limit,
// and more output than anyone reads.
const mostJobs = 100

// mostFrames follows from it.
const mostFrames = mostJobs * contract.MaxFrames

// UnmarshalText reads the list and divides it into as few ranges as reading from the
// first frame to the last one gives. A frame that is named twice is rendered once.
func (l *FrameList) UnmarshalText(text []byte) error {
	var named []client.Range
	count := 0
	for word := range framelist.Words(string(text)) {
		read, err := framelist.ParseRange(word)
		if err != nil {
			return err
		}
		r := client.Range{Start: read.First, End: read.Last, Step: read.Step}
		if count += frameCount(r); count > mostFrames {
			return fmt.Errorf("%q has more than %d frames", text, mostFrames)
		}
		named = append(named, r)
	}
	ranges := named
	if len(named) > 1 {
		ranges = divide(named)
	}
	l.Ranges = nil
	for _, r := range ranges {
		l.Ranges = append(l.Ranges, chunks(r)...)
	}
	if len(l.Ranges) > mostJobs {
		return fmt.Errorf("%q would be %d jobs, since a job has one range and one step; at most %d are possible at once", text, len(l.Ranges), mostJobs)
	}
	return nil
}

// String writes the list so that equal lists are equal texts, "" for the scene's own
// range.
func (l FrameList) String() string {
	words := make([]string, len(l.Ranges))
	for i, r := range l.Ranges {
		words[i] = rangeText(r.Start, r.End, r.Step)
	}
	return strings.Join(words, ",")
}

// rangeText writes a range as --frames reads it.
func rangeText(start, end, step int) string {
	return framelist.Range{First: start, Last: end, Step: step}.String()
}

func frameCount(r client.Range) int { return (r.End-r.Start)/max(1, r.Step) + 1 }

// divide turns ranges that may overlap into ranges that do not: it sorts all frames and
// takes the longest runs with one step, starting at the first frame.
func divide(named []client.Range) (ranges []client.Range) {
	var frames []int
	for _, r := range named {
		for i := range frameCount(r) {
			frames = append(frames, r.Start+i*r.Step)
		}
	}
	slices.Sort(frames)
	frames = slices.Compact(frames)
	for len(frames) > 0 {
		n, step := 1, 1
		if len(frames) > 1 {
			step = frames[1] - frames[0]
		}
		for n < len(frames) && frames[n]-frames[n-1] == step {
			n++
		}
		if n == 1 {
			step = 1
		}
		ranges = append(ranges, client.Range{Start: frames[0], End: frames[n-1], Step: step})
		frames = frames[n:]
	}
	return ranges
}

// chunks cuts a range that is too long for one job.
func chunks(r client.Range) (parts []client.Range) {
	for count := frameCount(r); count > contract.MaxFrames; count -= contract.MaxFrames {
		end := r.Start + (contract.MaxFrames-1)*r.Step
		parts = append(parts, client.Range{Start: r.Start, End: end, Step: r.Step})
		r.Start = end + r.Step
	}
	return append(parts, r)
}

// OneList is the value of --frames where all frames are one job: it may have gaps.
type OneList string

// UnmarshalText reads the list, and writes equal lists alike.
func (l *OneList) UnmarshalText(text []byte) error {
	list, err := framelist.Parse(string(text), contract.MaxFrames)
	if err == nil {
		*l = OneList(list.String())
	}
	return err
}
