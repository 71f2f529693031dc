package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestALineIsWrappedBetweenWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line          string
		width, indent int
		want          string
	}{
		{"one two three four", 0, 2, "one two three four"},
		{"one two three four", 9, 2, "one two|  three|  four"},
		{"one two three four", 13, 0, "one two three|four"},
		{"  one two three", 8, 2, "  one|    two|    three"},
		{"see https://svc.example.com/job for more", 12, 0, "see|https://svc.example.com/job|for more"},
		{"https://svc.example.com/job", 12, 0, "https://svc.example.com/job"},
		{"  svc render --job JOB-1 --out frames", 12, 2, "  svc render --job JOB-1 --out frames"},
		{`  C:\bin\svc.exe render scene.blend`, 12, 2, `  C:\bin\svc.exe render scene.blend`},
		{"svc is not at its start a command", 20, 0, "svc is not at its|start a command"},
		{"日本語 のシーン ファイル", 9, 0, "日本語|のシーン|ファイル"},
		{"", 9, 2, ""},
		{"a  b", 1, 0, "a|b"},
		{"trailing ", 4, 0, "trailing "},
	} {
		if got := strings.Join(Wrap(c.line, c.width, c.indent), "|"); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.line, c.width, got, c.want)
		}
	}
}

func TestATableFitsItsTerminal(t *testing.T) {
	t.Parallel()
	table := NewTable(nil)
	table.Row("status", "queued, and no worker of the farm is online")
	table.Row("id", "JOB-0123456789abcdef01234567")
	table.Row("next", "svc cancel JOB-1")
	table.Row()
	table.Row("a longer name", "ok", "text\n")
	for width, want := range map[int]string{
		0: "status  queued, and no worker of the farm is online\nid      JOB-0123456789abcdef01234567\nnext    svc cancel JOB-1\n\na longer name  ok  text\\n",
		40: "status  queued, and no worker of the\n        farm is online\nid      JOB-0123456789abcdef01234567\n" +
			"next    svc cancel JOB-1\n\na longer name  ok  text\\n",
		30: "status  queued, and no worker\n        of the farm is online\nid\n  JOB-0123456789abcdef01234567\n" +
			"next    svc cancel JOB-1\n\na longer name  ok  text\\n",
		20: "status\n  queued, and no\n  worker of the farm\n  is online\nid\n  JOB-0123456789abcdef01234567\n" +
			"next\n  svc cancel JOB-1\n\na longer name  ok\n  text\\n",
	} {
		if got := strings.Join(table.Lines(width), "\n"); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

func TestASpanHasNoUnitsOfZeroAtItsEnd(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		2 * time.Hour: "2h", 90 * time.Minute: "1h30m", 10 * time.Second: "10s", 0: "0s", time.Hour + time.Second: "1h0m1s", 10 * time.Minute: "10m", 200 * time.Millisecond: "200ms",
	} {
		if got := Span(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
