package story_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"svc.example/internal/test/await"
)

// screen is a pseudo-terminal with a program on it.
type screen struct {
	keyboard *os.File // what is typed; what the program writes is read from it as well

	mu    sync.Mutex
	shown bytes.Buffer
	done  chan struct{} // nobody writes any more
}

// onScreen starts a command with a terminal of so many columns as its standard streams
// and its controlling terminal.
func onScreen(t *testing.T, command *exec.Cmd, columns uint16) *screen {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	command.Stdin, command.Stdout, command.Stderr = terminal, terminal, terminal
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = terminal.Close() // the command has its own
	s := &screen{keyboard: keyboard, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for part := make([]byte, 4096); ; {
			n, err := keyboard.Read(part)
			s.mu.Lock()
			s.shown.Write(part[:n])
			s.mu.Unlock()
			if err != nil {
				return // EIO: the command has ended
			}
		}
	}()
	return s
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// types waits for a text and answers it with keys.
func (s *screen) types(t *testing.T, after, keys string) {
	t.Helper()
	await.Until(t, after, func() bool { return strings.Contains(s.text(), after) })
	if _, err := s.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// colour is an escape that sets colours.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func TestAPriceIsAskedForOnATerminal(t *testing.T) {
	t.Parallel()
	const question = "Render 3 frames for 0.03 USD and accept the terms SVC_LEGAL_V1? [y/N] "
	for _, c := range []struct {
		name    string
		columns uint16
		keys    string
		code    int
		says    string
	}{
		{"yes on a narrow one", 40, "y\n", 0, "svc verify out/receipt.json"},
		{"yes on a wide one", 200, "YES\n", 0, "svc verify out/receipt.json"},
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
			s := onScreen(t, command, c.columns)
			s.types(t, question, c.keys)
			err := command.Wait()
			await.Next(t, s.done, "the end of the screen")
			said := strings.ReplaceAll(s.text(), "\r\n", "\n")
			if command.ProcessState.ExitCode() != c.code || !strings.Contains(said, c.says) {
				t.Errorf("exit code %d, want %d and %q (%v):\n%s", command.ProcessState.ExitCode(), c.code, c.says, err, said)
			}
			if colour.MatchString(said) {
				t.Errorf("NO_COLOR is set, but there is colour:\n%q", said)
			}
			if c.code == 0 {
				r.svc.settledOnce(r.caller, 3)
				r.holds("out", 3)
				if lines := strings.Count(said[strings.LastIndex(said, "\nframes  "):], "\n"); lines > 20 {
					t.Errorf("the end takes %d lines:\n%s", lines, said)
				}
				return
			}
			r.svc.wantMoney(r.caller.workspace, credit, "credit")
			if _, err := os.Stat(r.folder + "/out"); err == nil {
				t.Error("a folder was made")
			}
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
