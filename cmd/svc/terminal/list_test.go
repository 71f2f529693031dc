package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestAListFitsItsTerminal(t *testing.T) {
	t.Parallel()
	l := NewList(Column{Title: "JOB"}, Column{Title: "FILE", Cut: true}, Column{Title: "PRICE", Spare: 1}, Column{Title: "STARTED", Spare: 2})
	l.Row("JOB-1", "a long name of a scene.blend", "0.05 USD", "3 min ago")
	l.Row("JOB-2", "日本語のシーンファイル名.blend", "12.00 USD", "2 h ago")
	for width, want := range map[int]string{
		0:   "JOB    FILE                          PRICE      STARTED\nJOB-1  a long name of a scene.blend  0.05 USD   3 min ago\nJOB-2  日本語のシーンファイル名.blend  12.00 USD  2 h ago",
		41:  "JOB    FILE          PRICE      STARTED\nJOB-1  a long name…  0.05 USD   3 min ago\nJOB-2  日本語のシ…   12.00 USD  2 h ago",
		32:  "JOB    FILE            PRICE\nJOB-1  a long name o…  0.05 USD\nJOB-2  日本語のシー…   12.00 USD",
		25:  "JOB    FILE\nJOB-1  a long name of a …\nJOB-2  日本語のシーンフ…",
		18:  "JOB-1\n  file a long name\n    of a\n    scene.blend\n  price 0.05 USD\n  started 3 min\n    ago\nJOB-2\n  file\n    日本語のシーンファイル名.blend\n  price 12.00 USD\n  started 2 h ago",
		20:  "JOB    FILE\nJOB-1  a long name …\nJOB-2  日本語のシー…",
		200: "",
	} {
		lines := l.Lines(width)
		if want == "" {
			continue
		}
		for _, line := range lines {
			if width > 0 && columnsOf(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%d columns: %q has %d", width, line, columnsOf(line))
			}
		}
		if width != 0 && strings.Join(lines, "\n") != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, strings.Join(lines, "\n"), want)
		}
	}
}

func TestLinesFitAScreen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"a b c", "a b c"},
		{"a b c d", "a b …_2_lines_more"},
		{"abcdefghijklmnopqrs b", "abcdefghijklmn… b"},
	} {
		got := strings.Join(Fit(strings.Fields(c.in), 15, 4), " ")
		if got = strings.ReplaceAll(got, "… 2 lines more", "…_2_lines_more"); got != c.want {
			t.Errorf("%q fits as %q, want %q", c.in, got, c.want)
		}
	}
}

func TestAListEscapesWhatStrangersWrite(t *testing.T) {
	t.Parallel()
	l := NewList(Column{Title: "FILE"})
	l.Row("a\x1b[2J\nb")
	if got := l.Lines(80)[1]; got != `a\x1b[2J\nb` {
		t.Errorf("%q", got)
	}
}

func TestAgoHasOneUnit(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s ago", 59 * time.Second: "59 s ago", time.Hour: "1 h ago", 47 * time.Hour: "47 h ago", 72 * time.Hour: "3 days ago",
	} {
		if got := Ago(now.Add(-d), now); got != want {
			t.Errorf("%s: %s", d, got)
		}
	}
}
