package blender_test

import (
	"slices"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/long"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker"
)

// Scenes that write too much fail at their first frame, say what to change and cost nothing: one
// with 10,000 slots, of which the quote warns, and one whose frame has twice the bytes that it may,
// 2 GiB in the long run. Paths that lead out of the folder are names in the ZIP.
func TestAScenesOutputsStayWithinBounds(t *testing.T) {
	path := story.RealBlender(t)
	read := madeOutputs(t, path)
	story.Each(t, func(t *testing.T, config app.Config) {
		config.Outputs = farmapi.OutputLimits{Bytes: int64(long.Scale(16<<20, 1<<30))}
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		for _, ordered := range []struct {
			scene   string
			chosen  client.Settings
			warning []string // of the quote
			failure string
		}{
			{"crowd.blend", client.Settings{}, []string{"too_many_outputs"}, "more than 64 files for a frame"},
			{"heavy.blend", client.Settings{ResolutionPercentage: long.Scale(12, 100)}, nil, "for a frame besides the picture, the most that it may"},
		} {
			quote, err := c.Inspect(story.Patient(t), client.InspectRequest{Filename: ordered.scene, Body: strings.NewReader(string(read(ordered.scene))), Frames: "1-3", Settings: ordered.chosen})
			if err != nil {
				t.Fatal(err)
			}
			var warned []string
			for _, w := range quote.Warnings {
				warned = append(warned, w.Code)
			}
			if !slices.Equal(warned, ordered.warning) {
				t.Errorf("the quote of %s warns of %q, want %q", ordered.scene, warned, ordered.warning)
			}
			started, err := c.Take(quote)
			if err != nil {
				t.Fatal(err)
			}
			f := c.Await(started.JobID, client.StatusFailed).Failure
			if f == nil || f.Code != string(fault.TooManyOutputs) || f.Retryable || !strings.Contains(f.Message, ordered.failure) || !strings.Contains(f.SuggestedAction, "Unlink slots") {
				t.Errorf("%s failed with %+v", ordered.scene, f)
			}
		}
		if wallet, err := c.Wallet(story.Patient(t)); err != nil || wallet.AvailableCents != story.Credit || wallet.ReservedCents != 0 {
			t.Errorf("the wallet has %+v, %v", wallet, err)
		}
		started, err := c.Take(quotedWhole(t, c, "hostile.blend", read("hostile.blend"), "3", client.Settings{}))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"output/frame_0003.png", "outputs/x/up0003.png", "outputs/x/abs0003.png", "outputs/x/con0003.png", "outputs/same_0003.png", "outputs/same_0003_2.png", "outputs/layers0003.exr",
			"manifest.json", "render-log.txt",
		}
		if names := entries(t, c.VerifiedZIP(c.Await(started.JobID, client.StatusCompleted))); !slices.Equal(names, want) {
			t.Errorf("the ZIP has %q, want %q", names, want)
		}
	})
}
