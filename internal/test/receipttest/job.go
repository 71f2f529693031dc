// Package receipttest makes completed jobs for tests: pictures, the ZIP that holds
// them, the receipt that describes it and the log that contains the receipt.
//
// What always holds: what it makes is consistent. A test changes one thing and
// expects the verifier to find it; Pack makes the ZIP consistent again. Start
// reading at Complete.
package receipttest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"time"

	"svc.example/internal/render/pixels"
	"svc.example/internal/work/receipt"
)

// Job is a completed job as it would be delivered.
type Job struct {
	Receipt  receipt.Receipt
	Manifest receipt.Manifest
	Pictures [][]byte // PNG files, one for each frame
	Outputs  []Output // of all frames
	ZIP      []byte
	Method   uint16 // of packing the ZIP; stored unless a test says otherwise
}

// Output is a file of a frame besides its picture.
type Output struct {
	Name    string
	Content []byte
}

// AddOutput gives a frame, by its index, an output.
func (j *Job) AddOutput(frame int, name, content string) {
	o := receipt.Output{Name: name, SHA256: hashOf([]byte(content)), SizeBytes: int64(len(content))}
	j.Outputs = append(j.Outputs, Output{name, []byte(content)})
	j.Receipt.Frames[frame].Outputs = append(j.Receipt.Frames[frame].Outputs, o)
	j.Manifest.Frames[frame].Outputs = append(j.Manifest.Frames[frame].Outputs, o)
}

// Complete makes a job of n frames, from frame 1, each a small picture of its own.
func Complete(n int) (Job, error) {
	var job Job
	r := &job.Receipt
	*r = receipt.Receipt{
		ReceiptID: "RCT-1", JobID: "JOB-1", WorkspaceID: "WSP-1",
		Input:      receipt.Input{File: receipt.File{Filename: "scene.blend", SHA256: hashOf([]byte("scene")), SizeBytes: 5}},
		FrameStart: 1, FrameEnd: n, FrameStep: 1, FrameCount: n,
		Renderer:     receipt.Renderer{ID: "blender", Application: "Blender", Version: "4.1.1", BuildHash: "e1743a0317bc", Engine: "CYCLES"},
		RenderDevice: "CPU", DeviceName: "a processor", Switched: []string{"denoise_off"}, RenderSeconds: 0.5 * float64(n),
		QuoteID: "QTE-1", PricingVersion: "fixed-1c-v1", ChargedCents: int64(n), Currency: "USD",
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), CompletedAt: time.Date(2026, 1, 2, 3, 5, 6, 789000, time.UTC),
	}
	job.Manifest = receipt.Manifest{JobID: r.JobID, FrameStart: 1, FrameEnd: n, FrameStep: 1, FrameCount: n, Renderer: r.Renderer, Input: r.Input.File}
	for i := 1; i <= n; i++ {
		if err := job.addFrame(i); err != nil {
			return Job{}, err
		}
	}
	return job, job.Pack()
}

func (j *Job) addFrame(number int) error {
	img := image.NewNRGBA(image.Rect(0, 0, 4, 3))
	for i := range img.Pix {
		img.Pix[i] = byte(number * (i + 31))
	}
	img.SetNRGBA(0, 0, color.NRGBA{R: byte(number), G: byte(number >> 8), A: 255})
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		return fmt.Errorf("encode frame %d: %w", number, err)
	}
	frame := receipt.Frame{
		Frame: number, File: fmt.Sprintf("frame_%04d.png", number), SHA256: hashOf(file.Bytes()),
		PixelSHA256: pixels.Of(img).SHA256, SizeBytes: int64(file.Len()), RenderSeconds: 0.5,
	}
	j.Pictures = append(j.Pictures, file.Bytes())
	j.Receipt.Frames = append(j.Receipt.Frames, frame)
	j.Manifest.Frames = append(j.Manifest.Frames, receipt.ManifestFrame{
		Frame: frame.Frame, File: frame.File, SHA256: frame.SHA256, PixelSHA256: frame.PixelSHA256,
		SizeBytes: frame.SizeBytes, Width: 4, Height: 3, RenderSeconds: frame.RenderSeconds,
	})
	return nil
}

// Pack writes the ZIP from the pictures and the manifest as they now are,
// followed by empty entries of the given names, and states it in the receipt.
func (j *Job) Pack(more ...string) error {
	manifest, err := json.Marshal(j.Manifest)
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	type entry struct {
		name    string
		content []byte
	}
	var entries []entry
	for i, picture := range j.Pictures {
		entries = append(entries, entry{receipt.FrameEntry(j.Receipt.Frames[i].File), picture})
	}
	for _, o := range j.Outputs {
		entries = append(entries, entry{receipt.OutputEntry(o.Name), o.Content})
	}
	entries = append(entries, entry{receipt.ManifestEntry, manifest}, entry{receipt.RenderLogEntry, []byte("Fra:1\n")})
	for _, name := range more {
		entries = append(entries, entry{name: name})
	}
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	for _, e := range entries {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: e.name, Method: j.Method})
		if err != nil {
			return fmt.Errorf("write %s: %w", e.name, err)
		}
		if _, err := w.Write(e.content); err != nil {
			return fmt.Errorf("write %s: %w", e.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write the ZIP: %w", err)
	}
	j.ZIP = file.Bytes()
	j.Receipt.Artifact = receipt.File{Filename: "scene.zip", SHA256: hashOf(j.ZIP), SizeBytes: int64(len(j.ZIP))}
	return nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
