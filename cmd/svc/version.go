package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
)

// showVersion is svc version.
type showVersion struct{}

// Run prints what --version prints.
func (showVersion) Run(k *kong.Context) error {
	_, err := fmt.Fprintln(k.Stdout, version())
	return err
}

// version is the text of --version: what was built, by which compiler, and the
// versions of the interface that this build keeps (spec 9). Operators compare it
// between machines.
//
// A build between two releases has a module version with date and commit in it. A
// build without version control information prints what Go recorded, or "unknown".
func version() string {
	width := terminal.Width(os.Stdout)
	module, compiler := "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		module, compiler = info.Main.Version, info.GoVersion
	}
	lines := terminal.Wrap(fmt.Sprintf("svc %s, built with %s", module, compiler), width, 2)
	lines = append(lines, terminal.Wrap(fmt.Sprintf("API %s, Blender %s, price %s, terms %s",
		contract.OpenAPIVersion, contract.BlenderVersion, contract.Published().Current().Version, contract.LegalAcceptance), width, 2)...)
	return strings.Join(lines, "\n")
}
