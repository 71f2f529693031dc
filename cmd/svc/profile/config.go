package profile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
)

// Config has the commands that keep server and keys, so that they need not be typed
// for each call.
type Config struct {
	Set   set   `cmd:"" help:"Save the address of a service, or a key for it."`
	Get   get   `cmd:"" help:"Print what is saved. Only the beginning of a key is shown."`
	List  list  `cmd:"" help:"List all profiles. Only the beginnings of keys are shown."`
	Use   use   `cmd:"" help:"Choose the profile that commands take without --profile."`
	Unset unset `cmd:"" help:"Remove the address or the keys from a profile."`
	Path  path  `cmd:"" help:"Print the path of the file with the profiles."`
}

// Help is printed below the flags.
func (Config) Help() string {
	return "A profile has a service's address, and at most one agent key, one account key and one operator key for it. " +
		"Flags win over the environment (SVC_SERVER, SVC_KEY, SVC_PROFILE), the environment over the profile, and the profile over the default. " +
		"A key is sent only to the server of its own profile. The file has mode 0600."
}

// named is the flag of the commands that work on one profile. It is checked before
// the command runs.
type named struct {
	Profile string `env:"SVC_PROFILE" config:"-" default:"default" placeholder:"NAME" help:"Profile to use."`
}

// set is svc config set.
type set struct {
	named
	Name  string `arg:"" enum:"server,key" help:"server or key."`
	Value string `arg:"" help:"The address or the key. - reads it from standard input, which keeps keys out of the shell's history."`
}

// longestValue bounds what is read from standard input, in bytes.
const longestValue = 4096

// Run keeps the value. The key's kind follows from the key itself.
func (c *set) Run(app *kong.Context) error {
	if err := checkName(c.Profile); err != nil {
		return terminal.WrongUsage(err)
	}
	value := strings.TrimSpace(c.Value)
	if value == "-" {
		line, err := c.read(app.Stderr)
		if err != nil {
			return err
		}
		if value = strings.TrimSpace(line); value == "" {
			return terminal.WrongUsagef("standard input has no %s", c.Name)
		}
	}
	shown, keep := value, func(p *Stored) { p.Server = strings.TrimRight(value, "/") }
	if c.Name == "server" {
		if err := CheckServer(value); err != nil {
			return err
		}
	} else {
		if err := profiled.check(value, "VALUE"); err != nil {
			return terminal.WrongUsage(err)
		}
		shown = Mask(value)
		keep = func(p *Stored) { p.keep(value) }
	}
	path, err := change(c.Profile, keep)
	if err == nil {
		terminal.Printf(app.Stdout, "profile %s: %s %s, saved in %s", c.Profile, c.Name, shown, path)
	}
	return err
}

// read reads the value from standard input. A key that is typed or pasted on a terminal is
// not shown: it would stay on the screen and in its history.
func (c *set) read(out io.Writer) (string, error) {
	if !terminal.IsTerminal(os.Stdin) || c.Name != "key" {
		if terminal.IsTerminal(os.Stdin) {
			terminal.Askf(out, "Paste the %s, then press Enter:", c.Name)
		}
		line, err := bufio.NewReader(io.LimitReader(os.Stdin, longestValue)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return line, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	line, err := terminal.Secret(ctx, os.Stdin, out, "Paste the key, then press Enter; it is not shown:")
	if ctx.Err() != nil {
		return "", terminal.Exit(terminal.ExitInterrupted, errors.New("interrupted; nothing was saved"))
	}
	return line, err
}

// signedIn takes the place of a key when svc login got tokens.
const signedIn = "signed in"

// get is svc config get.
type get struct {
	named
	Name string `arg:"" enum:"server,key" help:"server or key."`
}

// Run prints one line for a server, and one for each key. Nothing kept is a failure,
// so that scripts notice.
func (c *get) Run(app *kong.Context) error {
	all, err := readAll()
	if err != nil {
		return err
	}
	p := all.Profiles[c.Profile]
	values := []string{p.Server}
	if c.Name == "key" {
		values = []string{masked(p.AgentKey), masked(p.AccountKey), masked(p.OperatorKey)}
		if p.SignedIn != (SignIn{}) {
			values = append(values, signedIn)
		}
	}
	found := false
	for _, v := range values {
		if v != "" {
			terminal.Printf(app.Stdout, "%s", v)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("profile %q has no %s. Save one with:\n  svc config set %s VALUE%s", c.Profile, c.Name, c.Name, profileFlag(c.Profile))
	}
	return nil
}

// list is svc config list.
type list struct {
	JSON bool `name:"json" env:"SVC_JSON" help:"Print one JSON object instead of a table."`
}

// Run prints all profiles by name. Keys are masked in both forms.
func (c *list) Run(app *kong.Context) error {
	all, err := readAll()
	if err != nil {
		return err
	}
	for name, p := range all.Profiles {
		p.AgentKey, p.AccountKey, p.OperatorKey = masked(p.AgentKey), masked(p.AccountKey), masked(p.OperatorKey)
		if p.SignedIn != (SignIn{}) {
			p.SignedIn.AccessToken, p.SignedIn.RefreshToken = masked(p.SignedIn.AccessToken), "…"
		}
		all.Profiles[name] = p
	}
	if c.JSON {
		return terminal.PrintJSON(app.Stdout, struct {
			OK bool `json:"ok"`
			file
		}{true, all})
	}
	if len(all.Profiles) == 0 {
		terminal.Printf(app.Stdout, "No profile is saved. Start with:")
		fmt.Fprintln(app.Stdout, "  svc config set server https://render.example.com\n  svc config set key -")
		return nil
	}
	columns := []terminal.Column{{Title: "PROFILE"}, {Title: "SERVER"}, {Title: "AGENT KEY"}, {Title: "ACCOUNT KEY"}}
	operates := false // most people do not
	for _, p := range all.Profiles {
		operates = operates || p.OperatorKey != ""
	}
	if operates {
		columns = append(columns, terminal.Column{Title: "OPERATOR KEY"})
	}
	list := terminal.NewList(columns...)
	for _, name := range slices.Sorted(maps.Keys(all.Profiles)) {
		p := all.Profiles[name]
		agent := first(p.AgentKey, "none")
		if p.AgentKey == "" && p.SignedIn != (SignIn{}) {
			agent = signedIn
		}
		row := []string{name, first(p.Server, DefaultServer), agent, first(p.AccountKey, "none")}
		if operates {
			row = append(row, first(p.OperatorKey, "none"))
		}
		list.Row(row...)
	}
	list.Print(app.Stdout)
	return nil
}

// use is svc config use.
type use struct {
	Name string `arg:"" name:"profile" help:"The profile."`
}

// Run notes the choice. A profile that does not exist is a mistake.
func (c *use) Run(app *kong.Context) error {
	path, err := choose(c.Name)
	if err == nil {
		terminal.Printf(app.Stdout, "commands now use the profile %s, saved in %s", c.Name, path)
	}
	return err
}

// unset is svc config unset.
type unset struct {
	named
	Name string `arg:"" enum:"server,key" help:"server or key (all keys of the profile)."`
}

// Run forgets the value. What is not there is forgotten already.
func (c *unset) Run(app *kong.Context) error {
	path, err := change(c.Profile, func(p *Stored) {
		if c.Name == "server" {
			p.Server = ""
		} else {
			p.AgentKey, p.AccountKey, p.OperatorKey = "", "", ""
		}
	})
	if err == nil {
		terminal.Printf(app.Stdout, "profile %s: %s removed from %s", c.Profile, c.Name, path)
	}
	return err
}

// path is svc config path.
type path struct{}

// Run prints the path, whether or not the file exists.
func (path) Run(app *kong.Context) error {
	where, err := Path()
	if err == nil {
		terminal.Printf(app.Stdout, "%s", where)
	}
	return err
}

func readAll() (file, error) {
	where, err := Path()
	if err != nil {
		return file{}, err
	}
	return read(where)
}

func masked(key string) string {
	if key == "" {
		return ""
	}
	return Mask(key)
}
