// Package terminal is how the commands of svc meet the person or the script that
// runs them: progress, prices, JSON, signals and exit codes.
//
// What always holds: bars appear on a terminal only, plain lines elsewhere; an
// exit code means the same in every command. It leaves to the commands what they
// print. Start reading at Display.
package terminal

import "fmt"

// Exit codes of all commands. A command's help lists those that it uses.
const (
	ExitFailure      = 1
	ExitUsage        = 2
	ExitBadSignature = 3
	ExitBadArtifact  = 4
	ExitNotInLog     = 5
)

// ExitError is an error that ends the program with a code of its own.
type ExitError struct {
	err  error
	code int
}

// Exit gives err an exit code.
func Exit(code int, err error) error { return &ExitError{err, code} }

// WrongUsage is an error on the command line.
func WrongUsage(err error) error { return Exit(ExitUsage, err) }

// WrongUsagef is WrongUsage with a formatted message.
func WrongUsagef(format string, args ...any) error { return WrongUsage(fmt.Errorf(format, args...)) }

// Error is the message of the error inside.
func (e *ExitError) Error() string { return e.err.Error() }

// ExitCode has the name that kong looks for.
func (e *ExitError) ExitCode() int { return e.code }

// Unwrap gives the error inside.
func (e *ExitError) Unwrap() error { return e.err }
