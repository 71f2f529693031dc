// Command testrun runs go test and shows its progress. It prints one line when a
// package ends and, on a terminal, a progress bar below these lines. For a failed test
// it prints the whole output. The last lines are the slowest packages and "N passed, N
// failed". The exit code is that of go test, except that a skipped test fails the run.
//
//	testrun [-race none|most|all] [-changed] PACKAGE... [-- GO TEST FLAG...]
//
// With -changed only packages that differ from the main branch run, and as many of those
// that depend on them as two minutes have room for; it names those that it leaves out.
// The programs that tests run are built first.
//
// Packages start in the order of the arguments, so name the slowest first. Start
// reading at run.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"

	"svc.example/internal/test/programs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	code, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// raceFlags leave out SQLite, which is C made into Go: we do not look for races in it, and
// watching its every access to memory takes half of the tests' time. That package has no
// generic code. For generic code the linker takes any package's copy for all, watched or not,
// which leads to false races.
var raceFlags = []string{"-race", "-gcflags=modernc.org/sqlite/lib=-race=false"}

func run(ctx context.Context, arguments []string) (code int, err error) {
	flags := flag.NewFlagSet("testrun", flag.ContinueOnError)
	race := flags.String("race", "none", "which packages run with the race detector: none, most or all")
	changed := flags.Bool("changed", false, "test only what differs from the main branch, and what depends on it")
	if err := flags.Parse(arguments); err != nil {
		return 2, nil // flags has printed what is wrong
	}
	patterns, extra := flags.Args(), []string(nil)
	if at := slices.Index(patterns, "--"); at >= 0 {
		patterns, extra = patterns[:at], patterns[at+1:]
	}
	all, err := list(ctx, patterns)
	if err != nil {
		return 1, err
	}
	known := readSeconds(secondsFile)
	if *changed {
		if all, err = quick(ctx, os.Stdout, all, known); err != nil || len(all) == 0 {
			return 0, err
		}
	}
	all = slices.DeleteFunc(all, func(p pkg) bool { return !p.tested() })
	for _, program := range programs.All() {
		if _, err := programs.Build(program); err != nil {
			return 1, err
		}
	}
	var plain, raced []string
	for _, p := range all {
		most, err := p.raced()
		if err != nil {
			return 1, err
		}
		if *race == "all" || *race == "most" && most {
			raced = append(raced, p.ImportPath)
		} else {
			plain = append(plain, p.ImportPath)
		}
	}
	r := newReport(os.Stdout, isTerminal(os.Stdout), len(all))
	for _, pass := range []struct {
		packages    []string
		flags       []string
		environment []string
	}{{packages: plain}, {raced, raceFlags, []string{"CGO_ENABLED=1"}}} { // only the race detector needs C
		if len(pass.packages) == 0 || ctx.Err() != nil {
			continue
		}
		got, err := goTest(ctx, r, pass.environment, slices.Concat(pass.flags, extra, pass.packages))
		if err != nil {
			return 1, err
		}
		code = max(code, got)
	}
	if !r.end() || ctx.Err() != nil {
		code = max(code, 1)
	}
	return code, known.write(secondsFile, r.seconds)
}

// goTest runs go test, passes its events to r and returns its exit code.
func goTest(ctx context.Context, r *report, environment, arguments []string) (code int, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, arguments...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), environment...), os.Stderr
	// A killed go test would leave its tests running; an interrupted one stops them and
	// waits for them.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	readErr := follow(out, r)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code, err = max(exit.ExitCode(), 1), nil
	}
	return code, errors.Join(readErr, err)
}

// event is one line of go test -json; see `go doc test2json` and `go help buildjson`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build's event
	Test       string
	Elapsed    float64 // seconds
	Output     string
	// FailedBuild names the failed build because of which a package was not tested.
	FailedBuild string
}

// follow passes the events of one go test to r, and the time where none come: packages
// are built in silence, for minutes.
func follow(out io.Reader, r *report) error {
	all, ended := make(chan event), make(chan error, 1)
	go func() {
		ended <- events(out, func(e event) { all <- e })
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case e := <-all:
			r.add(e)
		case <-tick.C:
			r.tick()
		case err := <-ended:
			return err
		}
	}
}

// events calls add for each line. It reports a line that is not JSON as build output,
// so that it is printed at the end.
func events(from io.Reader, add func(event)) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				e = event{Action: "build-output", Output: string(line)}
			}
			add(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// isTerminal reports whether file is a terminal that can overwrite its last line. The
// file's mode is not enough: /dev/null is a character device too.
func isTerminal(file *os.File) bool {
	return os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}
