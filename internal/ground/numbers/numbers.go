// Package numbers writes counts and amounts of money for people, the same on pages, in mails, in
// terminals and in messages to agents.
//
// What always holds: an amount is exact to the cent. Tables for spreadsheets (package sheet) and
// invoices write amounts in their own way. Start reading at Dollars.
package numbers

import (
	"fmt"
	"strconv"
)

// Dollars writes an amount in cents: "$1,200.50", "−$0.04".
func Dollars(cents int64) string {
	sign, whole, rest := "", cents/100, cents%100
	if cents < 0 {
		sign, whole, rest = "−", -whole, -rest
	}
	return fmt.Sprintf("%s$%s.%02d", sign, Grouped(whole), rest)
}

// Money writes an amount in hundredths of a currency that a service has named. It is Dollars
// for "USD", and otherwise "1,200.50 EUR".
func Money(cents int64, currency string) string {
	if currency == "USD" {
		return Dollars(cents)
	}
	return fmt.Sprintf("%s.%02d %s", Grouped(cents/100), cents%100, currency)
}

// Grouped writes a count with commas between thousands: "10,000". Write what a program or a form
// needs again, such as the number of a frame, without them.
func Grouped[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
