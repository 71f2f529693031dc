// Package terminal is how the commands of svc talk to the person or the script that
// runs them: progress, prices, JSON, signals and exit codes.
//
// What always holds: progress bars appear on a terminal only, plain lines everywhere
// else; an exit code means the same in every command; what is printed cannot drive the
// terminal; nothing here knows a package of the service. It leaves to the commands what they print. Start reading at
// Display.
package terminal

import "fmt"

// Exit codes of all commands. A command's help lists the ones that it uses. They
// are part of the interface: scripts branch on them. 0 is success.
const (
	// ExitFailure is everything without a code of its own: a refusal, a lost
	// connection, a file that cannot be read, an interrupt.
	ExitFailure = 1
	// ExitUsage is a mistake in flags, arguments, environment or configuration
	// file. Nothing was spent.
	ExitUsage = 2
	// ExitBadSignature: the receipt was changed, or no given key signed it.
	ExitBadSignature = 3
	// ExitBadArtifact: the ZIP is not the one that the receipt describes.
	ExitBadArtifact = 4
	// ExitNotInLog: the receipt is not proven to be in the log, or the log itself
	// is broken.
	ExitNotInLog = 5
)

// Code is an exit code and what it means to a script.
type Code struct {
	Code  int
	Means string
}

// Codes returns all exit codes, for the reference of the command line.
func Codes() []Code {
	return []Code{
		{0, "Success."},
		{ExitFailure, "A failure without a code of its own: a refusal, a lost connection, a file that cannot be read, an interrupt."},
		{ExitUsage, "A mistake in flags, arguments, environment or configuration file. Nothing was spent."},
		{ExitBadSignature, "The receipt was changed, or no given key signed it."},
		{ExitBadArtifact, "The ZIP is not the one that the receipt describes."},
		{ExitNotInLog, "The receipt is not proven to be in the log, or the log itself is broken."},
	}
}

// ExitError is an error that ends the program with a chosen exit code. Errors.Is
// and errors.As see the error inside it.
type ExitError struct {
	err  error
	code int
}

// Exit gives err an exit code. err must not be nil.
func Exit(code int, err error) error { return &ExitError{err, code} }

// WrongUsage marks err as a mistake on the command line: exit code 2.
func WrongUsage(err error) error { return Exit(ExitUsage, err) }

// WrongUsagef is WrongUsage with a formatted message.
func WrongUsagef(format string, args ...any) error { return WrongUsage(fmt.Errorf(format, args...)) }

// Error returns the message of the error inside, unchanged.
func (e *ExitError) Error() string { return e.err.Error() }

// ExitCode returns the code. kong looks for a method of this name.
func (e *ExitError) ExitCode() int { return e.code }

// Unwrap returns the error inside.
func (e *ExitError) Unwrap() error { return e.err }
