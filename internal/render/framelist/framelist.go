// Package framelist reads and writes lists of frame numbers as artists write them:
// "3,7-9,20-100:5".
//
// What always holds: a list is sorted and has each number once; the text of a list reads
// back as the same list; reading a text takes no more memory than the caller allows.
//
// How many frames a job may have, and which exist, is left to the callers. Start reading
// at Parse.
package framelist

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// List is a set of frame numbers, 1 and above, in rising order.
type List []int

// Range is the frames First, First+Step, … up to Last, which may lie after the last of
// them. Step is 1 or more.
type Range struct{ First, Last, Step int }

// Count returns the number of frames.
func (r Range) Count() int { return (r.Last-r.First)/r.Step + 1 }

// ErrTooMany means that a text names more frames than the caller allows.
var ErrTooMany = errors.New("it has too many frames")

// Parse reads the one grammar of frames: A, A-B and A-BxN (also A-B:N) with commas
// between, as in 7, 1-20, 10-100x5 or 1,3,5-9. Blanks around numbers and signs, an en dash
// or two dots for the hyphen, and a comma at the end are tolerated, because people paste
// lists from other programs. A frame that is named twice counts once. The colon is the
// step, never the staggered order that fileseq means by it.
//
// most bounds the frames that are named, double ones too. Errors: ErrTooMany, and those of
// ParseRange.
func Parse(text string, most int) (List, error) {
	var l List
	named := 0
	for word := range Words(text) {
		r, err := ParseRange(word)
		if err != nil {
			return nil, err
		}
		// Before a frame is kept: a text of ten bytes can name a billion.
		if named += r.Count(); named > most {
			return nil, fmt.Errorf("%w: the most is %d", ErrTooMany, most)
		}
		l = append(l, r.List()...)
	}
	return Of(l), nil
}

// Words divides a text at its commas. One at the end divides nothing.
func Words(text string) iter.Seq[string] {
	return strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(text), ","), ",")
}

// mostNumber is above every frame number that Blender knows; sums of two fit an int32.
const mostNumber = 1 << 30

// word is one frame or range. Digits are plain ones and unsigned, so that a typing error
// never becomes a range that a person pays for.
var word = regexp.MustCompile(`^\s*(\d{1,10})\s*(?:(?:-|–|\.\.)\s*(\d{1,10})\s*)?(?:[xX:]\s*(\d{1,10})\s*)?$`)

// ParseRange reads A, A-B or A-BxN, in numbers of 1 and above.
func ParseRange(text string) (Range, error) {
	parts := word.FindStringSubmatch(text)
	if parts == nil {
		return Range{}, notARange(text)
	}
	last, step := cmp.Or(parts[2], parts[1]), cmp.Or(parts[3], "1")
	if parts[3] != "" && parts[2] == "" {
		return Range{}, fmt.Errorf("%q has a step but no last frame; write it as 1-100x5", text)
	}
	var numbers [3]int
	for i, digits := range []string{parts[1], last, step} {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > mostNumber {
			return Range{}, notARange(text)
		}
		numbers[i] = n
	}
	if numbers[1] < numbers[0] {
		return Range{}, fmt.Errorf("%q ends before it starts", text)
	}
	return Range{numbers[0], numbers[1], numbers[2]}, nil
}

// notARange says what was expected in place of a text.
func notARange(text string) error {
	return fmt.Errorf("%.40q is not a frame (7), a range (1-20) or a range with a step (10-100x5); frames begin at 1", text)
}

// Of makes a list of numbers in any order. It takes the slice over.
func Of(numbers []int) List {
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// Range returns the list as one range, if it is one.
func (l List) Range() (r Range, ok bool) {
	if len(l) == 0 {
		return r, false
	}
	r = Range{l[0], l[len(l)-1], 1}
	if len(l) > 1 {
		r.Step = l[1] - l[0]
	}
	for i, n := range l {
		if n != r.First+i*r.Step {
			return Range{}, false
		}
	}
	return r, true
}

// Has reports whether the range has a frame.
func (r Range) Has(frame int) bool {
	return frame >= r.First && frame <= r.Last && (frame-r.First)%r.Step == 0
}

// List returns the frames of a range.
func (r Range) List() List {
	l := make(List, r.Count())
	for i := range l {
		l[i] = r.First + i*r.Step
	}
	return l
}

// Ranges divides a list into ranges, in rising order. Frames that follow each other are
// one range; of the others, three or more with equal distances are.
func (l List) Ranges() (ranges []Range) {
	for rest := l; len(rest) > 0; {
		n := rest.consecutive()
		if n == 1 {
			n = rest.stepped()
		}
		step := 1
		if n > 1 {
			step = rest[1] - rest[0]
		}
		ranges = append(ranges, Range{rest[0], rest[n-1], step})
		rest = rest[n:]
	}
	return ranges
}

// consecutive counts the frames from the first on that follow each other.
func (l List) consecutive() int {
	n := 1
	for n < len(l) && l[n] == l[n-1]+1 {
		n++
	}
	return n
}

// leastStepped is how many frames with equal distances are written as a range: two are
// shorter as they are.
const leastStepped = 3

// stepped counts the frames from the first on that have equal distances, 1 where that are
// few. A frame that another one follows at once is left to the next range.
func (l List) stepped() int {
	n := 1
	for n < len(l) && l[n]-l[n-1] == l[1]-l[0] && l[n:].consecutive() == 1 {
		n++
	}
	if n < leastStepped {
		return 1
	}
	return n
}

// String writes the list as Parse reads it; "" for an empty one.
func (l List) String() string {
	ranges := l.Ranges()
	words := make([]string, len(ranges))
	for i, r := range ranges {
		words[i] = r.String()
	}
	return strings.Join(words, ",")
}

// String writes the range as ParseRange reads it.
func (r Range) String() string {
	text := strconv.Itoa(r.First)
	if r.Last != r.First {
		text += "-" + strconv.Itoa(r.Last)
		if r.Step > 1 {
			text += ":" + strconv.Itoa(r.Step)
		}
	}
	return text
}

// Has reports whether the list has a frame.
func (l List) Has(frame int) bool {
	_, found := slices.BinarySearch(l, frame)
	return found
}

// With returns the list with one frame more, or itself where it has the frame.
func (l List) With(frame int) List {
	at, found := slices.BinarySearch(l, frame)
	if found {
		return l
	}
	return slices.Insert(slices.Clone(l), at, frame)
}

// Without returns the list without a frame.
func (l List) Without(frame int) List {
	return slices.DeleteFunc(slices.Clone(l), func(n int) bool { return n == frame })
}
