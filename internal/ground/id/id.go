// Package id makes the identifiers of decisions 2: a prefix and the 32 hexadecimal
// digits of a version 7 UUID.
//
// What always holds: no two identifiers are equal, and those of one kind sort by
// the time at which they were made, in every text order that a database may use. To
// callers they are opaque. What an identifier names is left to the packages that
// make them. Start reading at New.
package id

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Prefixes of the things that have ids.
const (
	Job         = "JOB-"
	Upload      = "UPL-"
	Quote       = "QTE-"
	Receipt     = "RCT-"
	Workspace   = "WSP-"
	Person      = "PER-"
	Invitation  = "IVT-"
	Node        = "NOD-"
	Benchmark   = "BMR-"
	Preview     = "PRV-"
	Challenge   = "BMC-"
	Movie       = "MOV-"
	Comment     = "CMT-"
	Filter      = "FLT-"
	Transaction = "TXN-"
	Endpoint    = "WHE-"
	Delivery    = "WHD-"
	Secret      = "WHS-"
	Event       = "msg_"
	TopUp       = "TOP-"
	Act         = "ACT-"
	AuditRun    = "AUD-"
	Process     = "PRC-" // a process that serves
	Key         = "key_"
	Request     = "req_"
)

// New makes an id with prefix. It is safe for concurrent use. It panics only when
// the system has no entropy; then no secret could be made either.
func New(prefix string) string {
	u := uuid.Must(uuid.NewV7()) // fails only when the system has no entropy
	return prefix + hex.EncodeToString(u[:])
}

// Since returns the least id of prefix that New makes at a time or later. The clock is that of the
// process that makes the id.
func Since(prefix string, t time.Time) string { return fmt.Sprintf("%s%012x", prefix, t.UnixMilli()) }

// Behind returns a text that sorts after every id of prefix, whatever the
// database's text order: all orders sort letters after digits, but not all sort
// punctuation that way. It bounds the range of ids in a page query.
func Behind(prefix string) string { return prefix + "g" }

// Valid reports whether s has the form of an id with that prefix. It does not
// know whether the thing exists.
func Valid(prefix, s string) bool {
	digits, ok := strings.CutPrefix(s, prefix)
	if !ok || len(digits) != 32 {
		return false
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}
