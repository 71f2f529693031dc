package farm

import (
	"strings"
	"testing"
)

// TestBenchThatCouldNotBeSentDoesNotAskForAServer that was given.
func TestBenchThatCouldNotBeSentDoesNotAskForAServer(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{"": "--server and --key send it", "http://away": "not taken by http://away"} {
		var said strings.Builder
		benched{}.print(&said, server)
		if !strings.Contains(said.String(), want) {
			t.Errorf("with server %q: %s", server, said.String())
		}
	}
}
