// Command testrun runs go test and says what it does while it does it: a line a
// package as each ends, and on a terminal a bar below them. Of what fails it prints
// the whole output. The last line is "N passed, N failed", alone. It exits with the
// code of go test; a test that skips fails the run.
//
//	testrun [-race none|concurrent|all] PACKAGE... [-- GO TEST FLAG...]
//
// Packages are started in the order they are named, so the longest stands first.
// Start reading at run.
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

func run(ctx context.Context, arguments []string) (code int, err error) {
	flags := flag.NewFlagSet("testrun", flag.ContinueOnError)
	race := flags.String("race", "none", "which packages run with the race detector: none, concurrent or all")
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
	var plain, raced []string
	for _, p := range all {
		concurrent, err := p.concurrent()
		if err != nil {
			return 1, err
		}
		if *race == "all" || *race == "concurrent" && concurrent {
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
	}{{packages: plain}, {raced, []string{"-race"}, []string{"CGO_ENABLED=1"}}} { // only the race detector needs C
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
	return code, nil
}

// goTest runs go test and hands what it tells to r. It returns go's exit code.
func goTest(ctx context.Context, r *report, environment, arguments []string) (code int, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, arguments...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), environment...), os.Stderr
	// An interrupted go test stops its tests, and waits for them.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	readErr := events(out, r.add)
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
	// FailedBuild names the build that kept a package from being tested.
	FailedBuild string
}

// events calls add for each line. A line that is no event is printed as it is.
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

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
