package outbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
)

func putFailure(t interface{ Fatal(...any) }, dir, lease string) *Box {
	o, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Put(Report{Fail: &farmapi.FailRequest{LeaseID: lease, Attempt: 2}}); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOutboxNamesFilesSafely(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putFailure(t, dir, "../../etc/passwd")
	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := again.Read(again.Next())
	if err != nil || r.Fail.LeaseID != "../../etc/passwd" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := again.Remove(again.Next()); err != nil || again.Next() != "" {
		t.Errorf("%v, next is %q", err, again.Next())
	}
}

func TestOutboxDropsWhatWasNotWrittenWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putFailure(t, dir, "L1")
	for _, name := range []string{"L2-1.image", "L3-1.part"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || again.Next() != "L1-2" {
		t.Errorf("%v, %v left, next %q", err, left, again.Next())
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"fail":{"lease_id":"L1","attempt":1}}`))
	f.Add([]byte(`{"frame":{"lease_id":"L1","frame":7}}`))
	f.Add([]byte(`{"frame":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "k.json"), body, 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := o.Read(o.Next()); err == nil {
			r.Lease() // must have someone to speak of
		}
	})
}

// A frame's outputs stay with its report over a restart, and go with it.
func TestOutboxKeepsOutputsWithTheirFrame(t *testing.T) {
	t.Parallel()
	dir, from := t.TempDir(), t.TempDir()
	o, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	lease := farmapi.Lease{LeaseID: "L1", Attempt: 1}
	moveIn := func(lease farmapi.Lease, content string) {
		t.Helper()
		f := blender.Frame{Path: filepath.Join(from, "picture"), OutputDir: filepath.Join(from, "outputs")}
		for _, err := range []error{
			os.WriteFile(f.Path, []byte("picture"), 0o600), os.Mkdir(f.OutputDir, 0o700), os.WriteFile(filepath.Join(f.OutputDir, "0"), []byte(content), 0o600),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := o.MoveIn(lease, f); err != nil {
			t.Fatal(err)
		}
	}
	moveIn(lease, "spoiled")
	moveIn(lease, "depth") // it is rendered again
	moveIn(farmapi.Lease{LeaseID: "L2", Attempt: 1}, "no report")
	outputs := []farmapi.Output{{Name: "z.exr", SizeBytes: 5}}
	if err := o.Put(Report{Frame: &farmapi.FrameResult{LeaseID: "L1", Attempt: 1, Outputs: outputs}}); err != nil {
		t.Fatal(err)
	}
	if o, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	files, err := o.Open(o.Next(), farmapi.FrameResult{SizeBytes: 7, Outputs: outputs})
	if err != nil || len(files.Outputs) != 1 {
		t.Fatalf("%d outputs, %v", len(files.Outputs), err)
	}
	defer files.Close()
	content, err := io.ReadAll(files.Outputs[0])
	if err != nil || string(content) != "depth" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := o.Open(o.Next(), farmapi.FrameResult{SizeBytes: 7, Outputs: []farmapi.Output{{SizeBytes: 6}}}); !errors.Is(err, ErrUnsendable) {
		t.Errorf("an output that is cut: %v", err)
	}
	if err := o.Remove(o.Next()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
