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

// configFile is a configuration file: flags by their names, with _ for -.
type configFile struct {
	kong.Resolver
	members []string
}

// readConfig reads a configuration file.
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

// Validate refuses members that no command has as a flag: a mistyped one would
// leave a service without what its operator believes to be set.
func (c configFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	var learn func(*kong.Node)
	learn = func(n *kong.Node) {
		for _, f := range n.Flags {
			known[strings.ReplaceAll(f.Name, "-", "_")] = true
		}
		for _, child := range n.Children {
			learn(child)
		}
	}
	learn(app.Node)
	for _, name := range c.members {
		if !known[name] {
			return fmt.Errorf("the configuration file has a member %q, which is no flag of any command", name)
		}
	}
	return nil
}
