// Package selfcheck checks whether a render worker would work on this machine.
//
// What always holds: it changes nothing on the service. It registers no worker, takes
// no lease and holds no data of a customer. On this machine it makes the work folder
// and the compiled GPU kernels, which the worker needs anyway. A failed check never
// stops the others: the operator sees all problems at once.
//
// It leaves to package worker how a Blender is started and what it may render, and to
// the command (svc doctor) how findings are printed. Start reading at Examination.Examine, whose
// order is the order of the report.
package selfcheck

import (
	"context"
	"fmt"
	"os"
	"time"

	"svc.example/internal/ground/osfile"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/gpu"
	"svc.example/internal/work/farmapi"
)

// Verdict is what a finding means for a worker.
type Verdict string

// A worker with a Fail finding does not start, or fails its frames. With a Warn finding
// it renders fewer scenes than it could, or an operator should know something about its
// results. The values are printed, and are members of the JSON that svc doctor writes.
const (
	OK   Verdict = "ok"
	Warn Verdict = "warn"
	Fail Verdict = "FAIL"
)

// Finding is the result of one check of Examine.
type Finding struct {
	Name    string  `json:"name"`         // the check: "sandbox", "device"
	Verdict Verdict `json:"verdict"`      // of this check alone
	Found   string  `json:"found"`        // one line about this machine
	Do      string  `json:"do,omitempty"` // what helps; "" when there is nothing to do
}

// Examination describes the worker that would be started, with the settings that its
// command line would give it.
type Examination struct {
	Blender    string           // path of the program; it matters only without BlenderErr
	BlenderErr error            // of blender.Find
	Sandbox    *sandbox.Sandbox // nil means that the worker would run without one
	SandboxErr error            // of sandbox.Open; Blender is not started then
	Device     blender.Device
	GPUs       gpu.Machine // what is asked about NVIDIA's cards; the zero value is this machine
	Denoise    blender.Denoise
	// AllowBlenderVersion admits a Blender of another version than the contract's.
	AllowBlenderVersion bool
	WorkDir             string // created when missing
	Server              string // address of the service; "" skips its checks
	Farm                Farm   // calls the server with the worker's key; nil without a key
	// Equal is a file of the rows that machines of a farm have rendered: see rows. Service compares
	// with what the service knows instead; "" renders none.
	Equal string
	Now   func() time.Time // compared with the server's clock
}

// Farm has the calls of a node key that change nothing: one to try the key, and one for the rows
// of other machines.
// *farmapi.Client implements it.
type Farm interface {
	Heartbeat(context.Context, farmapi.HeartbeatRequest) (farmapi.HeartbeatReply, error)
	Reference(context.Context, farmapi.ReferenceRequest) (farmapi.ReferenceReply, error)
}

// Free space that a work folder should have, in bytes. Below minDisk one large job does
// not fit; enoughDisk is the default limit of the cache of input files.
const (
	minDisk    = 2 << 30
	enoughDisk = 20 << 30
)

// Examine runs every check that a worker makes before its first job, and renders one
// frame of a built-in scene. It does not register. Blender starts only when a sandbox
// could be opened, or none was asked for: a worker would not start it either. The first
// run with a GPU may take minutes, while kernels compile; the end of ctx stops it.
func (e Examination) Examine(ctx context.Context) []Finding {
	found := append([]Finding{e.user(), e.disk()}, e.sandbox()...)
	if e.BlenderErr != nil {
		found = append(found, Finding{"blender", Fail, e.BlenderErr.Error(), "run scripts/install-blender, or name one with --blender PATH"})
	} else if e.SandboxErr == nil {
		found = append(found, e.blender(ctx)...)
	} else {
		found = append(found, Finding{"blender", Warn, e.Blender + ", not started: no sandbox to start it in", "fix the sandbox first"})
	}
	if e.Server != "" {
		found = append(found, e.server(ctx)...)
	}
	return found
}

// user warns of root. Blender opens strangers' files, and the sandbox is the only limit
// around it when the user itself has none.
func (Examination) user() Finding {
	if os.Geteuid() == 0 {
		return Finding{"user", Warn, "root", "run the worker as a user of its own, who is in the groups that own the GPU's device nodes"}
	}
	return Finding{"user", OK, fmt.Sprintf("user %d, not root", os.Geteuid()), ""}
}

// disk reports the free space of the work folder, and makes the folder: only this shows
// that the user may write there.
func (e Examination) disk() Finding {
	if err := os.MkdirAll(e.WorkDir, 0o700); err != nil {
		return Finding{"work folder", Fail, err.Error(), "name a folder that this user may write to with --work"}
	}
	free, err := osfile.Free(e.WorkDir)
	if err != nil {
		return Finding{"work folder", Fail, err.Error(), "name another folder with --work"}
	}
	f := Finding{"work folder", OK, fmt.Sprintf("%s, %s free", e.WorkDir, sandbox.Size(free)), ""}
	switch {
	case free < minDisk:
		f.Verdict, f.Do = Fail, "make room: a job's file, its pictures and Blender's temporary files lie there"
	case free < enoughDisk:
		f.Verdict, f.Do = Warn, "20 GiB are enough for most scenes"
	}
	return f
}

// sandbox reports each layer around Blender. A missing layer is a warning: where the
// chosen mode requires it, sandbox.Open has failed.
func (e Examination) sandbox() []Finding {
	if e.SandboxErr != nil {
		return []Finding{{"sandbox", Fail, e.SandboxErr.Error(), "install bubblewrap and allow it namespaces (docs/sandbox.md), or choose --sandbox auto or off"}}
	}
	r := e.Sandbox.Report()
	if r.Mode == sandbox.Off {
		return []Finding{{"sandbox", Warn, "off", "leave out --sandbox off unless every file is your own"}}
	}
	var found []Finding
	for _, l := range r.Layers() {
		f := Finding{l.Name, OK, l.Found, ""}
		if l.Lacks != "" {
			f.Verdict, f.Found, f.Do = Warn, l.Found+": "+l.Lacks, "docs/sandbox.md says what each layer is for"
		}
		found = append(found, f)
	}
	return found
}
