package receipt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/await"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

// judged is a document with the other inputs of a verifier. Ended is where in the log the
// key ended, nil if it has not.
type judged struct {
	name    string
	Receipt []byte           `json:"receipt"`
	Keys    []map[string]any `json:"keys"`
	ZIP     []byte           `json:"zip,omitempty"`
	Proof   []byte           `json:"proof,omitempty"`
	Pinned  string           `json:"checkpoint,omitempty"`
	Test    bool             `json:"test,omitempty"` // receipts of test mode are taken
	Origins [][]byte         `json:"origins,omitempty"`
}

// verdict is the name of the check that fails first in this package's verifier; "" when
// none does.
func (c judged) verdict(t *testing.T) string {
	t.Helper()
	listed, err := json.Marshal(map[string]any{"keys": c.Keys})
	if err != nil {
		t.Fatal(err)
	}
	history, err := receipt.ParseHistory(listed)
	if err != nil {
		t.Fatal(err)
	}
	var artifact receipt.Artifact
	if c.ZIP != nil {
		artifact = bytes.NewReader(c.ZIP)
	}
	report := receipt.Verify(c.Receipt, history.Keys(), artifact)
	var proof *receipt.Inclusion
	if c.Proof != nil {
		proof = new(receipt.Inclusion)
		if err := json.Unmarshal(c.Proof, proof); err != nil {
			t.Fatal(err)
		}
	}
	var pinned []byte
	if c.Pinned != "" {
		pinned = []byte(c.Pinned)
	}
	if c.Test {
		report.TakeTest()
	}
	report.InLog(proof, history.Keys(), pinned)
	report.InTime(history, proof)
	report.FromOrigins(c.Origins, history.Keys())
	for _, check := range report.Checks {
		if check.Status == receipt.Failed {
			return check.Name
		}
	}
	return ""
}

// published is a key as /v1/signing-keys lists it.
func published(t *testing.T, key signingkey.Key, end map[string]any) map[string]any {
	t.Helper()
	pem, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	entry := map[string]any{"key_id": key.Public().ID(), "public_key_pem": string(pem)}
	for name, value := range end {
		entry[name] = value
	}
	return entry
}

// honest is a job of n frames, leaf index of a log of size leaves, with its proof.
func honest(t *testing.T, n int, index, size int64, change func(*receipttest.Job)) judged {
	t.Helper()
	key := testKey(t, "a")
	job, err := receipttest.Complete(n)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&job)
	}
	job.Receipt.LogIndex = &index
	if job.Receipt, err = receipt.WithFrameSet(job.Receipt, key); err != nil {
		t.Fatal(err)
	}
	envelope := sign(t, job.Receipt)
	leaves, err := receipttest.Leaves(envelope, index, size)
	if err != nil {
		t.Fatal(err)
	}
	inclusion, err := receipttest.Prove(leaves, index, key)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := json.Marshal(inclusion)
	if err != nil {
		t.Fatal(err)
	}
	return judged{name: fmt.Sprintf("%d frames, leaf %d of %d", n, index, size), Receipt: envelope,
		Keys: []map[string]any{published(t, key, nil)}, ZIP: job.ZIP, Proof: proof, Pinned: inclusion.Checkpoint}
}

// flipped are the documents with one byte of what part points at changed, every step bytes.
func flipped(c judged, what string, step int, part func(*judged) *[]byte) (cases []judged) {
	for at := 0; at < len(*part(&c)); at += step {
		changed := c
		bytes := bytes.Clone(*part(&c))
		bytes[at] ^= 0x04
		*part(&changed) = bytes
		changed.name = fmt.Sprintf("byte %d of the %s", at, what)
		cases = append(cases, changed)
	}
	return cases
}

// forgeries are documents that are honest, and documents that lie in many ways.
func forgeries(t *testing.T) (cases []judged) {
	t.Helper()
	for size := int64(1); size <= 6; size++ {
		for index := range size {
			cases = append(cases, honest(t, int(size), index, size, nil))
		}
	}
	base := honest(t, 3, 5, 11, nil)
	cases = append(cases, flipped(base, "envelope", 91, func(c *judged) *[]byte { return &c.Receipt })...)
	cases = append(cases, flipped(base, "ZIP", 83, func(c *judged) *[]byte { return &c.ZIP })...)
	for name, change := range map[string]func(*judged){
		"no ZIP":                   func(c *judged) { c.ZIP = nil },
		"a ZIP that was cut":       func(c *judged) { c.ZIP = c.ZIP[:len(c.ZIP)-1] },
		"the ZIP of another job":   func(c *judged) { c.ZIP = honest(t, 2, 0, 1, nil).ZIP },
		"no proof":                 func(c *judged) { c.Proof = nil },
		"the proof of another":     func(c *judged) { c.Proof = honest(t, 2, 5, 11, nil).Proof },
		"the proof of a neighbour": func(c *judged) { c.Proof = honest(t, 3, 4, 11, nil).Proof },
		"a second history":         func(c *judged) { c.Pinned = honest(t, 2, 5, 11, nil).Pinned },
		"another key":              func(c *judged) { c.Keys = []map[string]any{published(t, testKey(t, "b"), nil)} },
		"a key that ended before": func(c *judged) {
			c.Keys = []map[string]any{published(t, testKey(t, "a"), map[string]any{"end_reason": "superseded", "end_log_size": 5})}
		},
		"a key that ended after": func(c *judged) {
			c.Keys = []map[string]any{published(t, testKey(t, "a"), map[string]any{"end_reason": "superseded", "end_log_size": 11})}
		},
		"a key that was stolen": func(c *judged) {
			c.Keys = []map[string]any{published(t, testKey(t, "a"), map[string]any{"end_reason": "compromised", "end_log_size": 6})}
		},
		"an ended key without a proof": func(c *judged) {
			c.Proof, c.Pinned = nil, ""
			c.Keys = []map[string]any{published(t, testKey(t, "a"), map[string]any{"end_reason": "superseded", "end_log_size": 11})}
		},
		"an answer":               func(c *judged) { c.Receipt = answerOf(t, c.Receipt, `"charged_cents":3`) },
		"an answer that lies":     func(c *judged) { c.Receipt = answerOf(t, c.Receipt, `"charged_cents":1`) },
		"an answer with true":     func(c *judged) { c.Receipt = answerOf(t, c.Receipt, `"charged_cents":true`) },
		"a member twice":          func(c *judged) { c.Receipt = append([]byte(`{"payload":"e30=",`), c.Receipt[1:]...) },
		"a member more":           func(c *judged) { c.Receipt = append([]byte(`{"more":"e30=",`), c.Receipt[1:]...) },
		"no JSON":                 func(c *judged) { c.Receipt = []byte("receipt") },
		"a list":                  func(c *judged) { c.Receipt = []byte("[]") },
		"a path with a hash more": func(c *judged) { c.Proof = pathOf(t, c.Proof, func(p []string) []string { return append(p, p[0]) }) },
		"a path with one less":    func(c *judged) { c.Proof = pathOf(t, c.Proof, func(p []string) []string { return p[:len(p)-1] }) },
		"a checkpoint with more":  func(c *judged) { c.Proof = bytes.ReplaceAll(c.Proof, []byte(`log\n11\n`), []byte(`log\n12\n`)) },
	} {
		changed := base
		changed.name = name
		change(&changed)
		cases = append(cases, changed)
	}
	for name, change := range map[string]func(*receipttest.Job){
		"a file more in the ZIP":   func(j *receipttest.Job) { pack(t, j, "more.txt") },
		"a frame twice in the ZIP": func(j *receipttest.Job) { pack(t, j, "output/frame_0001.png") },
		"a compressed ZIP":         func(j *receipttest.Job) { j.Method = 8; pack(t, j) },
		"frames that changed places": func(j *receipttest.Job) {
			j.Pictures[0], j.Pictures[1] = j.Pictures[1], j.Pictures[0]
			pack(t, j)
		},
		"a pixel hash that lies":         func(j *receipttest.Job) { pixelsLie(j, 1); pack(t, j) },
		"a receipt of test mode":         func(j *receipttest.Job) { j.Receipt.Test = true },
		"a manifest that lies":           func(j *receipttest.Job) { j.Manifest.JobID = "JOB-2"; pack(t, j) },
		"outputs":                        func(j *receipttest.Job) { outputs(t, j) },
		"an output that differs":         func(j *receipttest.Job) { outputs(t, j); j.Outputs[1].Content = []byte("bares"); pack(t, j) },
		"an output that is cut":          func(j *receipttest.Job) { outputs(t, j); j.Outputs[0].Content = []byte("d"); pack(t, j) },
		"an output less in the ZIP":      func(j *receipttest.Job) { outputs(t, j); j.Outputs = j.Outputs[1:]; pack(t, j) },
		"an output less in the manifest": func(j *receipttest.Job) { outputs(t, j); j.Manifest.Frames[0].Outputs = nil; pack(t, j) },
		"a manifest with fewer":          func(j *receipttest.Job) { j.Manifest.Frames = j.Manifest.Frames[1:]; pack(t, j) },
	} {
		changed := honest(t, 3, 5, 11, change)
		changed.name = name
		cases = append(cases, changed)
		changed.name, changed.Test = name+", which may be of test mode", true
		cases = append(cases, changed)
	}
	for to, name := range map[string]string{`"../../x1.exr"`: "an output outside of the ZIP", `"deep/x1.exr"`: "two outputs of one name", `""`: "an output without a name"} {
		changed := honest(t, 3, 5, 11, func(j *receipttest.Job) { outputs(t, j) })
		changed.name, changed.Receipt = name, retyped(t, changed.Receipt, `"bare/x1.exr"`, to)
		cases = append(cases, changed)
	}
	for from, to := range map[string]string{receipt.PredicateType: receipt.TestPredicateType, receipt.TestPredicateType: receipt.PredicateType} {
		changed := honest(t, 3, 5, 11, func(j *receipttest.Job) { j.Receipt.Test = from == receipt.TestPredicateType })
		changed.name, changed.Test = "the type of the other mode for "+from, true
		changed.Receipt = retyped(t, changed.Receipt, from, to)
		cases = append(cases, changed)
	}
	return slices.Concat(cases, pictures(t), partsAndOrigins(t))
}

// retyped is an envelope whose content is signed again under another type.
func retyped(t *testing.T, envelope []byte, from, to string) []byte {
	t.Helper()
	key := testKey(t, "a")
	payload, err := receipt.Unseal(envelope, []signingkey.Public{key.Public()})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(payload, []byte(from)) {
		t.Fatalf("the receipt has no %s", from)
	}
	sealed, err := receipt.Seal(bytes.Replace(payload, []byte(from), []byte(to), 1), key)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// outputs gives two frames outputs.
func outputs(t *testing.T, j *receipttest.Job) {
	t.Helper()
	j.AddOutput(0, "deep/x1.exr", "depth")
	j.AddOutput(0, "bare/x1.exr", "bare1")
	j.AddOutput(2, "x3.png", "third")
	pack(t, j)
}

func pack(t *testing.T, j *receipttest.Job, more ...string) {
	t.Helper()
	if err := j.Pack(more...); err != nil {
		t.Fatal(err)
	}
}

// answerOf is the body of a receipt's answer with one plain member written otherwise.
func answerOf(t *testing.T, envelope []byte, charged string) []byte {
	t.Helper()
	opened, err := receipt.Open(envelope, []signingkey.Public{testKey(t, "a").Public()})
	if err != nil {
		t.Fatal(err)
	}
	members, err := json.Marshal(opened)
	if err != nil {
		t.Fatal(err)
	}
	members = bytes.Replace(members, []byte(`"charged_cents":3`), []byte(charged), 1)
	return fmt.Appendf(nil, `{"ok":true,"receipt":%s,"envelope":%s}`, members, envelope)
}

func pathOf(t *testing.T, proof []byte, change func([]string) []string) []byte {
	t.Helper()
	var p receipt.Inclusion
	if err := json.Unmarshal(proof, &p); err != nil {
		t.Fatal(err)
	}
	p.InclusionProof = change(p.InclusionProof)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// verifiers are the SDKs' programs that judge a file of cases: folder of the SDK, command.
var verifiers = map[string][]string{
	"python":     {"python3", "tests/verify_cases.py"},
	"typescript": {"../../.tools/npm/node_modules/.bin/node", "tests/verify_cases.mjs"},
}

func TestTheSDKsJudgeReceiptsAsThisPackageDoes(t *testing.T) {
	t.Parallel()
	cases := forgeries(t)
	var lines bytes.Buffer
	writer := json.NewEncoder(&lines)
	verdicts := make([]string, len(cases))
	for i, c := range cases {
		if err := writer.Encode(c); err != nil {
			t.Fatal(err)
		}
		verdicts[i] = c.verdict(t)
	}
	// Every check fails somewhere, or the comparison says little.
	for _, check := range []string{"", "test", "signature", "statement", "members", "artifact", "contents", "frames", "pixels", "outputs", "manifest", "log", "key", "reused"} {
		if !slices.Contains(verdicts, check) {
			t.Errorf("no case fails first at %q", check)
		}
	}
	path := filepath.Join(t.TempDir(), "cases.jsonl")
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for language, program := range verifiers {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			judged := judgedBy(t, language, append(program, path))
			if len(judged) != len(cases) {
				t.Fatalf("it judged %d of %d", len(judged), len(cases))
			}
			for i, c := range cases {
				if judged[i] != verdicts[i] {
					t.Errorf("%s: its first failure is %q, want %q", c.name, judged[i], verdicts[i])
				}
			}
		})
	}
}

// judgedBy runs a command in the folder of an SDK and returns the lines that it prints.
func judgedBy(t *testing.T, language string, arguments []string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	folder, err := filepath.Abs("../../../sdk/" + language)
	if err != nil {
		t.Fatal(err)
	}
	program := arguments[0]
	if strings.Contains(program, "/") {
		program = filepath.Join(folder, program)
	}
	command := exec.CommandContext(ctx, program, arguments[1:]...)
	command.Dir, command.Env = folder, append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &complaint)
	}
	return strings.Split(strings.TrimSuffix(string(output), "\n"), "\n")
}
