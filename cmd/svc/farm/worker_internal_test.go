package farm

import (
	"testing"

	engines "svc.example/internal/work/worker/blenders"
)

func TestBlendersOfADeviceAreANumberOrAuto(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]blenders{"auto": engines.Auto, "1": 1, "16": engines.Most} {
		var got blenders
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "17", "Auto", "2.5"} {
		if err := new(blenders).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestAllGPUsRenderOnGPUs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run   workerRun
		taken bool
	}{
		{workerRun{MachineFlags: MachineFlags{AllGPUs: true}, BlenderFlags: BlenderFlags{Device: "gpu"}, syntheticFlags: syntheticFlags{Renderer: "blender"}}, true},
		{workerRun{MachineFlags: MachineFlags{AllGPUs: true}, BlenderFlags: BlenderFlags{Device: "cpu"}, syntheticFlags: syntheticFlags{Renderer: "blender"}}, false},
		{workerRun{MachineFlags: MachineFlags{AllGPUs: true}, BlenderFlags: BlenderFlags{Device: "gpu"}, syntheticFlags: syntheticFlags{Renderer: "synthetic"}}, false},
		{workerRun{MachineFlags: MachineFlags{Cores: -1}}, false},
		{workerRun{endFlags: endFlags{StopGrace: -1}}, false},
	} {
		if err := c.run.Validate(); (err == nil) != c.taken {
			t.Errorf("%+v: %v", c.run, err)
		}
	}
}
