package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/programs"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

// TestMain lets scripts run svc as it is built, without the race detector of these tests: a
// program with it takes a second to start, and scripts start hundreds.
func TestMain(m *testing.M) {
	testscript.Main(withProgram{m}, map[string]func(){"person": person})
}

type withProgram struct{ tests *testing.M }

func (p withProgram) Run() int {
	path, err := programs.Build(programs.Svc)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.Setenv("PATH", filepath.Dir(path)+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return p.tests.Run()
}

// TestVerify runs the scripts in testdata/verify. Each shows what svc verify finds
// in files that were changed in one way.
func TestVerify(t *testing.T) {
	t.Parallel()
	testscript.Run(t, verifyScripts())
}

func verifyScripts() testscript.Params {
	return testscript.Params{
		Dir:       "testdata/verify",
		Condition: native,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"writeresult":  writeResult,
			"writerelease": writeRelease,
			"writekeys":    writeKeys,
			"flip":         flip,
			"exitcode":     exitCode,
		},
	}
}

// native answers the scripts' condition wine: they run this machine's own program, and not
// the one for Windows (wine_test.go).
func native(condition string) (bool, error) {
	if condition != "wine" {
		return false, fmt.Errorf("unknown condition %s", condition)
	}
	return false, nil
}

// writeResult FOLDER writes what svc render leaves for a job of three frames: the ZIP, the
// receipt, its proof and the key. It adds the frames, another key, and the proof and checkpoint
// of a log that differs in its last leaf, and the proof that the service gives once the other
// key signs. With a second FOLDER the scene is a project, whose files are put there, and
// job.json in the first one has its hash.
func writeResult(ts *testscript.TestScript, _ bool, args []string) {
	folder := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(folder, 0o755))
	job, err := receipttest.Complete(3)
	ts.Check(err)
	key, err := signingkey.New(strings.NewReader(strings.Repeat("k", 32)))
	ts.Check(err)
	other, err := signingkey.New(strings.NewReader(strings.Repeat("o", 32)))
	ts.Check(err)
	index := int64(2)
	job.Receipt.LogIndex = &index
	if len(args) > 1 {
		in := &job.Receipt.Input
		wood, err := digest.Of(strings.NewReader("wood"))
		ts.Check(err)
		*in = receipt.InputOf(in.File, []receipt.InputFile{
			{Path: in.Filename, SHA256: in.SHA256, SizeBytes: in.SizeBytes}, {Path: "wood.png", SHA256: wood, SizeBytes: 4},
		})
		project := ts.MkAbs(args[1])
		ts.Check(os.MkdirAll(project, 0o755))
		ts.Check(os.WriteFile(filepath.Join(project, in.Filename), []byte("scene"), 0o644))
		ts.Check(os.WriteFile(filepath.Join(project, "wood.png"), []byte("wood"), 0o644))
		ts.Check(os.WriteFile(filepath.Join(folder, proof.JobFile), jsonOf(ts, map[string]any{"state": "finished", "project_sha256": in.ProjectSHA256}), 0o644))
	}
	job.Receipt, err = receipt.WithFrameSet(job.Receipt, key)
	ts.Check(err)
	envelope, err := receipt.Sign(job.Receipt, key)
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Join(folder, "loose"), 0o755))
	for i, picture := range job.Pictures {
		ts.Check(os.WriteFile(filepath.Join(folder, "loose", job.Receipt.Frames[i].File), picture, 0o644))
	}
	leaves, err := receipttest.Leaves(envelope, index, 5)
	ts.Check(err)
	logged, err := receipttest.Prove(leaves, index, key)
	ts.Check(err)
	leaves[4][0] ^= 1
	fork, err := receipttest.Prove(leaves, index, key)
	ts.Check(err)
	leaves[4][0] ^= 1
	anew, err := receipttest.Prove(leaves, index, other)
	ts.Check(err)
	answer := `{"ok":true,"receipt":` + string(jsonOf(ts, job.Receipt)) + `,"envelope":` + string(envelope) + `}`
	for name, content := range map[string][]byte{
		"scene.zip": job.ZIP, "receipt.json": envelope, "answer.json": []byte(answer),
		proof.ProofFile: jsonOf(ts, logged), "checkpoint": []byte(logged.Checkpoint),
		"other-history": []byte(fork.Checkpoint), "other-proof.json": jsonOf(ts, fork), "new-proof.json": jsonOf(ts, anew),
		proof.KeyFile: publicPEM(ts, key), "other-key.pem": publicPEM(ts, other),
	} {
		ts.Check(os.WriteFile(filepath.Join(folder, name), content, 0o644))
	}
}

// writeKeys FILE SIZE REASON writes the history of keys of writeResult's service after its
// key ended at a size of the log, and the other key has signed since. With - for both, the
// key has not ended.
func writeKeys(ts *testscript.TestScript, _ bool, args []string) {
	var keys []map[string]any
	for _, letter := range []string{"o", "k"} {
		key, err := signingkey.New(strings.NewReader(strings.Repeat(letter, 32)))
		ts.Check(err)
		keys = append(keys, map[string]any{"key_id": key.Public().ID(), "public_key_pem": string(publicPEM(ts, key)), "valid_to": nil})
	}
	if args[1] != "-" {
		size, err := strconv.ParseInt(args[1], 10, 64)
		ts.Check(err)
		keys[1]["end_log_size"], keys[1]["end_reason"] = size, args[2]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), jsonOf(ts, map[string]any{"ok": true, "keys": keys}), 0o644))
}

func jsonOf(ts *testscript.TestScript, value any) []byte {
	var text bytes.Buffer
	ts.Check(terminal.PrintJSON(&text, value))
	return text.Bytes()
}

func publicPEM(ts *testscript.TestScript, key signingkey.Key) []byte {
	text, err := key.Public().PEM()
	ts.Check(err)
	return text
}

// flip FILE TEXT changes one bit of the file, 40 bytes after the first occurrence
// of the text.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	content, err := os.ReadFile(path)
	ts.Check(err)
	at := bytes.Index(content, []byte(args[1]))
	if at < 0 {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	content[at+len(args[1])+40] ^= 1
	ts.Check(os.WriteFile(path, content, 0o644))
}

// exitCode N COMMAND… runs a command that must exit with that code.
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%v ended with %s, wanted %s", args[1:], got, args[0])
	}
}
