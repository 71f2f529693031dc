// Package alone runs a test in a process of its own: what it measures of the process, such
// as its memory, is then not that of other tests. Start reading at Run.
package alone

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// variable names the test that a process was started for.
const variable = "SVC_TEST_ALONE"

// Run runs a test in a process of its own, where nothing else runs, and fails if that
// fails. The test's own process waits meanwhile, in parallel with other tests.
func Run(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(variable) == t.Name() {
		test(t)
		return
	}
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background() // the process has the time limit of go test, like this one
	if deadline, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	command := exec.CommandContext(ctx, program, "-test.count=1", "-test.v", "-test.run="+pattern(t.Name()))
	command.Env = append(os.Environ(), variable+"="+t.Name())
	out, err := command.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "--- PASS: "+t.Name()+" ") {
		t.Fatalf("in a process of its own: %v\n%s", err, text)
	}
}

// pattern matches one test and the subtests around it.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
