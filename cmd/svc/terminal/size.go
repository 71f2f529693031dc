package terminal

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is an amount of memory or storage on the command line, in bytes. 0 means not
// given.
type Size int64

// UnmarshalText reads a whole number of bytes, or of a unit from KiB to TiB. Units of
// a thousand are refused: GB would leave it open which one is meant.
func (s *Size) UnmarshalText(text []byte) error {
	number, shift := string(text), 0
	for i, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, shift = strings.TrimSpace(rest), 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > 1<<62>>shift {
		return fmt.Errorf("%q is not a size such as 24GiB", text)
	}
	*s = Size(n << shift)
	return nil
}
