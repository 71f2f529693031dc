// Package terminal is how the commands of svc talk to the person or the script that
// runs them: progress, prices, JSON, signals and exit codes.
//
// What always holds: progress bars appear on a terminal only, plain lines everywhere else; an exit
// code means the same in every command; what is printed cannot drive the terminal; nothing here
// knows a package of the service. The commands decide what they print. Start reading at Display.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Exit codes of all commands. They are part of the interface: scripts branch on them.
// Codes has their meanings.
const (
	ExitOK           = 0
	ExitFailure      = 1
	ExitUsage        = 2
	ExitBadSignature = 3
	ExitBadArtifact  = 4
	ExitNotInLog     = 5
	ExitMissingFiles = 6
	ExitInterrupted  = 130 // as a shell reports Ctrl-C
)

// Code is an exit code and what it means to a script.
type Code struct {
	Code  int
	Name  string // error.code of --json, where no service has named the failure
	Means string
}

// Codes is the table of exit codes: a code means the same in every command. Help texts
// and the reference of the command line are printed from it.
func Codes() []Code {
	return []Code{
		{ExitOK, "", "done"},
		{ExitFailure, "failed", "failed: a refusal, a lost connection, a file that cannot be read, a check that does not pass"},
		{ExitUsage, "wrong_usage", "wrong usage: flags, arguments, environment or configuration; nothing was done or spent"},
		{ExitBadSignature, "bad_signature", "the receipt, or a release's list of sums, was changed, is not signed by the key, or was signed after the key's end"},
		{ExitBadArtifact, "bad_artifact", "a file does not match the receipt, or a release's list of sums"},
		{ExitNotInLog, "not_in_log", "the receipt is not proven to be in the log, or the log is broken"},
		{ExitMissingFiles, "missing_files", "something that was asked for is missing: files that the scene uses, without --allow-missing, and nothing was spent; or a check of --require, which could not be made"},
		{ExitInterrupted, "interrupted", "stopped by Ctrl-C or a signal; the message says how to continue"},
	}
}

// NameOf is the name of the exit code that err leads to.
func NameOf(err error) string {
	code := ExitFailure
	if exit, ok := errors.AsType[*ExitError](err); ok {
		code = exit.code
	}
	for _, row := range Codes() {
		if row.Code == code {
			return row.Name
		}
	}
	return NameOf(nil)
}

// ExitHelp is the line about exit codes in a command's help: success, failure, wrong
// usage and the codes given, each in its first words.
func ExitHelp(codes ...int) string {
	codes = append([]int{ExitOK, ExitFailure, ExitUsage}, codes...)
	var rows []string
	for _, row := range Codes() {
		if slices.Contains(codes, row.Code) {
			rows = append(rows, fmt.Sprintf("%d %s", row.Code, row.Means[:strings.IndexAny(row.Means+";", ":;")]))
		}
	}
	return "Exit codes: " + strings.Join(rows, "; ") + "."
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

// Interrupted is err, or what said says of a command that a signal has ended: the end of ctx.
// said tells what was and was not done; how to continue is the same for all.
func Interrupted(ctx context.Context, err error, said string) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return Exit(ExitInterrupted, fmt.Errorf("interrupted: %s. Start the same command again", said))
}

// SameExit gives said the exit code that err carries, if it carries one.
func SameExit(err, said error) error {
	if exit, ok := errors.AsType[*ExitError](err); ok {
		return Exit(exit.code, said)
	}
	return said
}

// Error returns the message of the error inside, unchanged.
func (e *ExitError) Error() string { return e.err.Error() }

// ExitCode returns the code. kong looks for a method of this name.
func (e *ExitError) ExitCode() int { return e.code }

// Unwrap returns the error inside.
func (e *ExitError) Unwrap() error { return e.err }

// Told is an error of a command that has printed its own JSON object, with the failure in
// it. nil stays nil.
func Told(err error) error {
	if err == nil {
		return nil
	}
	return told{err}
}

// WasTold reports whether an object was printed for err.
func WasTold(err error) bool {
	_, ok := errors.AsType[told](err)
	return ok
}

type told struct{ error }

// Unwrap returns the error inside.
func (t told) Unwrap() error { return t.error }
