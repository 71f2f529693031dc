package dispatch

import (
	"math"
	"time"
)

// ETARange is where the time until completion lies, in eight cases of ten, if
// the frames to come are like those so far and so are the workers.
type ETARange struct {
	LowSeconds  float64 `json:"low_seconds"`
	HighSeconds float64 `json:"high_seconds"`
}

// ETAFrames is how many of the last frames tell the pace.
const ETAFrames = 32

// likely is how many standard deviations to both sides hold eight cases of ten.
const likely = 1.2816

// Forecast tells how long the rest of a job takes. accepted are the times of its
// last frames, newest first, at most ETAFrames; done counts all its frames,
// begun is what has been rendered of those under way, left what is to be
// rendered still, in frames; claimed is when its first frame was begun. ok is
// false where nothing can be said yet.
func Forecast(now, claimed time.Time, accepted []time.Time, done int64, begun, left float64) (eta float64, span ETARange, ok bool) {
	n := len(accepted)
	from, work := claimed, float64(n)+begun
	if int(done) > n { // earlier frames are out of sight
		n--
		from, work = accepted[n], float64(n)
	}
	// What is done of the frames under way counts even before the first is in.
	if work < 0.05 || now.Sub(from) <= 0 {
		return 0, span, false
	}
	each := now.Sub(from).Seconds() / work
	eta = each * left
	// The frames left differ as much as those so far; and the pace that was
	// measured is as uncertain as it was measured briefly.
	spread := likely * deviation(from, accepted[:n], each) * math.Sqrt(left+left*left/max(work, 1))
	return tenth(eta), ETARange{tenth(max(0, eta-spread)), tenth(eta + spread)}, true
}

// deviation is the standard deviation of the time between frames; of one alone
// it is taken to be half its time.
func deviation(from time.Time, accepted []time.Time, mean float64) float64 {
	if len(accepted) < 2 {
		return mean / 2
	}
	sum := 0.0
	for i, at := range accepted {
		before := from
		if i+1 < len(accepted) {
			before = accepted[i+1]
		}
		sum += math.Pow(at.Sub(before).Seconds()-mean, 2)
	}
	return math.Sqrt(sum / float64(len(accepted)-1))
}

func tenth(seconds float64) float64 { return math.Round(seconds*10) / 10 }
