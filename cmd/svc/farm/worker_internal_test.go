package farm

import (
	"log/slog"
	"slices"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
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

// TestTheTagsOfAWorkerAreChecked before it starts, and a reserved worker has some.
func TestTheTagsOfAWorkerAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags MachineFlags
		taken bool
	}{
		{MachineFlags{Tag: []string{"rtx", "studio-b"}}, true},
		{MachineFlags{Tag: []string{"rtx"}, Reserved: true}, true},
		{MachineFlags{Reserved: true}, false},
		{MachineFlags{Tag: []string{"RTX"}}, false},
		{MachineFlags{Tag: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}}, false},
	} {
		if err := c.flags.Check(BlenderFlags{}); (err == nil) != c.taken {
			t.Errorf("%+v: %v", c.flags, err)
		}
	}
	var config worker.Config
	MachineFlags{Tag: []string{"studio-b", "rtx"}, Reserved: true}.Apply(&config)
	config.Log = slog.New(slog.DiscardHandler)
	for _, synthetic := range []bool{true, false} {
		info := blender.Info{Version: contract.BlenderVersion, Synthetic: synthetic, Devices: []blender.DeviceInfo{{Type: "CPU", Name: "a CPU"}}}
		config.Device = blender.CPU
		says, err := config.Admit(info)
		if err != nil || !slices.Equal(says.Tags, []string{"rtx", "studio-b"}) || !says.Reserved {
			t.Errorf("it registers with %v, reserved %t (%v)", says.Tags, says.Reserved, err)
		}
	}
}
