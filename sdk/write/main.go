// Command write writes the packages of the SDKs into a folder: make sdks.
package main

import (
	"fmt"
	"os"

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
	packages, err := sdk.Packages()
	if err != nil {
		return err
	}
	return sdk.Write(arguments[0], packages, os.Stdout)
}
