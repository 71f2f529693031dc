package receipt_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"pgregory.net/rapid"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

func testKey(t testing.TB, letter string) signingkey.Key {
	t.Helper()
	key, err := signingkey.New(strings.NewReader(strings.Repeat(letter, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// complete gives a job of n frames and its envelope.
func complete(t testing.TB, n int) (receipttest.Job, json.RawMessage, []signingkey.Public) {
	t.Helper()
	job, err := receipttest.Complete(n)
	if err != nil {
		t.Fatal(err)
	}
	return job, sign(t, job.Receipt), []signingkey.Public{testKey(t, "a").Public()}
}

func sign(t testing.TB, r receipt.Receipt) json.RawMessage {
	t.Helper()
	envelope, err := receipt.Sign(r, testKey(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	return envelope
}

// failed names the checks of a report that failed.
func failed(report receipt.Report) (names []string) {
	for _, check := range report.Checks {
		if check.Status == receipt.Failed {
			names = append(names, check.Name)
		}
	}
	return names
}

func TestReportUsesTheSingularForOneFrame(t *testing.T) {
	t.Parallel()
	job, envelope, keys := complete(t, 1)
	for _, check := range receipt.Verify(envelope, keys, bytes.NewReader(job.ZIP)).Checks {
		if strings.Contains(check.Text, "1 frames") || strings.Contains(check.Text, "1 cents") {
			t.Errorf("%s: %s", check.Name, check.Text)
		}
	}
}

func TestHonestJobPassesEveryCheck(t *testing.T) {
	t.Parallel()
	job, envelope, keys := complete(t, 3)
	report := receipt.Verify(envelope, keys, bytes.NewReader(job.ZIP))
	var names []string
	for _, check := range report.Checks {
		names = append(names, check.Name)
		if check.Status != receipt.OK {
			t.Errorf("%s: %s: %s", check.Name, check.Status, check.Text)
		}
	}
	if got := strings.Join(names, " "); got != "signature statement artifact contents frames pixels manifest" {
		t.Errorf("checks made: %s", got)
	}
	if err := report.Err(); err != nil || report.Receipt.JobID != "JOB-1" {
		t.Errorf("receipt %+v, error %v", report.Receipt, err)
	}
}

func TestReceiptWithoutArtifactSkipsTheArtifactCheck(t *testing.T) {
	t.Parallel()
	_, envelope, keys := complete(t, 1)
	report := receipt.Verify(envelope, keys, nil)
	last := report.Checks[len(report.Checks)-1]
	if report.Err() != nil || last.Name != "artifact" || last.Status != receipt.Skipped {
		t.Errorf("the last check is %+v, error %v", last, report.Err())
	}
}

// anyReceipt draws receipts of every shape that is allowed.
func anyReceipt(t *rapid.T) receipt.Receipt {
	text := rapid.String()
	hash := rapid.StringMatching(`[0-9a-f]{64}`)
	size := rapid.Int64Min(0)
	file := func(name string) receipt.File {
		return receipt.File{Filename: text.Draw(t, name), SHA256: hash.Draw(t, name), SizeBytes: size.Draw(t, name)}
	}
	moment := func(name string) time.Time {
		zone := time.FixedZone("", 3600*rapid.IntRange(-12, 12).Draw(t, name))
		return time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, name)).In(zone)
	}
	main := file("input")
	files := []receipt.InputFile{{Path: "scene.blend", SHA256: main.SHA256, SizeBytes: main.SizeBytes}}
	for i := range rapid.IntRange(0, 3).Draw(t, "files") {
		files = append(files, receipt.InputFile{Path: fmt.Sprintf("tex/%d.png", i), SHA256: hash.Draw(t, "file"), SizeBytes: size.Draw(t, "file size")})
	}
	r := receipt.Receipt{
		ReceiptID: text.Draw(t, "receipt"), JobID: text.Draw(t, "job"), Input: receipt.InputOf(main, files), Artifact: file("artifact"),
		FrameStart: rapid.IntRange(1, 100).Draw(t, "start"), FrameStep: rapid.IntRange(1, 5).Draw(t, "step"),
		FrameCount: rapid.IntRange(1, 4).Draw(t, "count"), DeviceName: text.Draw(t, "device"),
		Switched: rapid.SliceOf(text).Draw(t, "switched"), RenderSeconds: rapid.Float64().Draw(t, "seconds"),
		ChargedCents: rapid.Int64().Draw(t, "cents"), StartedAt: moment("started"), CompletedAt: moment("completed"),
		LogIndex: rapid.Ptr(rapid.Int64(), true).Draw(t, "log index"),
	}
	r.FrameEnd = r.FrameStart + r.FrameCount*r.FrameStep - 1
	for i := range r.FrameCount {
		r.Frames = append(r.Frames, receipt.Frame{Frame: r.FrameStart + i*r.FrameStep, File: string(rune('a' + i)),
			SHA256: hash.Draw(t, "frame"), PixelSHA256: hash.Draw(t, "pixels"), SizeBytes: size.Draw(t, "bytes"), Strips: anyStrips(t)})
	}
	return r
}

func TestSignedReceiptIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	key := testKey(t, "a")
	rapid.Check(t, func(t *rapid.T) {
		r := anyReceipt(t)
		first, err := receipt.Sign(r, key)
		if err != nil {
			t.Fatal(err)
		}
		again, err := receipt.Sign(r, key)
		if err != nil || !bytes.Equal(first, again) {
			t.Fatalf("the same receipt gave other bytes, error %v", err)
		}
		got, err := receipt.Open(first, []signingkey.Public{key.Public()})
		if err != nil {
			t.Fatal(err)
		}
		r.StartedAt, r.CompletedAt = r.StartedAt.UTC(), r.CompletedAt.UTC()
		r.Switched = slices.Sorted(slices.Values(r.Switched))
		if r.Switched == nil {
			r.Switched = []string{}
		}
		if !reflect.DeepEqual(got, r) {
			t.Fatalf("read %+v, wrote %+v", got, r)
		}
	})
}

func TestReceiptThatContradictsItselfIsNotSigned(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*receipt.Receipt){
		"fewer frames than counted": func(r *receipt.Receipt) { r.Frames = r.Frames[1:] },
		"no frames":                 func(r *receipt.Receipt) { r.Frames, r.FrameCount = nil, 0 },
		"a frame twice":             func(r *receipt.Receipt) { r.Frames[1] = r.Frames[0] },
		"a file twice":              func(r *receipt.Receipt) { r.Frames[1].File = r.Frames[0].File },
		"an end too far":            func(r *receipt.Receipt) { r.FrameEnd++ },
		"a hash in capitals":        func(r *receipt.Receipt) { r.Artifact.SHA256 = strings.ToUpper(r.Artifact.SHA256) },
		"no pixel hash":             func(r *receipt.Receipt) { r.Frames[0].PixelSHA256 = "" },
		"a way out of the folder":   func(r *receipt.Receipt) { r.Frames[0].File = "../frame_0001.png" },
		"one strip":                 func(r *receipt.Receipt) { r.Frames[0].Strips = cut()[:1] },
		"a strip too low":           func(r *receipt.Receipt) { r.Frames[0].Strips = cut(); r.Frames[0].Strips[1].From++ },
		"strips that disagree":      func(r *receipt.Receipt) { r.Frames[0].Strips = cut(); r.Frames[0].Strips[1].Above = cut()[0].SHA256 },
		"a strip without its cut":   func(r *receipt.Receipt) { r.Frames[0].Strips = cut(); r.Frames[0].Strips[0].Below = "" },
	} {
		job, _, _ := complete(t, 2)
		change(&job.Receipt)
		if _, err := receipt.Sign(job.Receipt, testKey(t, "a")); err == nil {
			t.Errorf("%s: was signed", name)
		}
	}
}

func TestEveryChangedByteOfTheEnvelopeIsABadSignature(t *testing.T) {
	t.Parallel()
	job, envelope, keys := complete(t, 2)
	for i := range envelope {
		for _, flip := range []byte{0x01, 0x20, 0x80, 0x04} {
			changed := bytes.Clone(envelope)
			changed[i] ^= flip
			report := receipt.Verify(changed, keys, bytes.NewReader(job.ZIP))
			if !errors.Is(report.Err(), receipt.ErrBadSignature) || report.Receipt != nil {
				t.Fatalf("byte %d changed from %q to %q: report %v", i, envelope[i], changed[i], report.Checks)
			}
		}
	}
}

func TestEveryCutOrLongerEnvelopeIsABadSignature(t *testing.T) {
	t.Parallel()
	_, envelope, keys := complete(t, 1)
	for i := range envelope {
		if _, err := receipt.Open(envelope[:i], keys); !errors.Is(err, receipt.ErrBadSignature) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	for _, more := range []string{"x", "{}", "null", "\x00"} {
		if _, err := receipt.Open(append(bytes.Clone(envelope), more...), keys); !errors.Is(err, receipt.ErrBadSignature) {
			t.Errorf("%q after it: %v", more, err)
		}
	}
}

func TestEveryChangedByteOfTheArtifactIsABadArtifact(t *testing.T) {
	t.Parallel()
	job, envelope, keys := complete(t, 2)
	for i := range job.ZIP {
		changed := bytes.Clone(job.ZIP)
		changed[i] ^= 0x01
		report := receipt.Verify(envelope, keys, bytes.NewReader(changed))
		if !errors.Is(report.Err(), receipt.ErrBadArtifact) || failed(report)[0] != "artifact" {
			t.Fatalf("byte %d of %d: %v", i, len(changed), report.Checks)
		}
	}
	for i := range job.ZIP {
		report := receipt.Verify(envelope, keys, bytes.NewReader(job.ZIP[:i]))
		if !errors.Is(report.Err(), receipt.ErrBadArtifact) {
			t.Fatalf("cut at %d: %v", i, report.Checks)
		}
	}
}

func TestSizeOfTheArtifactIsHeldToTheReceipt(t *testing.T) {
	t.Parallel()
	job, _, keys := complete(t, 1)
	job.Receipt.Artifact.SizeBytes++
	report := receipt.Verify(sign(t, job.Receipt), keys, bytes.NewReader(job.ZIP))
	if got := strings.Join(failed(report), " "); got != "artifact" {
		t.Errorf("failed checks: %q", got)
	}
}

func TestEveryChangedByteOfAFrameIsFoundInTheFrame(t *testing.T) {
	t.Parallel()
	job, _, keys := complete(t, 2)
	honest := job.Pictures[1]
	for i := range honest {
		job.Pictures[1] = bytes.Clone(honest)
		job.Pictures[1][i] ^= 0x01
		// The ZIP's hash is recomputed: only the frame's own hash can reveal
		// this.
		if err := job.Pack(); err != nil {
			t.Fatal(err)
		}
		report := receipt.Verify(sign(t, job.Receipt), keys, bytes.NewReader(job.ZIP))
		names := failed(report)
		if !errors.Is(report.Err(), receipt.ErrBadArtifact) || len(names) == 0 || names[0] != "frames" {
			t.Fatalf("byte %d: %v", i, report.Checks)
		}
		if !strings.Contains(report.Err().Error(), "frame_0002.png") || strings.Contains(report.Err().Error(), "frame_0001.png") {
			t.Fatalf("the wrong frame is named: %v", report.Err())
		}
	}
}

func TestZIPThatHoldsSomethingElseIsABadArtifact(t *testing.T) {
	t.Parallel()
	other := strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		change func(*receipttest.Job)
		more   []string
		want   string
	}{
		"other pixels": {change: func(j *receipttest.Job) {
			j.Receipt.Frames[0].PixelSHA256 = other
			j.Manifest.Frames[0].PixelSHA256 = other
		}, want: "pixels"},
		"a frame too many":        {more: []string{"output/frame_0003.png"}, want: "contents"},
		"a further file":          {more: []string{"readme.txt"}, want: "contents"},
		"a frame twice":           {more: []string{"output/frame_0001.png"}, want: "contents"},
		"a frame missing":         {change: func(j *receipttest.Job) { j.Pictures = j.Pictures[:1] }, want: "contents"},
		"another job's manifest":  {change: func(j *receipttest.Job) { j.Manifest.JobID = "JOB-2" }, want: "manifest"},
		"a manifest of less":      {change: func(j *receipttest.Job) { j.Manifest.Frames = j.Manifest.Frames[:1] }, want: "manifest"},
		"a manifest of more":      {change: func(j *receipttest.Job) { j.Manifest.Frames[1].Width = 5 }, want: "manifest"},
		"packed entries":          {change: func(j *receipttest.Job) { j.Method = zip.Deflate }, want: "contents"},
		"a manifest without list": {change: func(j *receipttest.Job) { j.Manifest.Frames = nil }, want: "manifest"},
	} {
		job, _, keys := complete(t, 2)
		if c.change != nil {
			c.change(&job)
		}
		if err := job.Pack(c.more...); err != nil {
			t.Fatal(err)
		}
		report := receipt.Verify(sign(t, job.Receipt), keys, bytes.NewReader(job.ZIP))
		if got := strings.Join(failed(report), " "); got != c.want || !errors.Is(report.Err(), receipt.ErrBadArtifact) {
			t.Errorf("%s: failed checks %q, wanted %q; %v", name, got, c.want, report.Err())
		}
	}
}

// rawSigner signs any payload with the test key, as a buggy or dishonest holder
// of the key could.
type rawSigner struct{ ed25519.PrivateKey }

func (s rawSigner) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(s.PrivateKey, data), nil
}

func (s rawSigner) KeyID() (string, error) {
	sum := sha256.Sum256(s.Public().(ed25519.PublicKey))
	return hex.EncodeToString(sum[:]), nil
}

func TestSignedContentMustBeAReceiptAsWeWriteIt(t *testing.T) {
	t.Parallel()
	_, envelope, keys := complete(t, 1)
	var outer struct {
		Payload []byte `json:"payload"`
	}
	if err := json.Unmarshal(envelope, &outer); err != nil {
		t.Fatal(err)
	}
	honest := string(outer.Payload)
	signer, err := dsse.NewEnvelopeSigner(rawSigner{ed25519.NewKeyFromSeed(bytes.Repeat([]byte("a"), 32))})
	if err != nil {
		t.Fatal(err)
	}
	open := func(payload string) error {
		signed, err := signer.SignPayload(t.Context(), receipt.PayloadType, []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		document, err := json.Marshal(signed)
		if err != nil {
			t.Fatal(err)
		}
		_, err = receipt.Open(document, keys)
		return err
	}
	if err := open(honest); err != nil {
		t.Fatalf("the honest statement: %v", err)
	}
	for name, payload := range map[string]string{
		"another subject":    strings.Replace(honest, `"sha256":"`, `"sha256":"0`, 1),
		"a subject's name":   strings.Replace(honest, `"name":"scene.zip"`, `"name":"other.zip"`, 1),
		"another type":       strings.Replace(honest, receipt.PredicateType, "https://slsa.dev/provenance/v1", 1),
		"an unknown member":  strings.Replace(honest, `"job_id"`, `"more":1,"job_id"`, 1),
		"a repeated member":  strings.Replace(honest, `"job_id"`, `"job_id":"x","job_id"`, 1),
		"a space":            strings.Replace(honest, `"job_id":`, `"job_id": `, 1),
		"text after it":      honest + "{}",
		"a wrong frame list": strings.Replace(honest, `"frame_count":1`, `"frame_count":2`, 1),
		"no JSON":            "receipt",
	} {
		if payload == honest {
			t.Fatalf("%s: the change did not change anything", name)
		}
		if err := open(payload); !errors.Is(err, receipt.ErrBadSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOtherKeyIsABadSignature(t *testing.T) {
	t.Parallel()
	_, envelope, _ := complete(t, 1)
	for _, keys := range [][]signingkey.Public{nil, {testKey(t, "b").Public()}} {
		if _, err := receipt.Open(envelope, keys); !errors.Is(err, receipt.ErrBadSignature) {
			t.Errorf("with %d other keys: %v", len(keys), err)
		}
	}
	both := []signingkey.Public{testKey(t, "b").Public(), testKey(t, "a").Public()}
	if _, err := receipt.Open(envelope, both); err != nil {
		t.Errorf("a key among others must do: %v", err)
	}
}

func TestSpaceAndOrderOfTheEnvelopeAreFree(t *testing.T) {
	t.Parallel()
	_, envelope, keys := complete(t, 1)
	var members map[string]any
	if err := json.Unmarshal(envelope, &members); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.MarshalIndent(members, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receipt.Open(sorted, keys); err != nil {
		t.Error(err)
	}
}

func TestEnvelopeWithRepeatedOrUnknownMembersIsRefused(t *testing.T) {
	t.Parallel()
	_, envelope, keys := complete(t, 1)
	text := string(envelope)
	for _, changed := range []string{
		strings.Replace(text, `{"payloadType"`, `{"more":1,"payloadType"`, 1),
		strings.Replace(text, `{"payloadType"`, `{"payload":"","payloadType"`, 1),
		strings.Replace(text, `{"keyid"`, `{"keyid":"x","keyid"`, 1),
		strings.Replace(text, `"payload":`, `"Payload":`, 1),
		strings.Replace(text, `[{"keyid"`, `[{"keyid":"","sig":""},{"keyid"`, 1),
		strings.Replace(text, `"}]}`, `"},{"keyid":"","sig":""}]}`, 1),
		strings.Replace(text, receipt.PayloadType, "text/plain", 1),
	} {
		if changed == text {
			t.Fatal("the change did not change anything")
		}
		if _, err := receipt.Open([]byte(changed), keys); !errors.Is(err, receipt.ErrBadSignature) {
			t.Errorf("accepted %.80s…: %v", changed, err)
		}
	}
}

func TestSavedAnswerMustAgreeWithItsEnvelope(t *testing.T) {
	t.Parallel()
	job, envelope, keys := complete(t, 1)
	payload := statementOf(t, envelope)
	answer := func(members string) []byte {
		return []byte(`{"ok":true,"job_id":"JOB-1","receipt":` + members + `,"envelope":` + string(envelope) + `}`)
	}
	report := receipt.Verify(answer(payload), keys, bytes.NewReader(job.ZIP))
	if report.Err() != nil {
		t.Fatal(report.Err())
	}
	for _, lie := range []string{
		strings.Replace(payload, `"charged_cents":1`, `"charged_cents":0`, 1),
		strings.Replace(payload, `"charged_cents":1`, `"charged_cents":0,"charged_cents":1`, 1),
		strings.Replace(payload, `"charged_cents":1,`, ``, 1),
		`{}`, `null`,
	} {
		if lie == payload {
			t.Fatal("the change did not change anything")
		}
		report := receipt.Verify(answer(lie), keys, nil)
		if !errors.Is(report.Err(), receipt.ErrBadSignature) || report.Receipt != nil {
			t.Errorf("plain members %.60s…: %v", lie, report.Checks)
		}
	}
}

// statementOf gives the predicate of an envelope as it was signed.
func statementOf(t testing.TB, envelope []byte) string {
	t.Helper()
	var outer struct {
		Payload string `json:"payload"`
	}
	var statement struct {
		Predicate json.RawMessage `json:"predicate"`
	}
	if err := json.Unmarshal(envelope, &outer); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(outer.Payload)
	if err == nil {
		err = json.Unmarshal(payload, &statement)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(statement.Predicate)
}

func FuzzOpenAcceptsOnlyWhatSignWrites(f *testing.F) {
	_, envelope, keys := complete(f, 1)
	f.Add([]byte(envelope))
	f.Add([]byte(`{"payloadType":"","payload":"","signatures":[]}`))
	key := testKey(f, "a")
	f.Fuzz(func(t *testing.T, document []byte) {
		got, err := receipt.Open(document, keys)
		if err != nil {
			return
		}
		again, err := receipt.Sign(got, key)
		if err != nil {
			t.Fatalf("an opened receipt cannot be signed: %v", err)
		}
		if statementOf(t, again) != statementOf(t, document) {
			t.Fatal("it differs from its receipt")
		}
	})
}
