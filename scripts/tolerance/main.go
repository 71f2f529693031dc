// Command tolerance renders challenges of the GPU benchmark on several devices and prints
// how much their pictures differ (docs/internal/benchmark-tolerance.md, Challenges). Run it in the
// repository's root, on a machine with a GPU:
//
//	scripts/with-blender go run ./scripts/tolerance [-challenges 3] [-out FOLDER]
//
// Each challenge is rendered twice on the GPU and once on the processor, each time by a new
// Blender, and once with another seed: what two renders of one challenge may not reach.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"

	"svc.example/internal/render/blender"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/measure"
)

func main() {
	count := flag.Int("challenges", 3, "challenges of each scene")
	out := flag.String("out", "", "keep the pictures in this `folder`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *count, *out)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tolerance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, count int, out string) error {
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return err
	}
	if out == "" {
		if out, err = os.MkdirTemp("", "svc-tolerance-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(out) }()
	}
	out, err = filepath.Abs(out)
	if err != nil {
		return err
	}
	fmt.Printf("%-12s %12s %12s %12s\n", "scene", "GPU twice", "GPU and CPU", "other seed")
	for _, scene := range benchmark.SceneNames() {
		for range count {
			c := benchmark.Challenge{Scene: scene, Seed: 1 + rand.IntN(1<<30), Frame: benchmark.ChallengeSamples, Samples: benchmark.ChallengeSamples}
			for i := range c.CameraShift {
				c.CameraShift[i] = float64(rand.IntN(2*benchmark.MostShift+1)-benchmark.MostShift) / 1000
			}
			if err := compare(ctx, path, out, c); err != nil {
				return fmt.Errorf("scene %s, seed %d: %w", scene, c.Seed, err)
			}
		}
	}
	return nil
}

// compare prints the differences of one challenge's pictures to the GPU's first.
func compare(ctx context.Context, path, out string, c benchmark.Challenge) error {
	first, err := picture(ctx, path, out, blender.GPU, c)
	if err != nil {
		return err
	}
	other := c
	other.Seed++
	fmt.Printf("%-12s", c.Scene)
	for _, second := range []struct {
		device    blender.Device
		challenge benchmark.Challenge
	}{{blender.GPU, c}, {blender.CPU, c}, {blender.GPU, other}} {
		file, err := picture(ctx, path, out, second.device, second.challenge)
		if err != nil {
			return err
		}
		d, err := benchmark.FrameDifference(first, file)
		if err != nil {
			return err
		}
		fmt.Printf(" %12.6f", d)
	}
	fmt.Println()
	return nil
}

// picture renders a challenge in a new Blender and returns the PNG.
func picture(ctx context.Context, path, out string, device blender.Device, c benchmark.Challenge) (file []byte, err error) {
	dir, err := os.MkdirTemp(out, fmt.Sprintf("%s-%d-%s-", c.Scene, c.Seed, device))
	if err != nil {
		return nil, err
	}
	in, err := measure.Shot(dir, c)
	if err != nil {
		return nil, err
	}
	p, err := blender.Start(ctx, blender.Options{Path: path, Temp: dir, Out: dir, Device: device})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if _, err := p.Open(ctx, in); err != nil {
		return nil, err
	}
	frame, err := p.Render(ctx, c.Frame, nil)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(frame.Path)
}
