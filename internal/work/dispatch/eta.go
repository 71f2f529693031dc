package dispatch

import (
	"math"
	"time"
)

// ETARange contains the time until completion in eight cases of ten, if the remaining
// frames and the workers are like those so far.
type ETARange struct {
	LowSeconds  float64 `json:"low_seconds"`
	HighSeconds float64 `json:"high_seconds"`
}

// ETAFrames is the number of last frames that determine the pace: enough to average,
// few enough to follow a scene that gets heavier.
const ETAFrames = 32

// deviations80 is the number of standard deviations to each side that contain eight
// cases of ten of a normal distribution.
const deviations80 = 1.2816

// EstimateEnd estimates the seconds until a job's last frame. accepted are the times of its
// last frames, newest first, at most ETAFrames; done is the number of accepted frames;
// begun is the rendered part of the frames in progress and left the part still to
// render, both in frames; claimed is the time of the first claim. ok is false while
// there is too little to estimate from.
func EstimateEnd(now, claimed time.Time, accepted []time.Time, done int64, begun, left float64) (eta float64, span ETARange, ok bool) {
	n := len(accepted)
	from, work := claimed, float64(n)+begun
	if int(done) > n { // accepted does not reach back to the first frame
		n--
		from, work = accepted[n], float64(n)
	}
	// Progress inside the first frame counts, so a long frame has an estimate early.
	if work < 0.05 || now.Sub(from) <= 0 {
		return 0, span, false
	}
	each := now.Sub(from).Seconds() / work
	eta = each * left
	// Two uncertainties add up: remaining frames vary like those so far, and a pace
	// measured over few frames may be wrong for all of the rest.
	spread := deviations80 * deviation(from, accepted[:n], each) * math.Sqrt(left+left*left/max(work, 1))
	return roundToTenth(eta), ETARange{roundToTenth(max(0, eta-spread)), roundToTenth(eta + spread)}, true
}

// deviation is the standard deviation of the time between frames; for a single frame,
// half its time: a guess, but wide enough.
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

func roundToTenth(seconds float64) float64 { return math.Round(seconds*10) / 10 }
