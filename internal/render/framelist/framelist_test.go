package framelist_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/framelist"
)

func TestAListIsReadAsArtistsWriteIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		list framelist.List
		text string
	}{
		"7":               {framelist.List{7}, "7"},
		"1-3":             {framelist.List{1, 2, 3}, "1-3"},
		"9,3,7-8":         {framelist.List{3, 7, 8, 9}, "3,7-9"},
		"1,2,2,1-3":       {framelist.List{1, 2, 3}, "1-3"},
		"10-40:10":        {framelist.List{10, 20, 30, 40}, "10-40:10"},
		"10-45:10":        {framelist.List{10, 20, 30, 40}, "10-40:10"},
		"1,3,5-7":         {framelist.List{1, 3, 5, 6, 7}, "1,3,5-7"},
		"1,3,5,7,8":       {framelist.List{1, 3, 5, 7, 8}, "1-5:2,7-8"},
		"1,5":             {framelist.List{1, 5}, "1,5"},
		"5-5:3":           {framelist.List{5}, "5"},
		"10-40x10":        {framelist.List{10, 20, 30, 40}, "10-40:10"},
		"10-40X20,50":     {framelist.List{10, 30, 50}, "10-50:20"},
		" 1 - 3 , 9 ":     {framelist.List{1, 2, 3, 9}, "1-3,9"},
		"1–3":             {framelist.List{1, 2, 3}, "1-3"},
		"1..3":            {framelist.List{1, 2, 3}, "1-3"},
		"1 .. 9 x 4":      {framelist.List{1, 5, 9}, "1-9:4"},
		"1,2,":            {framelist.List{1, 2}, "1-2"},
		"1048574-1048575": {framelist.List{1048574, 1048575}, "1048574-1048575"},
	} {
		got, err := framelist.Parse(text, 100)
		if err != nil || !slices.Equal(got, want.list) || got.String() != want.text {
			t.Errorf("%s: %v %q, %v, want %v %q", text, got, got.String(), err, want.list, want.text)
		}
	}
}

func TestATypingErrorIsNoList(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", ",", ",1", "1,,", "1,,2", "0", "-1", "+1", "1 2", "1-2 3", "1-", "1--3", "1...3", "80x5", "1-9x", "1-9xx2", "1-9x-1", "1-9x2x3", "-", "3-1", "1:2", "1-9:0", "1-9:-1", "a", "..9", "1;2", "１", "99999999999999999999", "1073741825",
	} {
		if got, err := framelist.Parse(text, 100); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestAListIsBoundedBeforeItIsMade(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1-1000000000", "1-11", "1-6,1-6", "1,2,3,4,5,6,7,8,9,10,11"} {
		if got, err := framelist.Parse(text, 10); !errors.Is(err, framelist.ErrTooMany) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestAListWithOneDistanceIsARange(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]framelist.Range{
		"7": {First: 7, Last: 7, Step: 1}, "3,7": {First: 3, Last: 7, Step: 4}, "1-9": {First: 1, Last: 9, Step: 1}, "2,4,6,8": {First: 2, Last: 8, Step: 2}, "1,2,4": {},
	} {
		l, err := framelist.Parse(text, 100)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := l.Range(); got != want || ok != (want != framelist.Range{}) {
			t.Errorf("%s: %v, %t, want %v", text, got, ok, want)
		}
	}
	if _, ok := framelist.Of(nil).Range(); ok {
		t.Error("no frame is a range")
	}
}

func TestTheTextOfAListReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := framelist.Of(rapid.SliceOfN(rapid.IntRange(1, 60), 1, 40).Draw(t, "frames"))
		back, err := framelist.Parse(l.String(), 100)
		if err != nil || !slices.Equal(back, l) {
			t.Fatalf("%v is written %q, which is read as %v, %v", l, l.String(), back, err)
		}
		total := 0
		for _, r := range l.Ranges() {
			total += r.Count()
		}
		if total != len(l) {
			t.Fatalf("%v has %d frames in its ranges", l, total)
		}
		if r, ok := l.Range(); ok && !slices.Equal(r.List(), l) {
			t.Fatalf("%v is the range %v", l, r)
		}
		frame := rapid.IntRange(1, 60).Draw(t, "frame")
		with, without := l.With(frame), l.Without(frame)
		if !with.Has(frame) || without.Has(frame) || len(with)-len(without) != 1 || !slices.IsSorted(with) {
			t.Fatalf("%v with %d is %v, without %v", l, frame, with, without)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"1", "1-20", "10-100:5", "1,3,5-9", "", "1-", "9-1", "1-9:0", "1 – 9x2,", "1..4"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := framelist.Parse(text, 1000)
		if err != nil {
			return
		}
		if back, err := framelist.Parse(l.String(), 1000); err != nil || !slices.Equal(back, l) {
			t.Fatalf("%q is read as %v, whose text %q is read as %v, %v", text, l, l.String(), back, err)
		}
	})
}
