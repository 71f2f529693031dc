package blender_test

import (
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// A project is rendered as Blender renders it in its own folder; what is left out is
// reported.
func TestAProjectIsRenderedAsInItsFolder(t *testing.T) {
	path := story.RealBlender(t)
	story.Each(t, func(t *testing.T, config app.Config) {
		made, err := story.GlowingProject()
		if err != nil {
			t.Fatal(err)
		}
		if made.Whole[1] == made.Lone[1] {
			t.Fatal("the picture does not come from the project's files")
		}
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		for name, project := range map[string]struct {
			files  map[string][]byte
			frames map[int]string
			warned int
		}{
			"whole": {made.Files, made.Whole, 0},
			"lone":  {map[string][]byte{story.ProjectMain: made.Files[story.ProjectMain]}, made.Lone, 2},
		} {
			q := c.QuoteProject(svc.URL, project.files)
			if len(q.Warnings) != project.warned {
				t.Errorf("%s: the warnings are %+v", name, q.Warnings)
			}
			job, err := c.Take(q)
			if err != nil {
				t.Fatal(err)
			}
			c.Await(job.JobID, client.StatusCompleted)
			for _, f := range svc.Frames(job.JobID) {
				if f.PixelSha256 != project.frames[int(f.Frame)] {
					t.Errorf("%s: frame %d is not that of Blender in the project's folder", name, f.Frame)
				}
			}
			c.VerifiedZIP(c.Await(job.JobID, client.StatusCompleted))
			svc.WantFilesInReceipt(job.JobID, project.files)
		}
	})
}
