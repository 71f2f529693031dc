package caller

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
)

// ordered writes what a command that was killed right before its start leaves in a
// folder.
func ordered(t *testing.T, d *fakeService, o Options, change func(*jobFile)) *jobFile {
	t.Helper()
	j := &jobFile{
		State: stateOrdered, Server: d.URL, UploadID: "UPL-1", QuoteID: "QTE-1", InputSHA256: d.job.Receipt.Input.SHA256,
		FrameStart: 1, FrameEnd: 3, FrameStep: 1, FrameCount: 3, PriceCents: 3, Currency: "USD", folder: o.Folder,
	}
	change(j)
	if err := j.create(); err != nil {
		t.Fatal(err)
	}
	return j
}

// neverAsked is an Accept for commands that must not spend.
func neverAsked(t *testing.T) func(context.Context, Offer) error {
	return func(context.Context, Offer) error {
		t.Error("a price was asked for")
		return errDeclined
	}
}

func TestTheSameCommandGoesOnWithTheSameJob(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*jobFile){
		"killed before the answer to the start": func(*jobFile) {},
		"killed after it":                       func(j *jobFile) { j.State, j.JobID = stateStarted, "JOB-1" },
		"killed with everything fetched": func(j *jobFile) {
			j.State, j.JobID = stateStarted, "JOB-1"
			if err := errors.Join(os.MkdirAll(j.folder, 0o755), os.WriteFile(filepath.Join(j.folder, "frame_0001.png.part"), []byte("half"), 0o644)); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startFakeService(t)
			o, seen := d.options(t)
			o.Accept = neverAsked(t)
			j := ordered(t, d, o, change)
			starts := int64(0) // the same quote again
			if j.State == stateOrdered {
				starts = 1
			}
			result, err := Run(t.Context(), o)
			if err != nil || len(result.Frames) != 3 || !result.Resumed || d.started.Load() != starts || d.inspected.Load() != 0 {
				t.Errorf("%d starts, %d uploads, result %+v, error %v", d.started.Load(), d.inspected.Load(), result, err)
			}
			if !strings.Contains(seen.String(), "continuing") || !strings.Contains(seen.String(), "you do not pay twice") {
				t.Errorf("seen:\n%s", seen)
			}
		})
	}
}

func TestAFinishedRenderIsNotPaidAgainUnlessAsked(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, seen := d.options(t)
	first, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	// The second one needs no service.
	o.Accept = neverAsked(t)
	d.Close()
	if o.Client, err = client.New(d.URL, "svc_agent_test", client.WithAttempts(1)); err != nil {
		t.Fatal(err)
	}
	second, err := Run(t.Context(), o)
	if err != nil || second.ReceiptID != first.ReceiptID || len(second.Frames) != 3 || second.ZIP != first.ZIP || second.ElapsedSeconds != first.ElapsedSeconds {
		t.Errorf("result %+v, error %v", second, err)
	}
	for _, want := range []string{"already rendered: JOB-1", "--again"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, seen)
		}
	}
}

func TestALostFrameOfAFinishedRenderIsUnpackedAgain(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	result, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(result.Frames[1]); err != nil {
		t.Fatal(err)
	}
	o.Accept = neverAsked(t)
	if _, err := Run(t.Context(), o); err != nil || d.started.Load() != 1 {
		t.Errorf("%d started, error %v", d.started.Load(), err)
	}
	if got, err := os.ReadFile(result.Frames[1]); err != nil || !bytes.Equal(got, d.job.Pictures[1]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestAnotherJobNeverWritesOverAFolder(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(t *testing.T, d *fakeService, o *Options){
		"another file's": func(t *testing.T, d *fakeService, o *Options) {
			ordered(t, d, *o, func(j *jobFile) { j.InputSHA256, j.State, j.JobID = "other", stateFinished, "JOB-0" })
		},
		"other frames": func(t *testing.T, d *fakeService, o *Options) {
			ordered(t, d, *o, func(j *jobFile) { j.Frames, j.State, j.JobID = "7", stateStarted, "JOB-0" })
		},
		"another service's": func(t *testing.T, d *fakeService, o *Options) {
			ordered(t, d, *o, func(j *jobFile) { j.Server, j.State, j.JobID = "http://other", stateStarted, "JOB-0" })
		},
		"the same once more": func(t *testing.T, d *fakeService, o *Options) {
			ordered(t, d, *o, func(j *jobFile) { j.State, j.JobID = stateFinished, "JOB-0" })
			o.Again = true
		},
		"of a version without job.json": func(t *testing.T, _ *fakeService, o *Options) {
			if err := errors.Join(os.MkdirAll(o.Folder, 0o755), os.WriteFile(filepath.Join(o.Folder, "receipt.json"), []byte("paid"), 0o644)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startFakeService(t)
			o, seen := d.options(t)
			fill(t, d, &o)
			before := contents(t, o.Folder)
			result, err := Run(t.Context(), o)
			if err != nil || result.Folder != filepath.Join(o.Folder, "JOB-1") || len(result.Frames) != 3 {
				t.Fatalf("result %+v, error %v", result, err)
			}
			for path, text := range before {
				if got, err := os.ReadFile(path); err != nil || string(got) != text {
					t.Errorf("%s was changed: %v", path, err)
				}
			}
			if !strings.Contains(seen.String(), "a subfolder") {
				t.Errorf("seen:\n%s", seen)
			}
			// And the same command again finds it there.
			o.Accept, o.Again = neverAsked(t), false
			if name == "the same once more" {
				return // there are two of them now
			}
			if again, err := Run(t.Context(), o); err != nil || again.Folder != result.Folder || d.started.Load() != 1 {
				t.Errorf("result %+v, error %v", again, err)
			}
		})
	}
}

// contents reads all files of a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			text, readErr := os.ReadFile(path)
			all[path], err = string(text), readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestARefusedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.refusal = `{"error":{"code":"insufficient_funds","message":"no money"}}`
	o, _ := d.options(t)
	result, err := Run(t.Context(), o)
	if result.JobID != "" || err == nil || !strings.Contains(err.Error(), "insufficient_funds") {
		t.Fatalf("result %+v, error %v", result, err)
	}
	if _, err := os.Stat(o.Folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

func TestAnOrderOfAnotherKeyIsNotOrderedAnewInSilence(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.refusal = `{"error":{"code":"upload_not_found","message":"no such upload"}}`
	o, _ := d.options(t)
	o.Accept = neverAsked(t)
	ordered(t, d, o, func(*jobFile) {})
	_, err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "this key does not know the order in") || !strings.Contains(err.Error(), "--again") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(o.Folder, proof.JobFile)); err != nil {
		t.Error(err)
	}
}

func TestAnExpiredQuoteThatLedToNoJobIsAskedForAnew(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.expired = 1
	o, seen := d.options(t)
	asked := 0
	o.Accept = func(context.Context, Offer) error { asked++; return nil }
	ordered(t, d, o, func(*jobFile) {})
	result, err := Run(t.Context(), o)
	if err != nil || len(result.Frames) != 3 || asked != 1 || !strings.Contains(seen.String(), "here is a new one") {
		t.Errorf("asked %d times, result %+v, error %v, seen:\n%s", asked, result, err, seen)
	}
}

func TestMissingFilesAreNamedAndNeedAWord(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.inspect["scene"] = map[string]any{"name": "Scene", "missing_files": []any{
		map[string]any{"kind": "image", "path": "//tex/wood.png", "owner": "Floor"}, map[string]any{"kind": "library", "path": "//lib/\x1b[2Jtree.blend", "owner": "Tree"},
	}}
	d.inspect["warnings"] = []any{
		map[string]any{"code": "missing_files", "severity": "picture", "message": "2 files are missing", "suggested_action": "Pack them."},
		map[string]any{"code": "frame_zero_skipped", "severity": "result", "message": "frame 0"},
	}
	o, seen := d.options(t)
	accept := o.Accept
	o.Accept = neverAsked(t)
	result, err := Run(t.Context(), o)
	exit, ok := errors.AsType[*terminal.ExitError](explain(t.Context(), d.URL, result, err))
	if !ok || exit.ExitCode() != terminal.ExitMissingFiles || d.started.Load() != 0 || !strings.Contains(err.Error(), "--allow-missing") {
		t.Errorf("error %v", err)
	}
	at := -1
	for _, want := range []string{"price", "missing  image //tex/wood.png, used by Floor\n", `missing  library //lib/\x1b[2Jtree.blend, used by Tree`, "2 files are missing", "Pack them.", "frame 0"} {
		next := strings.Index(seen.String(), want)
		if next <= at {
			t.Errorf("%q is missing, or not in its place:\n%s", want, seen)
		}
		at = next
	}
	o.Accept, o.AllowMissing = accept, true
	if _, err := Run(t.Context(), o); err != nil {
		t.Error(err)
	}
}

func TestTwoCommandsDoNotWorkOnOneFolder(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	ordered(t, d, o, func(j *jobFile) { j.State, j.JobID = stateStarted, "JOB-1" })
	unlock, err := lock(o.Folder, "job")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another svc render is using") {
		t.Errorf("error %v", err)
	}
	unlock()
	if _, err := Run(t.Context(), o); err != nil {
		t.Error(err)
	}
}

func TestTheSameOrderedMeanwhileIsNotPaidTwice(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	o.Accept = func(context.Context, Offer) error { // the other one is quicker
		ordered(t, d, o, func(j *jobFile) { j.State, j.JobID = stateStarted, "JOB-1" })
		return nil
	}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "has just ordered") || d.started.Load() != 0 {
		t.Errorf("%d started, error %v", d.started.Load(), err)
	}
}

func TestAJobThatEndedWithoutAResultFreesItsFolder(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	ordered(t, d, o, func(j *jobFile) { j.State, j.JobID = stateEnded, "JOB-0" })
	result, err := Run(t.Context(), o)
	if err != nil || result.Folder != o.Folder || result.Resumed {
		t.Errorf("result %+v, error %v", result, err)
	}
}

func TestAJobFollowedByItsNameHasAFolderOfItsOwn(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	ordered(t, d, o, func(j *jobFile) { j.JobID, j.State, j.InputSHA256 = "JOB-0", stateFinished, "other" })
	o.File, o.JobID = "", "JOB-1"
	result, err := Run(t.Context(), o)
	if err != nil || result.Folder != filepath.Join(o.Folder, "JOB-1") {
		t.Fatalf("result %+v, error %v", result, err)
	}
	if found, err := (&proof.Verify{Receipt: result.Receipt}).Check(); err != nil || found.JobID != "JOB-1" {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestAFolderThatDescribesNoJobIsRefused(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	o, _ := d.options(t)
	if err := errors.Join(os.MkdirAll(o.Folder, 0o755), os.WriteFile(filepath.Join(o.Folder, proof.JobFile), []byte(`{"name": "mine"}`), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "does not describe a job") || d.inspected.Load() != 0 {
		t.Errorf("error %v", err)
	}
}
