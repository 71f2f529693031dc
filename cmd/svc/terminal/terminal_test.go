package terminal

import (
	"os"
	"testing"
)

func TestOnlyATerminalIsOne(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{"/dev/ptmx": true, os.DevNull: false, "terminal_test.go": false} {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := IsTerminal(file); got != want {
			t.Errorf("%s: %v, not %v", path, got, want)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
	if IsTerminal(&lines{}) {
		t.Error("a value that is no file is taken for a terminal")
	}
}
