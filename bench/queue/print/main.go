// Command print writes the table of the simulated queue into the document that its argument
// names.
package main

import (
	"context"
	"errors"
	"log"
	"os"

	"svc.example/bench/queue"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("print DOCUMENT")
	}
	if err := write(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func write(path string) (err error) {
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "svc-queue-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	text, err := queue.Printed.Markdown(context.Background(), folder)
	if err != nil {
		return err
	}
	_, replaced, err := queue.Within(document, text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, replaced, 0o644)
}
