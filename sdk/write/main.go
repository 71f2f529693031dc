// Command write writes the packages of the SDKs into a folder: make sdks.
package main

import (
	"fmt"
	"os"
	"path/filepath"

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
	if err := os.MkdirAll(arguments[0], 0o755); err != nil {
		return err
	}
	for _, p := range packages {
		at := filepath.Join(arguments[0], p.Name)
		if err := os.WriteFile(at, p.Bytes, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s  %s, %d bytes\n", p.SHA256, at, len(p.Bytes))
	}
	return nil
}
