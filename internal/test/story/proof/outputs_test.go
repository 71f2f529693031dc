package proof_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
)

// outputOf is an output with the bytes that it is said to have.
func outputOf(name string, content []byte) farmapi.Output {
	sum := sha256.Sum256(content)
	return farmapi.Output{Name: name, SHA256: hex.EncodeToString(sum[:]), SizeBytes: int64(len(content))}
}

func refusedAs(err error, code fault.Code) bool {
	refusal, refused := errors.AsType[*farmapi.Error](err)
	return refused && refusal.Code == string(code)
}

// A frame counts only with all of its outputs, as they are described and within their bounds.
// Then they are in the ZIP and the receipt, and no two frames have outputs of one name. A frame of
// which one is lost before is rendered again, and has the new ones.
func TestAFrameIsAcceptedWithAllOfItsOutputs(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.Outputs = farmapi.OutputLimits{Files: 2, Bytes: 100_000}
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job, w := c.StartFrames(2), svc.ManualWorker()
		leased := func() (farmapi.FrameResult, []byte) {
			t.Helper()
			got, err := w.Lease(t.Context(), farmapi.LeaseRequest{WorkerID: w.ID, Max: 1, WaitSeconds: 20})
			if err != nil || len(got.Leases) != 1 {
				t.Fatalf("leased %+v, %v", got, err)
			}
			result, picture := w.Result(t, got)
			result.File = fmt.Sprintf("frame_%04d.png", result.Frame)
			return result, picture
		}
		result, picture := leased()
		deliver := func(outputs []farmapi.Output, contents ...[]byte) error {
			result.Outputs = outputs
			var files []io.Reader
			for _, content := range contents {
				files = append(files, bytes.NewReader(content))
			}
			return w.Deliver(t.Context(), result, bytes.NewReader(picture), files...)
		}
		for _, bad := range [][]farmapi.Output{
			{outputOf("../x.png", picture)}, {outputOf("/x.png", picture)}, {outputOf(`a\x.png`, picture)}, {outputOf("", picture)},
			{outputOf("x.png", picture), outputOf("x.png", picture)}, {outputOf("x.png", picture), outputOf("X.PNG", picture)}, {outputOf("x", picture), outputOf("x/y.png", picture)},
			{outputOf("a.png", picture), outputOf("b.png", picture), outputOf("c.png", picture)},
			{outputOf("x.png", bytes.Repeat([]byte{1}, 100_001))}, {{Name: "x.png", SHA256: "x", SizeBytes: 1}},
		} {
			contents := slices.Repeat([][]byte{picture}, len(bad))
			if bad[0].SizeBytes > 100_000 {
				contents[0] = bytes.Repeat([]byte{1}, 100_001)
			}
			if err := deliver(bad, contents...); !refusedAs(err, fault.InvalidRequest) {
				t.Errorf("%+v: %v, want invalid_request", bad, err)
			}
		}
		// Bytes that are not as described end the attempt.
		if err := deliver([]farmapi.Output{outputOf("x.png", picture)}, append(bytes.Clone(picture[:len(picture)-1]), 'x')); !refusedAs(err, fault.FrameRejected) {
			t.Errorf("%v, want frame_rejected", err)
		}
		if left := svc.Files("frames/"); len(left) > 0 {
			t.Errorf("of refused deliveries there are %q", left)
		}
		result, picture = leased()
		if err := deliver([]farmapi.Output{outputOf("deep/x.png", picture), outputOf("y.png", picture)}, picture, picture); err != nil {
			t.Fatal(err)
		}
		if err := deliver([]farmapi.Output{outputOf("deep/x.png", picture), outputOf("y.png", picture)}, picture, picture); err != nil {
			t.Errorf("it is delivered again: %v", err)
		}
		first := result.Frame
		for _, key := range svc.Files("frames/" + job.JobID) {
			if strings.HasSuffix(key, "-output") {
				svc.Remove(key)
				break
			}
		}
		result, picture = leased()
		if err := deliver([]farmapi.Output{outputOf("deep/x.png", picture)}, picture); err != nil {
			t.Fatal(err)
		}
		if result, picture = leased(); result.Frame != first {
			t.Errorf("frame %d is rendered again, want %d", result.Frame, first)
		}
		if err := deliver([]farmapi.Output{outputOf("new.png", picture), outputOf("deep/x.png", picture)}, picture, picture); err != nil {
			t.Fatal(err)
		}
		content := c.VerifiedZIP(c.Await(job.JobID, client.StatusCompleted))
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, entry := range archive.File {
			if strings.HasPrefix(entry.Name, "outputs/") {
				names = append(names, entry.Name)
			}
		}
		if len(names) != 3 || !slices.Contains(names, "outputs/deep/x.png") || !slices.Contains(names, "outputs/new.png") || !strings.Contains(strings.Join(names, " "), "outputs/deep/x_") {
			t.Errorf("the ZIP has the outputs %q", names)
		}
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			rows, err := tx.FrameOutputsOf(ctx, job.JobID)
			if len(rows) != 3 {
				t.Errorf("there are %d rows", len(rows))
			}
			return err
		})
		// So do the bytes of no picture.
		c.StartFrames(1)
		result, picture = leased()
		text := []byte("no picture at all")
		if err := deliver([]farmapi.Output{outputOf("x.png", text)}, text); !refusedAs(err, fault.FrameRejected) {
			t.Errorf("%v, want frame_rejected", err)
		}
	})
}
