package workers_test

import (
	"log/slog"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
)

// Workers tell their reference rows when they register. A machine asks for those of its kind before
// it joins, and the operator's log has one that joined with others.
func TestAMachineThatRendersOtherPixelsIsFoundBeforeItsFirstJob(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		var log story.Logged
		config.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil))
		svc := story.Start(t, config)
		farm := farmapi.NewClient(svc.URL, svc.NodeKey().Secret)
		register := func(name, rows string) {
			t.Helper()
			if _, err := farm.Register(t.Context(), farmapi.RegisterRequest{
				Name: name, BlenderVersion: "4.1.1", BlenderBuildHash: "abc", Device: "CPU", DeviceName: "EPYC", Denoise: "keep", Outputs: true, Strips: true, Rows: rows,
			}); err != nil {
				t.Fatal(err)
			}
		}
		want := func(device, rows string, machines int) {
			t.Helper()
			got, err := farm.Reference(t.Context(), farmapi.ReferenceRequest{BlenderVersion: "4.1.1", BlenderBuildHash: "abc", Device: "CPU", DeviceName: device})
			if err != nil || got != (farmapi.ReferenceReply{OK: true, Rows: rows, Machines: machines}) {
				t.Errorf("the reference of %s is %+v, %v", device, got, err)
			}
		}
		right, wrong := strings.Repeat("a", 64), strings.Repeat("b", 64)
		want("EPYC", "", 0)
		register("rack-1", right)
		register("rack-2", right)
		register("rack-3", "no hash")
		want("EPYC", right, 2)
		want("Xeon", "", 0)
		if log.Has("level=WARN", "other pixels") {
			t.Error("machines that agree are warned of")
		}
		register("rack-4", wrong)
		want("EPYC", right, 3)
		if !log.Has("level=WARN", "a worker renders other pixels", "rack-4") {
			t.Error("the operator is not warned")
		}
	})
}
