package selfcheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/work/farmapi"
)

// rowsOf is what a machine rendered.
func rowsOf(blender, build, device, rows string) machineRows {
	return machineRows{Blender: blender, Build: build, Device: device, Rows: rows}
}

// Equal machines give equal rows. Machines of another kind may give others; one of the same kind
// may not.
func TestRowsTellEqualMachinesFromOthers(t *testing.T) {
	t.Parallel()
	own := rowsOf("4.1.1", "abc", "CPU EPYC", "11")
	for _, c := range []struct {
		name  string
		known []machineRows
		want  Verdict
		found string
	}{
		{"nothing is known", nil, OK, "no machine with this Blender was compared before"},
		{"itself", []machineRows{own}, OK, "the same pixels as CPU EPYC"},
		{"another device that agrees", []machineRows{rowsOf("4.1.1", "abc", "CPU Xeon", "11")}, OK, "the same pixels as CPU Xeon"},
		{"another device that does not", []machineRows{rowsOf("4.1.1", "abc", "GPU H100", "22"), rowsOf("4.1.1", "abc", "GPU A100", "33")}, Warn, "other pixels than GPU A100, GPU H100"},
		{"the same device with other rows", []machineRows{own, rowsOf("4.1.1", "abc", "CPU EPYC", "22")}, Fail, "other pixels than another machine with a CPU EPYC"},
		{"another Blender", []machineRows{rowsOf("4.1.0", "abc", "CPU EPYC", "22"), rowsOf("4.1.1", "def", "CPU EPYC", "22")}, OK, "no machine with this Blender was compared before"},
	} {
		if got := judgeRows(own, c.known); got.Verdict != c.want || got.Found != c.found || (got.Do == "") != (c.want == OK) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// A machine whose pixels are not the service's reference fails before it touches a job.
func TestRowsAreComparedWithTheServices(t *testing.T) {
	t.Parallel()
	own := rowsOf("4.1.1", "abc", "CPU EPYC", "11")
	for _, c := range []struct {
		known farmapi.ReferenceReply
		want  Verdict
		found string
	}{
		{farmapi.ReferenceReply{}, OK, "no reference yet"},
		{farmapi.ReferenceReply{Rows: "11", Machines: 1}, OK, "the same pixels as the service's reference, of 1 machine"},
		{farmapi.ReferenceReply{Rows: "22", Machines: 3}, Fail, "other pixels than the service's reference, of 3 machines with a CPU EPYC"},
		{farmapi.ReferenceReply{Machines: 2}, Warn, "2 machines with a CPU EPYC do not agree"},
	} {
		if got := judgeReference(own, c.known); got.Verdict != c.want || !strings.Contains(got.Found, c.found) || (got.Do == "") != (c.want == OK && c.known.Machines > 0) {
			t.Errorf("%+v: %+v", c.known, got)
		}
	}
	if got := (Examination{Equal: Service}).compare(t.Context(), own, "CPU", "EPYC"); got.Verdict != Fail || !strings.Contains(got.Do, "--server and --key") {
		t.Errorf("without a service: %+v", got)
	}
}

func TestRowsAreKeptForTheNextMachine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rows")
	one, two := rowsOf("4.1.1", "abc", "CPU EPYC", "11"), rowsOf("4.1.1", "abc", "GPU H100", "22")
	for i, r := range []machineRows{one, two} {
		known, err := readRows(path)
		if err != nil || len(known) != i {
			t.Fatalf("%v, %v", known, err)
		}
		if err := addRows(path, r); err != nil {
			t.Fatal(err)
		}
	}
	if known, err := readRows(path); err != nil || len(known) != 2 || known[0] != one || known[1] != two {
		t.Errorf("%v, %v", known, err)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readRows(path); err == nil {
		t.Error("a file of something else is read")
	}
}
