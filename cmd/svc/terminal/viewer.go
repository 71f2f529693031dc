package terminal

import (
	"os"
	"os/exec"
	"runtime"
)

// Open opens an address or a file with the program that this machine has for it, and
// reports whether there is one. The program continues after this one has ended.
func Open(what string) bool {
	name, args := viewer()
	if name == "" {
		return false
	}
	command := exec.Command(name, append(args, what)...)
	if command.Start() != nil {
		return false
	}
	_ = command.Process.Release() // nothing waits for it
	return true
}

// viewer is the command that opens things; "" where there is no screen.
func viewer() (name string, args []string) {
	if browser := os.Getenv("BROWSER"); browser != "" {
		return browser, nil
	}
	switch runtime.GOOS {
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	case "darwin":
		return "open", nil
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return "", nil
	}
	return "xdg-open", nil
}
