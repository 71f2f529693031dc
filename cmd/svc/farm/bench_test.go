package farm

import (
	"strings"
	"testing"
)

// TestBenchThatCouldNotBeSentDoesNotAskForAServer that was given.
func TestBenchThatCouldNotBeSentDoesNotAskForAServer(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{"": "use --server and --key to send it", "http://away": "not accepted by http://away"} {
		var text strings.Builder
		benchResult{}.print(&text, server)
		if !strings.Contains(text.String(), want) {
			t.Errorf("with server %q: %s", server, text.String())
		}
	}
}
