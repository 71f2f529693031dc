package strips

import (
	"slices"
	"time"
)

// Rows is a range of the rows of a picture, counted from the top: From is the first row, To the
// one after the last.
type Rows struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Height is the number of rows.
func (r Rows) Height() int { return r.To - r.From }

// Wider returns the rows with so many more at each end, as far as a picture of a height has them.
func (r Rows) Wider(by, height int) Rows {
	return Rows{From: max(0, r.From-by), To: min(height, r.To+by)}
}

// How many rows neighbouring strips reach into each other, at each side of a cut. One row shows
// that both were rendered alike. Adaptive sampling lets rows influence each other: strips of it
// are the whole picture if they agree on both rows at the cut. That was so with 3 rows in all
// measurements. Where it is not so with OverlapAdaptive, OverlapWide is tried, then the whole picture.
const (
	Overlap         = 1
	OverlapAdaptive = 16
	OverlapWide     = 64
)

// MostBands is how many bands of a preview are measured, to cut its frame by what they take.
const MostBands = 16

// Cut divides a picture into at most k strips that take equally long. cost says how long bands of
// equal height take, from the top; without it, strips are equally high. fixed, in the unit of
// cost, is what a band takes however little there is in it: it keeps strips of an empty sky from
// becoming the largest part of a picture whose preview was noisy. No strip is empty, and strips
// of OverlapAdaptive rows or fewer are not made of pictures that are higher than k such strips.
func Cut(height, k int, cost []float64, fixed float64) []Rows {
	least := 1
	if height > k*OverlapAdaptive {
		least = OverlapAdaptive
	}
	k = max(1, min(k, height))
	rows, from := make([]Rows, 0, k), 0
	for i := 1; i <= k; i++ {
		to := height
		if i < k {
			to = rowAt(height, cost, fixed, float64(i)/float64(k))
			to = min(max(to, from+least), height-(k-i)*least)
		}
		rows = append(rows, Rows{From: from, To: to})
		from = to
	}
	return rows
}

// rowAt returns the row above which a share of all cost lies, from 0 to 1.
func rowAt(height int, cost []float64, fixed, share float64) int {
	bands := slices.Clone(cost)
	total := 0.0
	for i := range bands {
		bands[i] = max(0, bands[i]) + max(0, fixed)
		total += bands[i]
	}
	if !(total > 0) { // no bands, or nothing known of them
		return int(share*float64(height) + 0.5)
	}
	left, each := share*total, float64(height)/float64(len(bands))
	for i, band := range bands {
		if left <= band && band > 0 {
			return int((float64(i)+left/band)*each + 0.5)
		}
		left -= band
	}
	return height
}

// Worthwhile reports whether k strips are worth it. whole is how long the picture takes in one
// piece; fixed is the part of it that each strip takes again, to open the file and to build the
// scene; transfer is how long it takes to hand out strips, to collect them and to finish the
// picture. Four workers then halve the time, and the work grows by less than a tenth.
func Worthwhile(whole, fixed, transfer time.Duration, k int) bool {
	return k > 1 && whole >= 3*fixed+4*transfer && time.Duration(k-1)*fixed < whole/10
}
