package operator

import (
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
)

// testModeFlags bound test mode, in which a workspace pays nothing.
type testModeFlags struct {
	TestMode    bool          `env:"SVC_TEST_MODE" default:"true" negatable:"" help:"Offer test mode: each workspace can try its integration with test keys (svc_agent_test_…) in a separate test world. --no-test-mode refuses such keys."`
	TestStorage terminal.Size `env:"SVC_TEST_STORAGE" default:"512MiB" help:"Most storage of one workspace's test world."`
	TestFrames  int           `env:"SVC_TEST_FRAMES" default:"1000" placeholder:"N" help:"Most frames of one test job."`
	TestRate    int           `env:"SVC_TEST_RATE" default:"20" placeholder:"N" help:"Test frames painted per second, in all test worlds of this process together."`
	TestOpen    int           `env:"SVC_TEST_OPEN" default:"8" placeholder:"N" help:"Most test worlds that this process keeps open. With PostgreSQL, each takes up to 4 connections."`
	TestWorlds  int           `env:"SVC_TEST_WORLDS" default:"100" placeholder:"N" help:"Most test worlds. For a new one, the world that was unused for longest is removed, if that is an hour or more."`
	TestKeep    time.Duration `env:"SVC_TEST_KEEP" default:"168h" help:"How long to keep an unused test world. At least 1h."`
}

// apply sets the bounds. Error: wrong usage.
func (f testModeFlags) apply(cfg *app.Config) error {
	if f.TestStorage < 1<<20 || f.TestFrames < 1 || f.TestRate < 1 || f.TestOpen < 1 || f.TestWorlds < 1 {
		return terminal.WrongUsagef("--test-storage must be 1MiB or more, and --test-frames, --test-rate, --test-open and --test-worlds 1 or more")
	}
	if f.TestKeep < time.Hour {
		return terminal.WrongUsagef("--test-keep must be 1h or more")
	}
	cfg.TestMode = app.TestMode{
		Off: !f.TestMode, Storage: int64(f.TestStorage), Frames: f.TestFrames, Rate: f.TestRate, Open: f.TestOpen, Worlds: f.TestWorlds, Keep: f.TestKeep,
	}
	return nil
}
