package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"svc.example/internal/test/apptest"
	"svc.example/internal/test/screen"
)

const typedKey = "svc_agent_AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK"

// onTerminal starts svc in an empty home on a terminal of 80 columns.
func onTerminal(t *testing.T, home string, args ...string) (*exec.Cmd, *screen.Screen) {
	t.Helper()
	command := exec.Command(apptest.Binary(t), args...)
	command.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"}
	return command, screen.Start(t, command, 80)
}

func TestAKeyThatIsTypedIsNotShown(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	command, s := onTerminal(t, home, "config", "set", "key", "-")
	s.Type(t, "it is not shown: ", typedKey+"\n")
	err := command.Wait()
	said := s.End(t)
	if err != nil || strings.Contains(said, "CCCC") || !strings.Contains(said, "key svc_agent_AAAABBBB…, saved in") {
		t.Errorf("%v:\n%s", err, said)
	}
	kept, err := os.ReadFile(home + "/.config/svc/config.json")
	if err != nil || !strings.Contains(string(kept), typedKey) {
		t.Errorf("%v: %s", err, kept)
	}
}

// TestATerminalEchoesAgainAfterCtrlC: a shell does not put that right.
func TestATerminalEchoesAgainAfterCtrlC(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const script = `trap : INT; "$0" config set key -; echo "ended with $?"; read -r word; echo "read $word"`
	command := exec.Command("sh", "-c", script, apptest.Binary(t))
	command.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	command.Args[0] = "sh"
	s := screen.Start(t, command, 80)
	s.Type(t, "it is not shown: ", "svc_agent_half")
	s.Type(t, "it is not shown: ", "\x03")
	s.Type(t, "ended with 130", "visible\n")
	_ = command.Wait() // what it says is enough
	said := s.End(t)
	if strings.Contains(said, "half") || strings.Count(said, "visible") != 2 || !strings.Contains(said, "interrupted; nothing was saved") {
		t.Error(said)
	}
	if _, err := os.Stat(home + "/.config/svc/config.json"); err == nil {
		t.Error("something was kept")
	}
}
