package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// configFile is a configuration file: a JSON object whose members are flags, named
// with _ for -. kong applies it after the environment: a member of the file wins
// over an SVC_* variable, and the command line wins over both.
type configFile struct {
	kong.Resolver
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
			known[strings.ReplaceAll(f.Name, "-", "_")] = true
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
