package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestCaller runs the scripts in testdata/caller. Each shows what a person who has
// files rendered sees on the command line.
func TestCaller(t *testing.T) {
	t.Parallel()
	testscript.Run(t, callerScripts())
}

func callerScripts() testscript.Params {
	return testscript.Params{
		Dir:       "testdata/caller",
		Condition: native,
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCode, "mode": mode},
	}
}

// mode BITS FILE fails unless the file's permissions are these.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, not %s", args[1], got, args[0])
	}
}
