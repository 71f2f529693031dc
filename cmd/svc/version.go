package main

import (
	"fmt"
	"runtime/debug"

	"svc.example/internal/ground/contract"
)

// version says which program this is: the module's version, which holds date and
// commit where it was built between two releases, what built it, and the
// versions of the interface that it keeps.
func version() string {
	module, compiler := "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		module, compiler = info.Main.Version, info.GoVersion
	}
	return fmt.Sprintf("svc %s, built with %s\nAPI %s, Blender %s, price %s, terms %s",
		module, compiler, contract.OpenAPIVersion, contract.BlenderVersion, contract.PricingVersion, contract.LegalAcceptance)
}
