package workers_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
	"svc.example/internal/work/synthetic"
)

// ofScenes are the settings with which the test's file renders fast. Its active scene is
// another one.
func ofScenes() client.Settings {
	return client.Settings{Scene: "Z last", Camera: "Camera 0", ResolutionX: 64, ResolutionY: 36, Samples: 7, OutputName: "scene"}
}

// TestWhatWasChosenIsPricedRenderedAndProven: the pictures of the synthetic renderer have the
// size that the file has with the settings; a Blender that had kept the other job's would be
// refused.
func TestWhatWasChosenIsPricedRenderedAndProven(t *testing.T) {
	file, err := os.ReadFile("../../../render/blendfile/testdata/scenes.blend")
	if err != nil {
		t.Fatal(err)
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(synthetic.Renderer{})
		inspect := func(s client.Settings) (*client.Quote, error) {
			return c.Inspect(story.Patient(t), client.InspectRequest{Filename: "scenes.blend", Body: bytes.NewReader(file), Frames: "20-21", Settings: s})
		}
		q, err := inspect(ofScenes())
		if err != nil {
			t.Fatal(err)
		}
		if q.Settings != ofScenes() || q.Scene.Name != "Z last" || q.Scene.Camera != "Camera 0" || q.Scene.ResolutionX != 64 || q.Scene.Samples != 7 || !q.Qualified1C ||
			!slices.Equal(q.Scene.Cameras, []string{"Camera 0", "Camera 1", "Camera 2"}) || len(q.Scene.Scenes) != 3 || len(q.Scene.ViewLayers) != 1 {
			t.Errorf("the quote is %+v", q)
		}
		first := renderChosen(c, q, 64, 36, "0020.png", "0021.png")

		// The same upload with other settings: another price, another picture, and the names of
		// old. A free look at each is its own.
		looked := lookAt(c, q.UploadID, 20)
		other := client.Settings{ViewLayer: "ViewLayer", ResolutionPercentage: 2}
		again, err := c.QuoteWith(story.Patient(t), q.UploadID, client.QuoteRequest{Frames: "20", Settings: other})
		if err != nil {
			t.Fatal(err)
		}
		if again.Settings != other || again.Scene.Name != "M middle" || again.Scene.Samples != 101 || again.PriceCents != 1 {
			t.Errorf("the second quote is %+v", again)
		}
		if next := lookAt(c, q.UploadID, 20); next.PreviewID == looked.PreviewID {
			t.Error("a look with other settings is the look of before")
		}
		renderChosen(c, again, 38, 21, "frame_0020.png")

		// Frames of the first job once more have its settings.
		rerun, err := c.Rerender(story.Patient(t), first.JobID, "21")
		if err != nil || rerun.Settings != ofScenes() {
			t.Fatalf("%+v, %v", rerun, err)
		}
		renderChosen(c, rerun, 64, 36, "0021.png")

		wantChoicesRefused(t, c, q.UploadID, inspect)
	})
}

// renderChosen starts a quote, and checks what comes of it.
func renderChosen(c story.Caller, q *client.Quote, width, height int, names ...string) *client.Job {
	c.T.Helper()
	job, err := c.Take(q)
	if err != nil {
		c.T.Fatal(err)
	}
	job = c.Await(job.JobID, client.StatusCompleted)
	content := c.VerifiedZIP(job)
	story.WantPictures(c.T, content, len(names), width, height)
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		c.T.Fatal(err)
	}
	for i, name := range names {
		if got := archive.File[i].Name; got != "output/"+name {
			c.T.Errorf("frame %d is %s in the ZIP, want output/%s", i, got, name)
		}
	}
	answer, err := c.Receipt(story.Patient(c.T), job.JobID)
	if err != nil {
		c.T.Fatal(err)
	}
	var signed struct{ Settings client.Settings }
	if err := json.Unmarshal(answer.Members, &signed); err != nil || signed.Settings != q.Settings || job.Settings != q.Settings {
		c.T.Errorf("the receipt says %+v and the job %+v, ordered was %+v (%v)", signed.Settings, job.Settings, q.Settings, err)
	}
	return job
}

// wantChoicesRefused sends what no file or not this one has, in a form and as JSON. Nothing is
// stored or spent for it.
func wantChoicesRefused(t *testing.T, c story.Caller, uploadID string, inspect func(client.Settings) (*client.Quote, error)) {
	t.Helper()
	long := strings.Repeat("x", 10_000)
	for _, s := range []client.Settings{
		{Camera: "Nobody"}, {Camera: long}, {Camera: "a\x00b"}, {Camera: "../../etc/passwd"}, {Scene: "No scene"}, {ViewLayer: "No layer"}, {Scene: long},
		{ResolutionX: 1_000_000, ResolutionY: 1}, {ResolutionX: 64}, {ResolutionX: 64, ResolutionY: 64, ResolutionPercentage: 50}, {ResolutionPercentage: 101},
		{ResolutionPercentage: -1}, {Samples: 102}, {Samples: 1 << 40}, {OutputName: "../x"},
	} {
		for how, ask := range map[string]func() error{
			"form": func() error { _, err := inspect(s); return err },
			"JSON": func() error {
				_, err := c.QuoteWith(story.Patient(t), uploadID, client.QuoteRequest{Frames: "20", Settings: s})
				return err
			},
		} {
			refused, ok := errors.AsType[*client.Error](ask())
			if !ok || refused.Status != 400 || refused.Code != "invalid_settings" && refused.Code != "invalid_request" {
				t.Errorf("%s, %.80v: %+v", how, s, refused)
			} else if s.Camera == "Nobody" && !strings.Contains(refused.Message, "Camera 0, Camera 1, Camera 2") {
				t.Errorf("%s: %s", how, refused.Message)
			}
		}
	}
}
