package terminal

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTheJournalGetsPriorities where it reads the log, and nowhere else.
func TestTheJournalGetsPriorities(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	for _, stream := range []string{fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), "1:2"} {
		t.Setenv("JOURNAL_STREAM", stream)
		log := LogFlags{Level: slog.LevelDebug, Format: "json"}.logger(file).With("a", 1)
		log.Debug("b")
		log.Warn("c")
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	var begins string
	for line := range strings.Lines(string(text)) {
		begins += line[:2] + " "
	}
	if begins != `<7 <4 {" {" ` {
		t.Errorf("the lines begin with %s:\n%s", begins, text)
	}
}
