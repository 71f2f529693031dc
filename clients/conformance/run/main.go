// Command run plays the stories with a client and a service that renders:
//
//	SVC_SERVER=https://render.example.com SVC_KEY=svc_agent_… go run ./clients/conformance/run scene.blend COMMAND [ARGUMENT...]
//
// The scene has the frames 1 to 4; all stories together cost less than 50 cents.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"svc.example/clients/conformance"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) < 2 {
		return fmt.Errorf("usage: run SCENE COMMAND [ARGUMENT...]")
	}
	scene, err := os.ReadFile(arguments[0])
	if err != nil {
		return err
	}
	stories, err := conformance.Stories()
	if err != nil {
		return err
	}
	target := conformance.Target{URL: os.Getenv("SVC_SERVER"), Key: os.Getenv("SVC_KEY"), Scene: scene}
	failed := 0
	for _, story := range stories {
		limited, cancel := context.WithTimeout(ctx, 10*time.Minute)
		err := conformance.Run(limited, conformance.Client{Command: arguments[1:]}, story, target)
		cancel()
		if errors.Is(err, conformance.ErrUnsupported) {
			fmt.Printf("-    %s\n", story.Name)
			continue
		}
		if err != nil {
			failed++
			fmt.Printf("no   %s: %v\n", story.Name, err)
			continue
		}
		fmt.Printf("yes  %s\n", story.Name)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d stories failed", failed, len(stories))
	}
	return nil
}
