package sequence_test

import (
	"slices"
	"testing"

	"svc.example/internal/render/sequence"
)

// The numbers are those that Blender 3.4.1 gave for the frames -3 to 9.
func TestNumbersAreThoseThatBlenderShows(t *testing.T) {
	t.Parallel()
	const none = -99
	for _, c := range []struct {
		use  sequence.Use
		want []int
	}{
		{sequence.Use{Start: 1, Frames: 4, Rule: sequence.Hold}, []int{0, 0, 0, 0, 1, 2, 3, 4, 4, 4, 4, 4, 4}},
		{sequence.Use{Start: 1, Frames: 4, Rule: sequence.Cycle}, []int{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1}},
		{sequence.Use{Start: 3, Frames: 4, Offset: 10, Rule: sequence.Hold}, []int{10, 10, 10, 10, 10, 10, 11, 12, 13, 14, 14, 14, 14}},
		{sequence.Use{Start: 1, Frames: 4, Offset: -2, Rule: sequence.Hold}, []int{0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2}},
		{sequence.Use{Start: 1, Frames: 3, Offset: 2, Rule: sequence.Clip}, []int{none, none, none, none, 3, 4, 5, none, none, none, none, none, none}},
		{sequence.Use{Start: 1, Frames: 3, Rule: sequence.Extend}, []int{1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3}},
		{sequence.Use{Start: 1, Frames: 3, Rule: sequence.PingPong}, []int{1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1}},
		{sequence.Use{Start: 1, Rule: sequence.Hold}, slices.Repeat([]int{none}, 13)},
	} {
		var got []int
		for frame := -3; frame <= 9; frame++ {
			n, ok := c.use.Number(frame)
			if !ok {
				n = none
			} else if all := c.use.All(); n < all.First || n > all.Last {
				t.Errorf("%+v: %d is not in %v", c.use, n, all)
			}
			got = append(got, n)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.use, got, c.want)
		}
	}
}

func TestWhatIsNotThereIsListedWithinABound(t *testing.T) {
	t.Parallel()
	uses := []sequence.Use{{Start: 1, Frames: 5, Rule: sequence.Cycle}, {Start: 1, Frames: 3, Offset: 7, Rule: sequence.Clip}, {}}
	for _, c := range []struct {
		there []int
		most  int
		want  []sequence.Numbers
	}{
		{[]int{1, 2, 4, 5, 6, 7, 8, 9, 10, 30}, 9, []sequence.Numbers{{First: 3, Last: 3}}},
		{[]int{-1, 0, 3, 8}, 9, []sequence.Numbers{{First: 1, Last: 2}, {First: 4, Last: 7}, {First: 9, Last: 10}}},
		{[]int{3, 8}, 2, []sequence.Numbers{{First: 1, Last: 2}, {First: 4, Last: 7}}},
		{nil, 9, []sequence.Numbers{{First: 1, Last: 10}}},
	} {
		if got := sequence.Lacking(uses, c.there, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.there, got, c.want)
		}
	}
	if got := sequence.Lacking(nil, []int{1}, 9); got != nil {
		t.Errorf("nothing shows it: %v", got)
	}
}
