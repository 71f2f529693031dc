package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// configFile is the operator's configuration file: a JSON object whose members are
// flags, named with _ for -. A flag on the command line wins over the environment, and
// the environment over the file. Flags of people who render (tag config:"-") are not
// taken from it: theirs are in profiles.
type configFile struct {
	flags kong.Resolver
	// members are the names in the file, sorted, so that of two mistakes the same one
	// is always reported first. kong itself ignores a member that it does not know.
	members []string
}

// readConfig reads a configuration file once and keeps two views of it: the names
// for Validate, and kong's own resolver for the values. An error means that the
// file cannot be read or is not one JSON object.
func readConfig(r io.Reader) (kong.Resolver, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	members := map[string]any{}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	flags, err := kong.JSON(bytes.NewReader(text))
	return configFile{flags, slices.Sorted(maps.Keys(members))}, err
}

// systemConfig reads the configuration file that need not be named; none is no resolver.
func systemConfig(path string) []kong.Resolver {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []kong.Resolver{unread{fmt.Errorf("the configuration file cannot be read: %w. Run this as the service's user (on a packaged one: sudo -u svc), or name another file with --config", err)}}
	}
	resolver, err := readConfig(bytes.NewReader(text))
	if err != nil {
		return []kong.Resolver{malformed{fmt.Errorf("%s is not a valid configuration file: %w. It must be one JSON object with flags. Fix it or move it away", path, err)}}
	}
	return []kong.Resolver{resolver}
}

// malformed is a configuration file that no command takes.
type malformed struct{ error }

func (m malformed) Validate(*kong.Application) error                         { return m.error }
func (malformed) Resolve(*kong.Context, *kong.Path, *kong.Flag) (any, error) { return nil, nil }

// unread is a configuration file that this user may not read. Without it the commands of
// operators would work on another store, or serve without what their operator has set.
// Other commands continue: people who render on the same machine do not use it, and a
// worker's user must not read secrets in the service's file, such as the address of its
// database.
type unread struct{ error }

// ofOperators are the commands that need the file.
var ofOperators = []string{"serve", "admin"}

func (unread) Validate(*kong.Application) error { return nil }

// Resolve refuses every flag of an operator's command, unless --config names a file.
func (u unread) Resolve(ctx *kong.Context, _ *kong.Path, _ *kong.Flag) (any, error) {
	for _, f := range ctx.Flags() {
		if named, _ := ctx.FlagValue(f).(kong.ConfigFlag); named != "" {
			return nil, nil
		}
	}
	if command := ctx.Selected(); command != nil && slices.Contains(ofOperators, strings.Fields(command.FullPath())[1]) {
		return nil, u.error
	}
	return nil, nil
}

// Resolve returns the file's value of a flag, nil for none. kong asks after it has read
// the environment, and not for flags of the command line. So a flag that the
// environment sets gets no value here.
func (c configFile) Resolve(ctx *kong.Context, parent *kong.Path, flag *kong.Flag) (any, error) {
	if !inConfigFile(flag) {
		return nil, nil
	}
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	return c.flags.Resolve(ctx, parent, flag)
}

// inConfigFile reports whether a flag can be a member of the file.
func inConfigFile(flag *kong.Flag) bool { return flag.Tag.Get("config") != "-" }

// Validate refuses a member that is a flag of no command. Without this check a
// mistyped name would be ignored, and the service would run without a setting that
// its operator believes to be in force.
//
// A member that belongs to another command passes: one file serves svc serve,
// svc admin and svc worker together.
func (c configFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	var collect func(*kong.Node)
	collect = func(n *kong.Node) {
		for _, f := range n.Flags {
			if inConfigFile(f) {
				known[strings.ReplaceAll(f.Name, "-", "_")] = true
			}
		}
		for _, child := range n.Children {
			collect(child)
		}
	}
	collect(app.Node)
	for _, name := range c.members {
		if !known[name] {
			return fmt.Errorf("the configuration file has a member %q, but no command has such a flag", name)
		}
	}
	return nil
}
