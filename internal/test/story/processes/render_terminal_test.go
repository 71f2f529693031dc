package processes_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"svc.example/internal/test/screen"
	"svc.example/internal/test/story"
)

// colour is an escape that sets colours.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func TestAPriceIsAskedForOnATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		columns uint16
		keys    string
		code    int
		says    string
	}{
		{"yes on a narrow one", 40, "y\n", 0, "svc verify out"},
		{"yes on a wide one", 200, "YES\n", 0, "svc verify out"},
		{"no", 80, "n\n", 1, "nothing was spent"},
		{"nothing", 80, "\n", 1, "nothing was spent"},
		{"the end of input", 80, "\x04", 1, "nothing was spent"},
		{"Ctrl-C", 80, "\x03", 130, "nothing was spent. Run the same command again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := startRenderCommand(t)
			command, _ := r.command("--frames", "1-3")
			command.Args = withoutYes(command.Args)
			command.Env = append(command.Env, "NO_COLOR=1", "TERM=xterm-256color")
			s := screen.Start(t, command, c.columns)
			s.Type(t, "[y/N/look] ", c.keys)
			err := command.Wait()
			said := s.End(t)
			if command.ProcessState.ExitCode() != c.code || !strings.Contains(strings.Join(strings.Fields(said), " "), c.says) { // lines are wrapped
				t.Errorf("exit code %d, want %d and %q (%v):\n%s", command.ProcessState.ExitCode(), c.code, c.says, err, said)
			}
			if colour.MatchString(said) {
				t.Errorf("NO_COLOR is set, but there is colour:\n%q", said)
			}
			if c.code == 0 {
				r.svc.SettledOnce(r.caller, 3)
				r.holds("out", 3)
				if lines := strings.Count(said[strings.LastIndex(said, "\nframes  "):], "\n"); lines > 20 {
					t.Errorf("the end takes %d lines:\n%s", lines, said)
				}
				return
			}
			r.svc.WantMoney(r.caller.Workspace, story.Credit, "credit")
			if _, err := os.Stat(r.folder + "/out"); err == nil {
				t.Error("a folder was made")
			}
		})
	}
}

// TestAPersonLooksBeforePaying on a terminal that shows pictures when it is asked whether
// it does, and on one that does not answer.
func TestAPersonLooksBeforePaying(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, says string }{
		"it shows sixel": {"\x1b[?62;4;6c", "\x1bP0;1q"},
		"it shows none":  {"\x1b[?62;6c", "demo-frame-0002.jpg"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRenderCommand(t)
			command, _ := r.command("--frames", "1-3")
			command.Args = withoutYes(command.Args)
			command.Env = append(command.Env, "NO_COLOR=1", "TERM=xterm-256color", "DISPLAY=", "WAYLAND_DISPLAY=", "BROWSER=")
			s := screen.Start(t, command, 120)
			s.Type(t, "[y/N/look] ", "look\n")
			s.Type(t, "\x1b[c", c.answer)
			s.Type(t, "the preview was free", "y\n")
			if err := command.Wait(); err != nil {
				t.Errorf("%v:\n%s", err, s.End(t))
			}
			if said := s.End(t); !strings.Contains(said, c.says) || !strings.Contains(said, " 2 of demo.blend, 480 x 270") {
				t.Errorf("it says:\n%.900q\nwant %q", said, c.says)
			}
			r.svc.SettledOnce(r.caller, 3)
		})
	}
}

func withoutYes(arguments []string) (rest []string) {
	for _, a := range arguments {
		if a != "--yes" {
			rest = append(rest, a)
		}
	}
	return rest
}
