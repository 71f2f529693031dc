package overview

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/image/webp"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
	"svc.example/internal/work/result"
)

// painter makes previews without frames: none can be made for numbers below zero.
type painter struct {
	width, height int
	noise         bool // that no encoder makes small
	made          atomic.Int64
}

// Small implements Pictures.
func (p *painter) Small(_ context.Context, _ job.Record, f result.Frame, side int) ([]byte, error) {
	p.made.Add(1)
	if f.Frame < 0 {
		return nil, fault.New(fault.FrameNotFound, "none")
	}
	w, h := p.width, p.height
	if longer := max(w, h); longer > side {
		w, h = max(1, w*side/longer), max(1, h*side/longer)
	}
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	random := rand.New(rand.NewPCG(1, uint64(f.Frame)))
	for i := range m.Pix {
		if m.Pix[i] = 0xc0; p.noise {
			m.Pix[i] = uint8(random.Uint32())
		}
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, m, &jpeg.Options{Quality: 95})
	return out.Bytes(), err
}

// of is an overview of n frames of a job of count.
func of(kind Kind, p *painter, n, count, most int) Overview {
	frames := make([]result.Frame, n)
	for i := range frames {
		frames[i] = result.Frame{Frame: int64(i + 1), Width: int64(p.width), Height: int64(p.height)}
	}
	v := Overview{Kind: kind, overviews: &Overviews{Pictures: p}, chosen: choose(frames, most), Frames: n, fps: 25}
	v.record.JobID, v.record.FrameCount, v.Shown = "JOB-1", int64(count), len(v.chosen)
	return v
}

// TestALongJobShowsAnEvenChoiceAndSaysSo: of 10,000 frames no more previews are made than
// are shown.
func TestALongJobShowsAnEvenChoiceAndSaysSo(t *testing.T) {
	t.Parallel()
	p := &painter{width: 1920, height: 1080}
	v := of(ContactSheet, p, 10_000, 10_000, 100)
	content, err := v.sheet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := p.made.Load(); n != 100 {
		t.Errorf("%d previews were made", n)
	}
	if got := v.caption(); got != "100 of 10000 frames" {
		t.Errorf("the caption is %q", got)
	}
	first, last := v.chosen[0].Frame, v.chosen[99].Frame
	if first != 1 || last != 10_000 {
		t.Errorf("it shows %d to %d", first, last)
	}
	for i, f := range v.chosen[1:] {
		if d := f.Frame - v.chosen[i].Frame; d != 101 {
			t.Errorf("%d frames lie between %d and %d", d, v.chosen[i].Frame, f.Frame)
		}
	}
	size, err := jpeg.DecodeConfig(bytes.NewReader(content))
	if err != nil || size.Width*size.Height > contract.OverviewPixels || size.Width < size.Height {
		t.Errorf("the sheet has %d x %d pixels, %v", size.Width, size.Height, err)
	}
}

// TestTheCaptionOfAJobThatGoesOnSaysSo in each case.
func TestTheCaptionOfAJobThatGoesOnSaysSo(t *testing.T) {
	t.Parallel()
	p := &painter{width: 16, height: 9}
	for _, c := range []struct {
		there, count, most int
		want               string
	}{
		{3, 3, 100, "3 frames"}, {250, 250, 100, "100 of 250 frames"},
		{3, 250, 100, "3 of 250 frames so far"}, {200, 250, 100, "100 of 200 frames so far, of 250"},
	} {
		if got := of(ContactSheet, p, c.there, c.count, c.most).caption(); got != c.want {
			t.Errorf("%d of %d frames, at most %d: %q, want %q", c.there, c.count, c.most, got, c.want)
		}
	}
}

// TestASheetStaysWithinItsPixels: of any number of frames of any form, and no two lie over
// each other.
func TestASheetStaysWithinItsPixels(t *testing.T) {
	t.Parallel()
	for _, form := range []image.Point{{1920, 1080}, {1080, 1920}, {1, 1}, {65536, 1}, {1, 65536}, {1000, 1000}, {4096, 1716}} {
		for n := 1; n <= MostContactSheetFrames; n++ {
			g := layOut(n, form.X, form.Y)
			size := g.size()
			if size.X*size.Y > contract.OverviewPixels || g.side < smallest || g.columns*g.rows < n || g.columns*(g.rows-1) >= n {
				t.Fatalf("%d frames of %v: %+v, %v", n, form, g, size)
			}
			if whole := (image.Rectangle{Max: size}); !g.cell(n-1).In(whole) || !g.cell(g.columns-1).In(whole) {
				t.Fatalf("%d frames of %v: %v is outside of %v", n, form, g.cell(n-1), whole)
			}
			if n > 1 && g.cell(0).Overlaps(g.cell(1)) {
				t.Fatalf("%d frames of %v lie over each other", n, form)
			}
		}
	}
}

// TestEachFrameHasItsNumberBelowIt: the pixels below a frame are those of its number.
func TestEachFrameHasItsNumberBelowIt(t *testing.T) {
	t.Parallel()
	p := &painter{width: 160, height: 90}
	v := of(ContactSheet, p, 12, 12, 100)
	content, err := v.sheet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := jpeg.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	g := layOut(12, 160, 90)
	light := func(r image.Rectangle) (n int) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if grey := color.GrayModel.Convert(sheet.At(x, y)).(color.Gray); grey.Y > 0x90 {
					n++
				}
			}
		}
		return n
	}
	for i, f := range v.chosen {
		want := image.NewRGBA(image.Rect(0, 0, g.cellW, label))
		write(want, image.Pt(0, 0), fmt.Sprint(f.Frame))
		ink := 0
		for i := 3; i < len(want.Pix); i += 4 {
			if want.Pix[i] == 0xff {
				ink++
			}
		}
		below := g.cell(i)
		below = image.Rect(below.Min.X, below.Max.Y+1, below.Max.X, below.Max.Y+label)
		if got := light(below); got < ink*2/3 || got > ink*4/3 {
			t.Errorf("below frame %d are %d light pixels, its number has %d", f.Frame, got, ink)
		}
		if cell := g.cell(i); light(cell) < cell.Dx()*cell.Dy()*9/10 {
			t.Errorf("frame %d is not drawn", f.Frame)
		}
	}
}

// TestAFrameWithoutAPictureLeavesItsPlaceEmpty, and a job of such frames alone has no
// overview.
func TestAFrameWithoutAPictureLeavesItsPlaceEmpty(t *testing.T) {
	t.Parallel()
	p := &painter{width: 160, height: 90}
	for _, draw := range []func(Overview) ([]byte, error){
		func(v Overview) ([]byte, error) { return v.sheet(t.Context()) },
		func(v Overview) ([]byte, error) { return v.loop(t.Context()) },
	} {
		v := of(ContactSheet, p, 3, 3, 100)
		v.chosen[1].Frame = -2
		if content, err := draw(v); err != nil || len(content) == 0 {
			t.Errorf("one of three: %v", err)
		}
		v.chosen[0].Frame, v.chosen[2].Frame = -1, -3
		if _, err := draw(v); !fault.Is(err, fault.FrameNotFound) || !strings.Contains(err.Error(), "have a format") {
			t.Errorf("three of three: %v", err)
		}
	}
}

// TestALoopStaysWithinItsBytesWhateverItShows: noise takes three bytes a pixel.
func TestALoopStaysWithinItsBytesWhateverItShows(t *testing.T) {
	t.Parallel()
	v := of(Loop, &painter{width: 1920, height: 1080, noise: true}, 48, 48, 48)
	content, err := v.loop(t.Context())
	if err != nil || len(content) > contract.OverviewBytes {
		t.Fatalf("%d bytes, %v", len(content), err)
	}
	frames := framesOf(t, content)
	if len(frames) != 48 || frames[0].size.X >= contract.LoopSide || frames[0].size.X < 100 {
		t.Errorf("it has %d frames of %v", len(frames), frames[0].size)
	}
}

// TestALoopPlaysAtTheSpeedOfItsScene, and as a time lapse where its frames lie far apart.
func TestALoopPlaysAtTheSpeedOfItsScene(t *testing.T) {
	t.Parallel()
	p := &painter{width: 160, height: 90}
	for _, c := range []struct {
		n, most int
		fps     float64
		want    uint // milliseconds, of all
	}{
		{48, 48, 24, 2000}, {10, 48, 30, 333}, {10, 48, 240, 200}, {96, 48, 24, 4040}, {10_000, 48, 24, 9600}, {1, 48, 24, 42},
	} {
		v := of(Loop, p, c.n, c.n, c.most)
		v.fps = c.fps
		content, err := v.loop(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum := uint(0)
		frames := framesOf(t, content)
		for _, f := range frames {
			sum += f.time
		}
		if len(frames) != min(c.n, c.most) || max(sum, c.want)-min(sum, c.want) > 60 {
			t.Errorf("%d frames at %v a second: %d are shown in %d ms, want %d ms", c.n, c.fps, len(frames), sum, c.want)
		}
	}
}

// shown is a frame of an animated WebP.
type shown struct {
	size image.Point
	time uint // milliseconds
}

// framesOf reads an animated WebP by its specification, and its pictures by another
// decoder.
func framesOf(t *testing.T, file []byte) (all []shown) {
	t.Helper()
	if len(file) < 12 || string(file[:4]) != "RIFF" || string(file[8:12]) != "WEBP" || int(binary.LittleEndian.Uint32(file[4:])) != len(file)-8 {
		t.Fatalf("it is no WebP: %q", file[:min(12, len(file))])
	}
	u24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
	for at := 12; at+8 <= len(file); {
		kind, size := string(file[at:at+4]), int(binary.LittleEndian.Uint32(file[at+4:]))
		body := file[at+8 : at+8+size]
		switch kind {
		case "VP8X":
			if body[0]&2 == 0 {
				t.Fatal("it is no animation")
			}
		case "ANIM":
			if binary.LittleEndian.Uint16(body[4:]) != 0 {
				t.Fatal("it does not play for ever")
			}
		case "ANMF":
			picture := append([]byte("RIFF\x00\x00\x00\x00WEBP"), body[16:]...)
			binary.LittleEndian.PutUint32(picture[4:], uint32(len(picture)-8))
			m, err := webp.Decode(bytes.NewReader(picture))
			if err != nil {
				t.Fatal(err)
			}
			f := shown{m.Bounds().Size(), uint(u24(body[12:]))}
			if f.size.X != u24(body[6:])+1 || f.size.Y != u24(body[9:])+1 {
				t.Fatalf("the frame is of %v, its picture %v", body[6:12], f.size)
			}
			all = append(all, f)
		}
		at += 8 + size + size%2
	}
	return all
}

// TestTheKeyOfAKeptOverviewHasItsSum, and no other key has one.
func TestTheKeyOfAKeptOverviewHasItsSum(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0a", 32)
	for key, want := range map[string]string{
		"overviews/JOB-1/sheet-0123-" + sum + ".jpg": sum, "overviews/JOB-1/loop-0123-" + sum + ".webp": sum,
		"overviews/JOB-1/sheet-" + sum + ".jpg": "", "overviews/JOB-1/sheet-0123-" + sum[1:] + ".jpg": "", "overviews/JOB-1/sheet.jpg": "",
	} {
		if got := result.SumOf(key); got != want {
			t.Errorf("%s has the sum %q, want %q", key, got, want)
		}
	}
}

// TestAnOverviewFitsIntoTheBurst however many frames it shows: requests above the burst are
// never let through. One that is kept counts no more than any request.
func TestAnOverviewFitsIntoTheBurst(t *testing.T) {
	t.Parallel()
	for shown := range contract.MaxFrames + 1 {
		if n := (Overview{Shown: shown}).Requests(); n < 0 || n >= contract.RateBurst || (shown >= 200 && n == 0) {
			t.Fatalf("%d frames count as %d requests, and the burst is %d", shown, n, contract.RateBurst)
		}
		if n := (Overview{Shown: shown, Kept: true}).Requests(); n != 0 {
			t.Fatalf("%d kept frames count as %d requests", shown, n)
		}
	}
}
