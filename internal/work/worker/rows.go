package worker

import (
	"encoding/json"
	"os"
	"path/filepath"

	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/work/farmapi"
)

// rowsFile is where a work folder keeps MachineRows.
const rowsFile = "reference-rows.json"

// MachineRows is what a kind of machine renders of two rows of the built-in scene (TryRows).
type MachineRows struct {
	Blender string `json:"blender"` // its version
	Build   string `json:"build"`
	Device  string `json:"device"` // "CPU" or "GPU", a blank and its name
	Rows    string `json:"rows"`   // the seam between two rows (strips.Strip.Seam)
}

// Keep stores the rows of this machine in a work folder, for the worker that begins there.
func (r MachineRows) Keep(workDir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(workDir, rowsFile), append(text, '\n'), 0o600)
}

// MachineRowsIn reads what Keep has stored; the zero value where there is nothing of use.
func MachineRowsIn(workDir string) (r MachineRows) {
	text, err := os.ReadFile(filepath.Join(workDir, rowsFile))
	if err != nil || json.Unmarshal(text, &r) != nil {
		return MachineRows{}
	}
	return r
}

// of is the seam of the rows if a worker has the same Blender and device as they were rendered
// with, otherwise "".
func (r MachineRows) of(w farmapi.RegisterRequest) string {
	if r.Blender != w.BlenderVersion || r.Build != w.BlenderBuildHash || r.Device != w.Device+" "+w.DeviceName {
		return ""
	}
	return r.Rows
}
