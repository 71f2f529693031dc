package workers_test

import (
	"os"
	"slices"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
)

// The scene has a volume and a shader in Open Shading Language in itself.
func TestAJobWaitsForAWorkerWhoseBlenderIsBuiltForIt(t *testing.T) {
	scene, err := os.ReadFile("../../../render/scenefiles/testdata/options/inside.blend")
	if err != nil {
		t.Fatal(err)
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		lacking := manualWorkerThatLacks(svc, buildoption.OSL, buildoption.USD, "of a later version")
		q := c.QuoteOf(scene, 1)
		if len(q.Warnings) == 0 || q.Warnings[0].Code != "build_option_missing" {
			t.Errorf("the quote warns of %+v", q.Warnings)
		}
		job, err := c.Take(q)
		if err != nil {
			t.Fatal(err)
		}
		if job, err = c.Job(story.Patient(t), job.JobID); err != nil || job.WaitingReason != "no_capable_worker" || job.ETASeconds != nil {
			t.Errorf("the job waits because of %q, %v: %v", job.WaitingReason, job.ETASeconds, err)
		}
		look, err := c.OrderPreview(story.Patient(t), q.UploadID, 1)
		if err != nil || look.WaitingReason != "no_capable_worker" {
			t.Errorf("the preview waits because of %q: %v", look.WaitingReason, err)
		}
		if got, err := lacking.LeaseOne(t.Context()); err != nil || len(got.Leases) != 0 {
			t.Errorf("the worker got %+v: %v", got.Leases, err)
		}
		old := svc.ManualWorker() // it reports nothing
		if warnings := c.QuoteOf(scene, 1).Warnings; slices.ContainsFunc(warnings, func(w client.Warning) bool { return w.Code == "build_option_missing" }) {
			t.Errorf("a worker with everything is online: %+v", warnings)
		}
		if got, err := old.LeaseOne(t.Context()); err != nil || len(got.Leases) != 1 || got.Job.JobID != job.JobID {
			t.Errorf("the worker with everything got %+v: %v", got.Leases, err)
		}
	})
}

// manualWorkerThatLacks is manualWorker whose Blender was built without some options.
func manualWorkerThatLacks(svc *story.Service, options ...buildoption.Option) story.ManualWorker {
	svc.T.Helper()
	farm := farmapi.NewClient(svc.URL, svc.NodeKey().Secret)
	reply, err := farm.Register(svc.T.Context(), farmapi.RegisterRequest{
		Name: "lacking", BlenderVersion: "4.1.1", BlenderBuildHash: "story", Device: "GPU", DeviceName: "Story GPU", Denoise: "keep", Lacks: options, Outputs: true,
	})
	if err != nil {
		svc.T.Fatal(err)
	}
	return story.ManualWorker{Client: farm, ID: reply.WorkerID}
}
