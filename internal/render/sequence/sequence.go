// Package sequence says which picture of a numbered sequence Blender shows in a frame, and
// where the number is in the name of its file.
//
// What always holds: the number is the one that Blender 3.4 computes, for every frame and
// every setting. Start reading at Use.
package sequence

import "strings"

// Rule says which pictures are shown in frames before and after a sequence.
type Rule string

// The rules.
const (
	Hold     Rule = "hold"      // an image: its last picture after it, and before it the number before the first
	Cycle    Rule = "cycle"     // it begins again
	Clip     Rule = "clip"      // none
	Extend   Rule = "extend"    // its first and its last picture
	PingPong Rule = "ping_pong" // forwards and backwards
)

// Use is how one user of a sequence shows it.
type Use struct {
	Start  int  `json:"start" doc:"The frame in which the first picture is shown."`
	Frames int  `json:"frames" doc:"How many pictures there are."`
	Offset int  `json:"offset" doc:"Added to the number of a picture, which begins with 1."`
	Rule   Rule `json:"rule" enum:"hold,cycle,clip,extend,ping_pong" doc:"What is shown before and after."`
}

// ToTheLast stands for the Frames of a sequence that ends with the last picture that is there.
// It shows nothing until that number is known.
const ToTheLast = 0

// Split splits a name around the number that changes from file to file: the last one before
// the extension. For volumes and caches (atEnd) it must be directly before the extension,
// otherwise the name has no number.
func Split(name string, atEnd bool) (head, digits, tail string) {
	stem := len(name)
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		stem = dot
	}
	end := stem
	for !atEnd && end > 0 && !isDigit(name[end-1]) {
		end--
	}
	start := end
	for start > 0 && isDigit(name[start-1]) {
		start--
	}
	return name[:start], name[start:end], name[end:]
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// Number is the number of the picture that is shown in a frame; ok is false for none.
func (u Use) Number(frame int) (number int, ok bool) {
	if u.Frames < 1 {
		return 0, false
	}
	n := frame - u.Start + 1
	switch u.Rule {
	case Clip:
		if n < 1 || n > u.Frames {
			return 0, false
		}
	case Cycle:
		n = around(n, u.Frames)
	case Extend:
		n = min(max(n, 1), u.Frames)
	case PingPong:
		if n = around(n, max(1, 2*u.Frames-2)); n > u.Frames {
			n = 2*u.Frames - n
		}
	default:
		return max(0, min(max(n, 0), u.Frames)+u.Offset), true
	}
	return n + u.Offset, true
}

// around counts n from 1 to length, again and again.
func around(n, length int) int {
	if n %= length; n <= 0 {
		n += length
	}
	return n
}

// All is the range of the numbers that can be shown.
func (u Use) All() Numbers {
	first := 1
	if u.Rule == Hold || u.Rule == "" {
		return Numbers{max(0, u.Offset), max(0, u.Frames+u.Offset)}
	}
	return Numbers{first + u.Offset, u.Frames + u.Offset}
}

// Numbers are those from First to Last.
type Numbers struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Lacking lists the numbers that uses can show and that are not there, as spans. there is
// sorted; at most so many spans are listed.
func Lacking(uses []Use, there []int, most int) (spans []Numbers) {
	first, last, shown := 0, 0, false
	for _, u := range uses {
		if u.Frames < 1 {
			continue
		}
		all := u.All()
		if !shown {
			first, last, shown = all.First, all.Last, true
		}
		first, last = min(first, all.First), max(last, all.Last)
	}
	if !shown {
		return nil
	}
	note := func(from, to int) {
		if from <= to && len(spans) < most {
			spans = append(spans, Numbers{from, to})
		}
	}
	for _, n := range there {
		if n < first || n > last {
			continue
		}
		note(first, n-1)
		first = n + 1
	}
	note(first, last)
	return spans
}

// In reports whether a number is in one of some spans.
func In(spans []Numbers, number int) bool {
	for _, s := range spans {
		if s.First <= number && number <= s.Last {
			return true
		}
	}
	return false
}
