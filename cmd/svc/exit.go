package main

// Exit codes of svc render, svc verify and svc log verify.
const (
	exitFailure      = 1
	exitUsage        = 2
	exitBadSignature = 3
	exitBadArtifact  = 4
	exitNotInLog     = 5
)

// exitError ends the program with a code; kong asks for it.
type exitError struct {
	error
	code int
}

func (e exitError) ExitCode() int { return e.code }

func (e exitError) Unwrap() error { return e.error }
