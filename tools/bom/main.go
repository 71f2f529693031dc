// Command bom checks bills of materials with what CycloneDX publishes: its JSON schema
// and its own library. It is part of scripts/check-release, shares no code with svc, and
// is a module of its own, so that svc does not depend on it.
//
//	go run . SCHEMAS FILE...
//
// SCHEMAS is the folder schema of the module github.com/CycloneDX/cyclonedx-go. It exits
// with 1 when a file is no bill of materials of CycloneDX 1.6.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: bom SCHEMAS FILE...")
		os.Exit(2)
	}
	if err := check(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "bom:", err)
		os.Exit(1)
	}
}

func check(folder string, files []string) error {
	schema, err := compile(folder)
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	for _, path := range files {
		if err := checkFile(schema, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// compile reads the schema of CycloneDX 1.6 with the two that it refers to, by the
// addresses that they have in it; nothing is fetched. Formats are checked too: date-time
// and iri-reference are part of what the schema asks for.
func compile(folder string) (*jsonschema.Schema, error) {
	const at = "http://cyclonedx.org/schema/"
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for address, file := range map[string]string{
		"bom-1.6.schema.json":  "bom-1.6.schema.json",
		"spdx.schema.json":     "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text, err := os.Open(filepath.Join(folder, file))
		if err != nil {
			return nil, err
		}
		document, err := jsonschema.UnmarshalJSON(text)
		_ = text.Close() // only read
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := compiler.AddResource(at+address, document); err != nil {
			return nil, err
		}
	}
	return compiler.Compile(at + "bom-1.6.schema.json")
}

func checkFile(schema *jsonschema.Schema, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if err := schema.Validate(document); err != nil {
		return err
	}
	var bill cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&bill); err != nil {
		return err
	}
	// A library that writes it again must not stumble either.
	return cyclonedx.NewBOMEncoder(io.Discard, cyclonedx.BOMFileFormatJSON).EncodeVersion(&bill, cyclonedx.SpecVersion1_6)
}
