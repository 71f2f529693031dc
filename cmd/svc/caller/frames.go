package caller

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svc.example/client"
	"svc.example/internal/ground/contract"
)

// FrameList is the value of --frames: frames and ranges, as in 1,3,5-9 or 10-100:5. The
// zero value is the scene's own range.
type FrameList struct {
	// Ranges has one entry for each job: what one job can have is a range of at most
	// contract.MaxFrames frames with one step. No frame is in two of them.
	Ranges []client.Range
}

// mostJobs bounds the jobs of one command. More of them take an hour of the rate limit
// and a screen that nobody reads.
const mostJobs = 100

// mostFrames follows from it.
const mostFrames = mostJobs * contract.MaxFrames

// UnmarshalText reads the list and divides it into as few ranges as reading from the
// first frame to the last one gives. A frame that is named twice is rendered once.
func (l *FrameList) UnmarshalText(text []byte) error {
	var named []client.Range
	count := 0
	for word := range strings.SplitSeq(string(text), ",") {
		r, err := readRange(word)
		if err != nil {
			return err
		}
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
	text := strconv.Itoa(start)
	if end != start {
		text += "-" + strconv.Itoa(end)
		if step > 1 {
			text += ":" + strconv.Itoa(step)
		}
	}
	return text
}

// readRange reads A, A-B or A-B:STEP, in numbers of 1 and above. It refuses signs and
// blanks, which strconv or a shell would let pass, so that a typing error never becomes
// a range that somebody pays for.
func readRange(text string) (client.Range, error) {
	ends, step, stepped := strings.Cut(text, ":")
	first, last, ranged := strings.Cut(ends, "-")
	if !ranged {
		last = first
	}
	if !stepped {
		step = "1"
	}
	var numbers [3]int
	for i, word := range []string{first, last, step} {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || word[0] == '+' {
			return client.Range{}, fmt.Errorf("%q is not A, A-B or A-B:STEP in numbers of 1 and above, nor several of them with commas between", text)
		}
		numbers[i] = n
	}
	if stepped && !ranged {
		return client.Range{}, fmt.Errorf("%q has a step but no end", text)
	}
	if numbers[1] < numbers[0] {
		return client.Range{}, fmt.Errorf("%q ends before it starts", text)
	}
	return client.Range{Start: numbers[0], End: numbers[1], Step: numbers[2]}, nil
}

func frameCount(r client.Range) int { return (r.End-r.Start)/max(1, r.Step) + 1 }

// divide turns ranges that may overlap into ranges that do not: it sorts all frames and
// takes, from the first one on, as many as have one step.
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
