// Command print writes the documents that are made from code: docs/errors.md
// from the error vocabulary, docs/warnings.md and docs/findings.md from the tables of
// warnings and findings, docs/webhook-events.md from the table of webhook events,
// docs/states.md from the table of job states, docs/internal/gpu-names.md from the tables of GPU
// names, docs/openapi.json from the API's routes, docs/internal/interface-coverage.md from the table of rules and tests, docs/sdk-python.md and
// docs/sdk-typescript.md from the source of the SDKs, docs/sdk-operations.md from their table.
package main

//go:generate go run .

import (
	"log"
	"os"
	"path/filepath"
	"strings"

	"svc.example/docs/coverage"
	"svc.example/internal/door/api"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/sdk"
)

func main() {
	for _, language := range []string{"Python", "TypeScript"} {
		text, err := sdk.Reference(language)
		if err == nil {
			err = os.WriteFile(filepath.Join("..", "sdk-"+strings.ToLower(language)+".md"), []byte(text), 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"errors.md":                      fault.Markdown(),
		"findings.md":                    framecheck.FindingsMarkdown(),
		"pictures.md":                    framecheck.PicturesMarkdown(),
		"internal/gpu-names.md":          benchmark.NamesMarkdown(),
		"states.md":                      job.StatesMarkdown(),
		"webhook-events.md":              contract.EventsMarkdown(),
		"warnings.md":                    quote.WarningsMarkdown(),
		"internal/interface-coverage.md": coverage.Markdown(),
		"sdk-operations.md":              sdk.OperationsMarkdown(),
		"openapi.json":                   string(api.Document("https://svc.example")),
	} {
		if err := os.WriteFile(filepath.Join("..", name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
