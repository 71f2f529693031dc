package caller

import (
	"fmt"
	"regexp"
	"strconv"
)

// Price is an amount of money on the command line, in cents; written in dollars, as in 2.50.
type Price int64

var dollars = regexp.MustCompile(`^\$?(\d{1,9})(?:\.(\d\d?))?$`)

// UnmarshalText reads 2, 2.5 or 2.50, with or without a dollar sign.
func (p *Price) UnmarshalText(text []byte) error {
	parts := dollars.FindSubmatch(text)
	if parts == nil {
		return fmt.Errorf("%.40q is not an amount in dollars, such as 2.50", text)
	}
	cents, err := strconv.ParseInt(string(parts[1])+(string(parts[2]) + "00")[:2], 10, 64)
	*p = Price(cents)
	return err
}
