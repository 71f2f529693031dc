// Command packages writes what other programs install into a folder: the packages of the
// SDKs (make sdks), or the add-on for Blender with the listing of an extension repository
// (make addon). The service serves the same bytes.
package main

import (
	"errors"
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
	makers := map[string]func() ([]sdk.Package, error){
		"sdks":  sdk.Packages,
		"addon": func() ([]sdk.Package, error) { return blender.Packages(blender.Version(), "") },
	}
	if len(arguments) != 2 || makers[arguments[0]] == nil {
		return errors.New("usage: packages sdks|addon FOLDER")
	}
	packages, err := makers[arguments[0]]()
	if err != nil {
		return err
	}
	return sdk.Write(arguments[1], packages, os.Stdout)
}
