package selfcheck

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/seam"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker"
)

// Service is the value of Examination.Equal that compares with the service instead of a file.
const Service = "service"

// machineRows is a line of the file of Examination.Equal: what one kind of machine renders.
type machineRows = worker.MachineRows

// rows renders two rows of the built-in scene, as raw passes, and compares them with those of
// machines that have the same Blender. Workers share a picture by strips, and its strips must
// agree where they meet: hardware that differs silently shows here first.
func (e Examination) rows(ctx context.Context, opts blender.Options) Finding {
	sum, info, err := worker.TryRows(ctx, worker.Blender{Path: e.Blender, Sandbox: e.Sandbox}, opts, e.WorkDir)
	if err != nil {
		return Finding{"equal rows", Fail, err.Error(), "Blender's own words are in the message"}
	}
	kind, name, _ := info.Choose(e.Device) // a trial frame was rendered on it
	own := machineRows{Blender: info.Version, Build: info.BuildHash, Device: kind + " " + name, Rows: sum}
	if err := own.Keep(e.WorkDir); err != nil {
		return Finding{"equal rows", Fail, err.Error(), "make the work folder writable"}
	}
	if e.Equal == Service {
		return e.compare(ctx, own, kind, name)
	}
	known, err := readRows(e.Equal)
	if err == nil && !slices.Contains(known, own) {
		err = addRows(e.Equal, own)
	}
	if err != nil {
		return Finding{"equal rows", Fail, err.Error(), "name a file that this user may read and write with --equal"}
	}
	return judgeRows(own, known)
}

// compare compares the rows of this machine with the service's.
func (e Examination) compare(ctx context.Context, own machineRows, kind, name string) Finding {
	if e.Farm == nil {
		return Finding{"equal rows", Fail, "there is nothing to compare with", "name the service and a node key with --server and --key, or a file with --equal"}
	}
	found, err := e.Farm.Reference(ctx, farmapi.ReferenceRequest{BlenderVersion: own.Blender, BlenderBuildHash: own.Build, Device: kind, DeviceName: name})
	if err != nil {
		return Finding{"equal rows", Fail, err.Error(), "check that --server is the address of svc, and that the service is not older than this program"}
	}
	return judgeReference(own, found)
}

// judgeReference compares the rows of this machine with those that the service knows of its kind.
func judgeReference(own machineRows, found farmapi.ReferenceReply) Finding {
	machines := fmt.Sprintf("%d machine", found.Machines)
	if found.Machines != 1 {
		machines += "s"
	}
	switch {
	case found.Machines == 0:
		return Finding{"equal rows", OK, "no reference yet: no " + own.Device + " with this Blender has sent its rows", "a worker that begins in this work folder sends its rows to the service"}
	case found.Rows == "":
		return Finding{"equal rows", Warn, "no reference: " + machines + " with a " + own.Device + " do not agree", "at least one of them is defective, or has another driver: run the doctor on each, and compare drivers and clocks"}
	case !seam.Agree(found.Rows, own.Rows):
		return Finding{"equal rows", Fail, "other pixels than the service's reference, of " + machines + " with a " + own.Device, "run it again; if it stays, this machine is defective or has another driver: compare drivers and clocks"}
	}
	return Finding{"equal rows", OK, "the same pixels as the service's reference, of " + machines, ""}
}

// judgeRows compares the rows of this machine with those that are known.
func judgeRows(own machineRows, known []machineRows) Finding {
	var same, others []string
	for _, k := range known {
		switch {
		case k.Blender != own.Blender || k.Build != own.Build:
		case seam.Agree(k.Rows, own.Rows):
			same = append(same, k.Device)
		case k.Device == own.Device:
			return Finding{"equal rows", Fail, "other pixels than another machine with a " + own.Device, "one of the two is defective, or has another driver: run both again, and compare drivers and clocks"}
		default:
			others = append(others, k.Device)
		}
	}
	switch {
	case len(same) > 0:
		return Finding{"equal rows", OK, "the same pixels as " + devices(same), ""}
	case len(others) > 0:
		return Finding{"equal rows", Warn, "other pixels than " + devices(others), "strips of one picture from both do not fit together: the service finds that and renders them again, which costs time"}
	}
	return Finding{"equal rows", OK, "no machine with this Blender was compared before", ""}
}

// devices names kinds of devices, each once.
func devices(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// readRows reads the file; a missing one has none.
func readRows(path string) (all []machineRows, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var one machineRows
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil || one.Rows == "" {
			return nil, fmt.Errorf("%s has a line that is not of a machine's rows", path)
		}
		all = append(all, one)
	}
	return all, lines.Err()
}

func addRows(path string, own machineRows) error {
	line, err := json.Marshal(own)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
