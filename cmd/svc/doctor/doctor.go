// Package doctor checks what surrounds a service and what the service cannot set up itself: its
// database, the processes next to it, the unit that starts it, and whatever lies between it and
// its callers.
//
// What always holds: it leaves nothing behind. A check that fails says what is wrong and which line to
// change; a check that cannot be made says so and fails nothing. To add a check, add a row to the
// list that Database, Public or Unit returns. Start reading at Finding.
package doctor

import (
	"fmt"
	"time"
)

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Lacks  string `json:"lacks"`            // what is wrong, or why nothing was checked; "" where all is well
	Change string `json:"change,omitempty"` // what to do about it
}

// fine is a check that found nothing.
func fine(check string) Finding { return Finding{Check: check, OK: true} }

// unchecked is a check that could not be made.
func unchecked(check, why string) Finding {
	return Finding{Check: check, OK: true, Lacks: "not checked: " + why}
}

func wrong(check, change, format string, args ...any) Finding {
	return Finding{Check: check, Lacks: fmt.Sprintf(format, args...), Change: change}
}

// clockApart is how far two clocks may be from each other: signed links and leases survive it.
const clockApart = 30 * time.Second

// clock compares a clock with this machine's.
func clock(check, whose string, there, here time.Time) Finding {
	if apart := there.Sub(here).Abs(); apart > clockApart {
		return wrong(check, "On both machines: timedatectl set-ntp true", "the clocks of this machine and of %s are %s apart", whose, apart.Round(time.Second))
	}
	return fine(check)
}
