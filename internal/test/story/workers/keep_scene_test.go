package workers_test

import (
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// TestASceneHasOneNameInAWorkspace: workers learn which jobs have the same files, and that of
// one workspace only: nothing that they keep reveals to one workspace what another has.
func TestASceneHasOneNameInAWorkspace(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		ada, bob := svc.Caller(story.Credit), svc.Caller(story.Credit)
		other := append(demo.Scene(), "\n"...) // a Blender reads past its end as little as we do
		names, of := map[string]string{}, map[string]string{}
		for _, job := range []struct {
			name  string
			by    story.Caller
			scene []byte
		}{{"ada's", ada, demo.Scene()}, {"ada's again", ada, demo.Scene()}, {"bob's", bob, demo.Scene()}, {"ada's other", ada, other}} {
			started, err := job.by.Take(job.by.QuoteOf(job.scene, 1))
			if err != nil {
				t.Fatal(err)
			}
			of[started.JobID] = job.name
		}
		w := svc.ManualWorker()
		for range of {
			got, err := w.LeaseOne(story.Patient(t))
			if err != nil || got.Job == nil {
				t.Fatalf("leased %+v, %v", got, err)
			}
			p, err := w.Project(story.Patient(t), w.ID, got.Job.JobID)
			if err != nil || p.Scene == "" {
				t.Fatalf("%+v, %v", p, err)
			}
			names[of[got.Job.JobID]] = p.Scene
		}
		if len(names) != 4 || names["ada's"] != names["ada's again"] {
			t.Errorf("%v: two jobs of the same file have two scenes", names)
		}
		if names["ada's"] == names["bob's"] || names["ada's"] == names["ada's other"] || names["bob's"] == names["ada's other"] {
			t.Errorf("%v: a scene is shared that is not the same", names)
		}
	})
}

// TestNextJobOfASceneLoadsNothing: a caller that has rendered a scene and renders other frames
// of it finds it open in the warm Blender, and the receipt says so.
func TestNextJobOfASceneLoadsNothing(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	svc.Worker(worker.Blender{Path: story.RealBlender(t)}, story.OnCPU)
	scene, err := story.QuickScene()
	if err != nil {
		t.Fatal(err)
	}
	var loads [][]float64
	for _, frames := range []int{1, 2} {
		job, err := c.Take(c.QuoteOf(scene, frames))
		if err != nil {
			t.Fatal(err)
		}
		job = c.Await(job.JobID, client.StatusCompleted)
		story.WantPictures(t, c.VerifiedZIP(job), frames, 96, 54)
		loads = append(loads, c.Loads(job))
	}
	if len(loads[0]) != 1 || loads[0][0] <= 0 {
		t.Errorf("the first job says that the file was open after %v s", loads[0])
	}
	if len(loads[1]) != 2 || loads[1][0] != 0 || loads[1][1] != 0 {
		t.Errorf("the second job says that the file was open after %v s, want 0", loads[1])
	}
	svc.WantMoney(c.Workspace, story.Credit-3, wallet.Credited, wallet.Reserved, wallet.Captured, wallet.Reserved, wallet.Captured)
}
