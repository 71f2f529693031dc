package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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
