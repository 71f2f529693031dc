package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/cmd/svc/terminal"
)

// A configuration file that is there and cannot be read stops the commands that need it,
// and no others, including a worker next to a service; --config names another one.
func TestAConfigurationFileIsNeverPassedOverInSilence(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, mistyped := write("good.json", `{"data": "/srv/svc"}`), write("mistyped.json", `{"dta": "/srv/svc"}`)
	broken, missing, unreadable := write("broken.json", `{"data":`), filepath.Join(folder, "missing.json"), folder // a folder cannot be read as a file
	for _, c := range []struct{ system, line, want string }{
		{good, "admin audit", ""},
		{missing, "admin audit", ""},
		{mistyped, "admin audit", `"dta"`},
		{unreadable, "admin audit", "cannot be read"},
		{unreadable, "serve", "--config"},
		{unreadable, "worker run --server http://127.0.0.1:9 --key x", ""},
		{unreadable, "admin audit --config " + good, ""},
		{unreadable, "status", ""},
		{unreadable, "version", ""},
		{broken, "admin audit", "is not a valid configuration file"},
		{broken, "status", "is not a valid configuration file"},
	} {
		_, err := newParser(c.system, terminal.NewOutput(os.Stdout), os.Exit).Parse(strings.Fields(c.line))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("svc %s with %s: %v, want %q", c.line, filepath.Base(c.system), err, c.want)
		}
	}
}

// TestTheConfigurationFileSaysWhereTheDataIs, for the service and for every svc admin, also
// where systemd has given the unit a folder. That folder counts only where nothing else does.
func TestTheConfigurationFileSaysWhereTheDataIs(t *testing.T) {
	t.Parallel()
	named := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(named, []byte(`{"data": "/srv/svc"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ system, state, line, want string }{
		{named, "/var/lib/svc", "serve", "/srv/svc"},
		{named, "", "admin audit", "/srv/svc"},
		{named, "/var/lib/svc", "serve --data /mnt/svc", "/mnt/svc"},
		{"/nowhere.json", "/var/lib/svc", "admin audit", "/var/lib/svc"},
	} {
		parsed, err := newParserFor(c.system, c.state, terminal.NewOutput(os.Stdout), os.Exit).Parse(strings.Fields(c.line))
		if err != nil {
			t.Fatalf("svc %s: %v", c.line, err)
		}
		for _, flag := range parsed.Flags() {
			if got := parsed.FlagValue(flag); flag.Name == "data" && got != c.want {
				t.Errorf("svc %s with %s and %q keeps its data in %v, want %s", c.line, filepath.Base(c.system), c.state, got, c.want)
			}
		}
	}
}
