package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestOperator runs the scripts in testdata/operator. Each shows what an operator
// sees on the command line.
func TestOperator(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/operator",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCode},
	})
}
