package receipt

import (
	"fmt"

	"svc.example/internal/ground/digest"
)

// consistentStrips checks that the strips of a frame make it up, and that neighbours show the same
// rows at their cut. Nothing is to check of a frame that one worker rendered.
func (f Frame) consistentStrips() error {
	last := len(f.Strips) - 1
	for i, s := range f.Strips {
		above := Strip{}
		if i > 0 {
			above = f.Strips[i-1]
		}
		switch {
		case last == 0, s.From != above.To, s.To <= s.From:
			return fmt.Errorf("frame %d has a strip of the rows %d to %d, which is no part of it", f.Frame, s.From, s.To)
		case !digest.Is(s.SHA256), digest.Is(s.Above) != (i > 0), digest.Is(s.Below) != (i < last), s.Alike != (s.Above != above.Below):
			return fmt.Errorf("the strips of frame %d do not agree at row %d", f.Frame, s.From)
		}
	}
	return nil
}

// addStrips adds the check "strips", which explains a receipt with frames that several workers
// rendered. That they agree was checked with the receipt.
func (r *Report) addStrips(receipt Receipt) {
	frames, cuts, alike := 0, 0, 0
	for _, f := range receipt.Frames {
		if len(f.Strips) > 0 {
			frames, cuts = frames+1, cuts+len(f.Strips)-1
		}
		for _, s := range f.Strips {
			if s.Alike {
				alike++
			}
		}
	}
	if frames == 0 {
		return
	}
	noise := ""
	if alike > 0 {
		noise = fmt.Sprintf(", at %d of them within the noise of GPUs", alike)
	}
	r.add("strips", OK, "several workers rendered %s in strips; neighbours showed the same rows at %s%s", counted(int64(frames), "frame"), counted(int64(cuts), "cut"), noise)
}
