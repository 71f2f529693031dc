package receipt_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

// project makes the receipt of a project of these files, of which shot.blend is rendered.
func project(t *testing.T, files fstest.MapFS) receipt.Receipt {
	t.Helper()
	job, err := receipttest.Complete(1)
	if err != nil {
		t.Fatal(err)
	}
	var all []receipt.InputFile
	for path, file := range files {
		all = append(all, receipt.InputFile{Path: path, SHA256: hashOf(t, file.Data), SizeBytes: int64(len(file.Data))})
	}
	main := files["shots/shot.blend"].Data
	job.Receipt.Input = receipt.InputOf(receipt.File{Filename: "shot.blend", SHA256: hashOf(t, main), SizeBytes: int64(len(main))}, all)
	return job.Receipt
}

func hashOf(t *testing.T, text []byte) string {
	t.Helper()
	sum, err := digest.Of(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func aProject() fstest.MapFS {
	return fstest.MapFS{
		"shots/shot.blend": {Data: []byte("shot")}, "tex/wood.png": {Data: []byte("wood")}, "tex/empty.png": {},
	}
}

func TestAReceiptNamesEveryFileOfAProject(t *testing.T) {
	t.Parallel()
	r := project(t, aProject())
	lines := hashOf(t, []byte("shot")) + "  shots/shot.blend\n" + hashOf(t, nil) + "  tex/empty.png\n" + hashOf(t, []byte("wood")) + "  tex/wood.png\n"
	if want := hashOf(t, []byte(lines)); r.Input.ProjectSHA256 != want {
		t.Errorf("the project is %s, sha256sum's lines are %s", r.Input.ProjectSHA256, want)
	}
	statement, err := receipt.Unseal(sign(t, r), []signingkey.Public{testKey(t, "a").Public()})
	if err != nil {
		t.Fatal(err)
	}
	var signed struct {
		Subject []struct{ Name string }
	}
	if err := json.Unmarshal(statement, &signed); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range signed.Subject {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "scene.zip shot.blend shots/shot.blend tex/empty.png tex/wood.png" {
		t.Errorf("the subjects are %s", got)
	}
}

func TestTheFilesOfAProjectGoTogether(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*receipt.Input){
		"a file is left out":         func(in *receipt.Input) { in.Files = in.Files[:2] },
		"a file is changed":          func(in *receipt.Input) { in.Files[1].SHA256 = strings.Repeat("0", 64) },
		"a file has another name":    func(in *receipt.Input) { in.Files[2].Path = "tex/wool.png" },
		"a file has no hash":         func(in *receipt.Input) { in.Files[2].SHA256 = "" },
		"a path leads elsewhere":     func(in *receipt.Input) { in.Files[0].Path = "../shot.blend" },
		"another order":              func(in *receipt.Input) { in.Files[0], in.Files[1] = in.Files[1], in.Files[0] },
		"the main file is not there": func(in *receipt.Input) { in.SHA256 = strings.Repeat("0", 64) },
		"the sum alone":              func(in *receipt.Input) { in.Files = nil },
		"the files alone":            func(in *receipt.Input) { in.ProjectSHA256 = "" },
	} {
		r := project(t, aProject())
		change(&r.Input)
		if _, err := receipt.Sign(r, testKey(t, "a")); err == nil {
			t.Errorf("%s: it is signed", name)
		}
	}
}

func TestAProjectIsHeldAgainstItsReceipt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		wrong  string
	}{
		"as it was":          {func(fstest.MapFS) {}, ""},
		"more files":         {func(dir fstest.MapFS) { dir["notes.txt"] = &fstest.MapFile{} }, ""},
		"a changed file":     {func(dir fstest.MapFS) { dir["tex/wood.png"] = &fstest.MapFile{Data: []byte("wool")} }, "tex/wood.png: its SHA-256 is"},
		"a longer file":      {func(dir fstest.MapFS) { dir["tex/empty.png"] = &fstest.MapFile{Data: []byte("x")} }, "tex/empty.png: it has 1 bytes, the receipt states 0"},
		"a missing file":     {func(dir fstest.MapFS) { delete(dir, "tex/wood.png") }, "tex/wood.png: it cannot be opened: file does not exist"},
		"a folder as a file": {func(dir fstest.MapFS) { dir["tex/wood.png"] = &fstest.MapFile{Mode: fs.ModeDir} }, "tex/wood.png: it is no file"},
	} {
		dir := aProject()
		r := project(t, dir)
		c.change(dir)
		report := receipt.Verify(sign(t, r), []signingkey.Public{testKey(t, "a").Public()}, nil)
		report.InProject(dir)
		last := report.Checks[len(report.Checks)-1]
		if last.Name != "project" || (last.Status == receipt.OK) != (c.wrong == "") || !strings.HasPrefix(last.Text, c.wrong) {
			t.Errorf("%s: %+v", name, last)
		}
		if err := report.Err(); (c.wrong != "") != errors.Is(err, receipt.ErrBadArtifact) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The hash of what was sent tells whether it was rendered, without the files.
func TestAProjectIsHeldAgainstWhatWasSent(t *testing.T) {
	t.Parallel()
	keys := []signingkey.Public{testKey(t, "a").Public()}
	r := project(t, aProject())
	for sent, want := range map[string]receipt.Status{r.Input.ProjectSHA256: receipt.OK, strings.Repeat("0", 64): receipt.Failed} {
		report := receipt.Verify(sign(t, r), keys, nil)
		report.AsSent(sent)
		if last := report.Checks[len(report.Checks)-1]; last.Name != "project" || last.Status != want {
			t.Errorf("%s was sent: %+v", sent, last)
		}
		if err := report.Err(); (want == receipt.Failed) != errors.Is(err, receipt.ErrBadArtifact) {
			t.Errorf("%s was sent: %v", sent, err)
		}
	}
}

func TestABlendAloneIsHeldAgainstItsReceipt(t *testing.T) {
	t.Parallel()
	job, envelope, keys := complete(t, 1)
	alone := receipt.Verify(envelope, keys, nil)
	alone.InProject(fstest.MapFS{job.Receipt.Input.Filename: {Data: []byte("scene")}})
	if last := alone.Checks[len(alone.Checks)-1]; last.Status != receipt.OK {
		t.Errorf("a .blend alone in its folder: %+v", last)
	}
}
