package main

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestOperator runs the scripts: each says what an operator is told on the
// command line.
func TestOperator(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/operator",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCode},
	})
}

// TestABenchThatCouldNotBeSentDoesNotAskForAServer that was given.
func TestABenchThatCouldNotBeSentDoesNotAskForAServer(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{"": "--server and --key send it", "http://away": "not taken by http://away"} {
		var said strings.Builder
		benched{}.print(&said, server)
		if !strings.Contains(said.String(), want) {
			t.Errorf("with server %q: %s", server, said.String())
		}
	}
}
