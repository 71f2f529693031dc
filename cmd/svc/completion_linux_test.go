package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/screen"
)

// TestShellsCompleteWords types at real shells: each line has a tab in it, and what it
// prints shows what the tab made of the word.
func TestShellsCompleteWords(t *testing.T) {
	t.Parallel()
	lines := []struct{ typed, want string }{
		{"svc keys rev\t--help", "Revoke an agent key immediately."},
		{"svc admin worker dr\t--help", "Give a worker no more frames."},
		{"svc config set ser\tnonsense", `"nonsense" must start with http`},
		{"svc jobs --status rend\t--limit 0", "--limit is 0; it must be 1 or more"},
		{"svc jobs --status=compl\t --server no-address", `"no-address" must start with http`},
		{"svc jobs --lim\tmany", `but got "many"`},
		{"svc inspect sce\t", "saved by"},
	}
	for shell, start := range map[string][]string{
		"bash": {"--norc", "--noprofile", "-i"},
		"zsh":  {"-f", "-i"},
		"fish": {"--no-config", "-i"},
	} {
		load := map[string]string{
			"bash": "source <(svc completion bash)",
			"zsh":  "autoload -Uz compinit; compinit -u -d zcompdump; source <(svc completion zsh)",
			"fish": "svc completion fish | source",
		}[shell]
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Fatalf("run scripts/install-tools shells: %v", err)
			}
			home := t.TempDir()
			if err := os.Symlink(apptest.Binary(t), filepath.Join(home, "svc")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "scene.blend"), demo.Scene(), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(program, start...)
			command.Dir = home
			command.Env = []string{"HOME=" + home, "PATH=" + home + ":" + os.Getenv("PATH"), "TERM=xterm", "LANG=C.UTF-8"}
			s := screen.Start(t, command, 120)
			// The words of the answer differ from those of the question, which is echoed.
			s.Type(t, "", load+"; echo lo\"ad\"ed\n")
			s.Await(t, "loaded")
			for _, line := range lines {
				s.Type(t, "", line.typed+"\n")
				s.Await(t, line.want)
			}
			s.Type(t, "", "exit\n")
			_ = command.Wait() // with the code of the last command
			s.End(t)
		})
	}
}
