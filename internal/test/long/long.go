// Package long is the one switch between the two runs of the tests: the short run
// (`make test`), which a person waits for, and the long one (`make test-long`).
//
// Every test is in both runs and proves the same rule in both. The long run
// repeats it more often, over more data or over every point instead of a sample.
// No test is skipped in either.
package long

import "os"

// Run reports whether this is the long run: SVC_TEST_LONG is set.
func Run() bool { return os.Getenv("SVC_TEST_LONG") != "" }

// Scale is short in the short run and full in the long one.
func Scale(short, full int) int {
	if Run() {
		return full
	}
	return short
}
