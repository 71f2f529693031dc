package main

import (
	"fmt"
	"runtime/debug"

	"github.com/alecthomas/kong"

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
	module, compiler := "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		module, compiler = info.Main.Version, info.GoVersion
	}
	return fmt.Sprintf("svc %s, built with %s\nAPI %s, Blender %s, price %s, terms %s",
		module, compiler, contract.OpenAPIVersion, contract.BlenderVersion, contract.PricingVersion, contract.LegalAcceptance)
}
