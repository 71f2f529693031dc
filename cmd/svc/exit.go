package main

// Exit codes of svc render and svc verify. 5 is kept for a receipt that is not
// in the log.
const (
	exitFailure      = 1
	exitUsage        = 2
	exitBadSignature = 3
	exitBadArtifact  = 4
)

// exitError ends the program with a code; kong asks for it.
type exitError struct {
	error
	code int
}

func (e exitError) ExitCode() int { return e.code }

func (e exitError) Unwrap() error { return e.error }
