// Package screen runs programs on a pseudo-terminal, as a person sees and types them.
//
// What always holds: the program has the terminal as its standard streams and as its
// controlling terminal, so Ctrl-C reaches it as from a keyboard; it ends with the test.
// Start reading at Start.
package screen

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"svc.example/internal/test/await"
)

// Screen is a pseudo-terminal with a program on it. It is safe for concurrent use.
type Screen struct {
	keyboard *os.File // what is typed; what the program writes is read from it as well

	mu    sync.Mutex
	shown bytes.Buffer
	done  chan struct{} // no writer is left
}

// Start starts a command on a terminal of so many columns and 24 lines. The caller waits
// for the command.
func Start(t testing.TB, command *exec.Cmd, columns uint16) *Screen {
	t.Helper()
	keyboard, terminal := open(t, columns)
	command.Stdin, command.Stdout, command.Stderr = terminal, terminal, terminal
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = terminal.Close() // the command has its own
	s := &Screen{keyboard: keyboard, done: make(chan struct{})}
	go s.watch()
	return s
}

// open makes a pseudo-terminal: the person's end and the program's.
func open(t testing.TB, columns uint16) (keyboard, terminal *os.File) {
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
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return keyboard, terminal
}

// watch notes what the program writes until the terminal is closed.
func (s *Screen) watch() {
	defer close(s.done)
	for part := make([]byte, 4096); ; {
		n, err := s.keyboard.Read(part)
		s.mu.Lock()
		s.shown.Write(part[:n])
		s.mu.Unlock()
		if err != nil {
			return // EIO: the program has ended
		}
	}
}

// Text returns what the program has written so far, escapes included, with \n at line
// ends. What is typed is in it where the terminal echoes.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.shown.String(), "\r\n", "\n")
}

// Seen returns what a person sees at the end: the last state of what the program has drawn
// over. Lines are as long as the program wrote them.
func (s *Screen) Seen() string { return seen(s.Text()) }

// escape is a sequence that moves the cursor, clears or colours: its number and its letter.
var escape = regexp.MustCompile(`^\x1b\[([0-9;?]*)([A-Za-z])`)

// seen plays text on a terminal that has no end to its right.
func seen(text string) string {
	lines, row, column := [][]rune{nil}, 0, 0
	for text != "" {
		if found := escape.FindStringSubmatch(text); found != nil {
			text = text[len(found[0]):]
			switch n, _ := strconv.Atoi(found[1]); found[2] {
			case "A":
				row = max(0, row-max(n, 1))
			case "J":
				lines = lines[:row+1]
				lines[row] = lines[row][:min(column, len(lines[row]))]
			case "K":
				lines[row] = lines[row][:min(column, len(lines[row]))]
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\n':
			if row, column = row+1, 0; row == len(lines) {
				lines = append(lines, nil)
			}
		case r == '\r':
			column = 0
		case r >= ' ':
			for len(lines[row]) <= column {
				lines[row] = append(lines[row], ' ')
			}
			lines[row][column] = r
			column++
		}
	}
	var all strings.Builder
	for _, line := range lines {
		all.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(all.String(), "\n") + "\n"
}

// Await waits until the program has written a text.
func (s *Screen) Await(t testing.TB, text string) {
	t.Helper()
	await.Until(t, text, func() bool { return strings.Contains(s.Text(), text) })
}

// Type waits for a text and answers it with keys.
func (s *Screen) Type(t testing.TB, after, keys string) {
	t.Helper()
	s.Await(t, after)
	if _, err := s.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// End waits until the program has ended, and all that it has started, and returns what
// they have written.
func (s *Screen) End(t testing.TB) string {
	t.Helper()
	await.Next(t, s.done, "the end of the program")
	return s.Text()
}

// Size changes the terminal to so many columns.
func (s *Screen) Size(t testing.TB, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(s.keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
}
