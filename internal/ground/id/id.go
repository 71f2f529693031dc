// Package id makes the identifiers of decisions 2: a prefix and the 32 hex
// digits of a UUIDv7.
//
// What always holds: no two are equal, and those of one kind sort by the time
// they were made, in every order of text that a database may have. To callers
// they are opaque. What an id names is left to the callers. Start reading at
// New.
package id

import (
	"encoding/hex"
	"strings"

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
	Node        = "NOD-"
	Benchmark   = "BMR-"
	Transaction = "TXN-"
	Endpoint    = "WHE-"
	Delivery    = "WHD-"
	Secret      = "WHS-"
	Event       = "msg_"
	Key         = "key_"
	Request     = "req_"
)

// New makes an id with prefix.
func New(prefix string) string {
	u := uuid.Must(uuid.NewV7()) // fails only when the system has no entropy
	return prefix + hex.EncodeToString(u[:])
}

// Behind is a text that sorts behind every id of prefix, in whatever order a
// database keeps text: letters follow digits everywhere, signs may not.
func Behind(prefix string) string { return prefix + "g" }

// Valid reports whether s is an id of that prefix.
func Valid(prefix, s string) bool {
	digits, ok := strings.CutPrefix(s, prefix)
	if !ok || len(digits) != 32 {
		return false
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}
