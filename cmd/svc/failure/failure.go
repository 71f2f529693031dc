// Package failure says what went wrong: in words for people, and as an object for
// programs that asked for --json.
//
// What always holds: both end with what to do next, if that is known; neither reveals a
// secret; a code of the service is passed on as it is, and a failure without one has the
// name of its exit code. Package profile has the words about servers, and terminal the
// exit codes. Start reading at Of.
package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/redact"
	"svc.example/internal/work/farmapi"
)

// Failure is a failure in the form of --json. Its members mirror the API's envelope
// (spec 7).
type Failure struct {
	Code            string `json:"code"` // the service's, or the name of the exit code
	Message         string `json:"message"`
	SuggestedAction string `json:"suggested_action,omitempty"`
	RequestID       string `json:"request_id,omitempty"`
}

// Unreachable is the code of a failure where no service could be called.
const Unreachable = "unreachable"

// Object is what a command prints with --json when it fails and has nothing else to show.
type Object struct {
	OK    bool    `json:"ok"`
	Error Failure `json:"error"`
}

// Coded is an error of a command that has a code of its own, such as why a job failed.
type Coded interface {
	error
	// Failure returns the code and what to do, "" for what it does not know.
	Failure() (code, action string)
}

// Of describes an error: the service's refusal, otherwise what the error says of itself,
// otherwise its text under the name of its exit code.
func Of(err error) Failure {
	f := Failure{Code: terminal.NameOf(err), Message: redact.Text(err.Error())}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code != "" {
		return Failure{refused.Code, refused.Message, actionOf(refused.Code, refused.SuggestedAction), refused.RequestID}
	}
	if refused, ok := errors.AsType[*farmapi.Error](err); ok && refused.Code != "" {
		return Failure{Code: refused.Code, Message: refused.Message, SuggestedAction: actionOf(refused.Code, refused.SuggestedAction)}
	}
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		_, body := fault.Envelope(refused, "")
		return Failure{Code: string(refused.Code), Message: refused.Message, SuggestedAction: body.Error.SuggestedAction}
	}
	if coded, ok := errors.AsType[Coded](err); ok {
		if code, action := coded.Failure(); code != "" {
			f.Code, f.SuggestedAction = code, action
		}
		return f
	}
	if said := unreachable(err); said != nil {
		f.Code, f.Message = Unreachable, redact.Text(said.Error())
	}
	if diskFull(err) {
		f.SuggestedAction = "Free space on that disk, then run the command again. What is complete there stays, and nothing is paid twice."
	}
	return f
}

// windowsDiskFull is what Windows calls ENOSPC.
const windowsDiskFull = syscall.Errno(112)

// diskFull reports that a file could not be written because its disk, or its user's share of it,
// is full. What the program prints to is not meant.
func diskFull(err error) bool {
	file, ok := errors.AsType[*fs.PathError](err)
	return ok && file.Path != os.Stdout.Name() &&
		(errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull))
}

// actionOf is what to do about a refusal of the service: in the words of the command
// line, if those of the API speak of a request that the user has not written.
func actionOf(code, action string) string {
	switch fault.Code(code) {
	case fault.Unauthenticated:
		return "Check the key. The flag --key wins over " + profile.KeyVariable + ", and both win over the key of the profile."
	case fault.RouteNotFound:
		return "Check the address (--server): the service's own paths, such as /v1, follow it."
	case fault.InvalidSettings:
		return "Choose a value that is named above, or leave the flag out."
	case fault.InvalidRequest:
		return "Correct it and run the command again."
	case fault.FrameNotFound:
		return "See which frames the job has with svc job."
	case fault.InvalidFrameRange:
		return "Choose other frames."
	}
	return action
}

// Words adds the next step to a refusal, as a line below it. A refusal is a *client.Error
// of the API, a *farmapi.Error of the workers' API, or a *fault.Error that this process
// made itself, as svc admin does. All of them end in the same suggestion that the API
// sends for the code (spec 7).
//
// An invalid_request made here gets no suggestion: its message already names the
// flag, and the general advice speaks of a request that was never sent.
//
// If a service cannot be reached, a sentence replaces the network's error. The route of a
// call is left out: its id says which call it was.
func Words(err error) error {
	if said := unreachable(err); said != nil {
		return said
	}
	if _, ok := errors.AsType[Coded](err); ok {
		return err // its text has all that it knows
	}
	f := Of(err)
	err = codeLast(withoutRoute(err))
	if refused, ok := errors.AsType[*fault.Error](err); ok && refused.Code == fault.InvalidRequest || f.SuggestedAction == "" {
		return err
	}
	return fmt.Errorf("%w\n%s", err, f.SuggestedAction)
}

// said is an error in other words.
type said struct {
	error
	text string
}

func (s said) Error() string { return s.text }

// Unwrap returns the error, which carries the exit code.
func (s said) Unwrap() error { return s.error }

// withoutRoute removes the method and the path from the text of a refused call.
func withoutRoute(err error) error {
	call, ok := errors.AsType[*client.CallError](err)
	refused, known := errors.AsType[*client.Error](err)
	if !ok || !known || refused.Code == "" {
		return err
	}
	return said{err, strings.Replace(err.Error(), call.Error(), refused.Error(), 1)}
}

// codeLast has a refusal that this process made itself read as one of the service: its
// message, then its code.
func codeLast(err error) error {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	return said{err, strings.Replace(err.Error(), refused.Error(), fmt.Sprintf("%s (%s)", refused.Message, refused.Code), 1)}
}

// unreachable explains why a call reached no service, with the exit code of err; nil for
// any other error. The text around the call stays, such as whether a job was started.
func unreachable(err error) error {
	call, ok := errors.AsType[*client.CallError](err)
	if !ok {
		return nil
	}
	said := profile.Unreachable(call.Server, call)
	if said == nil {
		return nil
	}
	return terminal.SameExit(err, errors.New(strings.Replace(err.Error(), call.Error(), said.Error(), 1)))
}
