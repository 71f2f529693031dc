// Command write writes the archives of the add-on for Blender, and the listing of an
// extension repository, into a folder: make addon.
package main

import (
	"fmt"
	"os"

	"svc.example/addons/blender"
	"svc.example/sdk"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("usage: write FOLDER")
	}
	packages, err := blender.Packages(blender.Version())
	if err != nil {
		return err
	}
	return sdk.Write(arguments[0], packages, os.Stdout)
}
