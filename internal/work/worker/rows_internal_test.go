package worker

import (
	"testing"

	"svc.example/internal/work/farmapi"
)

// A worker sends the rows that the doctor rendered in its work folder, as long as they are of its
// own Blender and device.
func TestAWorkerSendsTheRowsOfItsMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self := farmapi.RegisterRequest{BlenderVersion: "4.1.1", BlenderBuildHash: "abc", Device: "GPU", DeviceName: "H100"}
	if got := MachineRowsIn(dir).of(self); got != "" {
		t.Errorf("without a doctor it sends %q", got)
	}
	if err := (MachineRows{Blender: "4.1.1", Build: "abc", Device: "GPU H100", Rows: "11"}).Keep(dir); err != nil {
		t.Fatal(err)
	}
	if got := MachineRowsIn(dir).of(self); got != "11" {
		t.Errorf("it sends %q", got)
	}
	self.BlenderBuildHash = "def"
	if got := MachineRowsIn(dir).of(self); got != "" {
		t.Errorf("with another Blender it sends %q", got)
	}
}
