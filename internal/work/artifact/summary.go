package artifact

import (
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
)

// summarize says what a ZIP of these frames is, for its job to be completed with.
func summarize(key string, file receipt.File, frames []Frame) job.Artifact {
	a := job.Artifact{
		Key: key, File: file, Renderer: rendererOf(frames), Device: deviceOf(frames),
		DeviceName: several(frames, func(f Frame) string { return f.DeviceName }),
		Switched: distinct(frames, func(f Frame) []string {
			return strings.FieldsFunc(f.Switched, func(r rune) bool { return r == ',' })
		}),
	}
	for _, f := range frames {
		a.Frames = append(a.Frames, receipt.Frame{
			Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, PixelSHA256: f.PixelSha256, SizeBytes: f.SizeBytes, RenderSeconds: seconds(f.RenderUs), Finding: f.Finding,
		})
	}
	return a
}

func manifestOf(record job.Record, frames []Frame) receipt.Manifest {
	m := receipt.Manifest{
		JobID: record.JobID, FrameStart: int(record.FrameStart), FrameEnd: int(record.FrameEnd), FrameStep: int(record.FrameStep), FrameCount: int(record.FrameCount),
		Renderer: rendererOf(frames),
		Input:    receipt.File{Filename: record.Filename, SHA256: record.InputSha256, SizeBytes: record.InputSizeBytes},
	}
	for _, f := range frames {
		m.Frames = append(m.Frames, receipt.ManifestFrame{
			Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, PixelSHA256: f.PixelSha256, SizeBytes: f.SizeBytes,
			Width: int(f.Width), Height: int(f.Height), RenderSeconds: seconds(f.RenderUs),
		})
	}
	return m
}

// rendererOf names what really rendered the frames; several workers may differ.
func rendererOf(frames []Frame) receipt.Renderer {
	r := receipt.Renderer{
		ID: contract.RendererID, Application: contract.Application, Engine: contract.Engine,
		Version:   several(frames, func(f Frame) string { return f.BlenderVersion }),
		BuildHash: several(frames, func(f Frame) string { return f.BuildHash }),
	}
	if slices.ContainsFunc(frames, func(f Frame) bool { return f.Renderer == contract.SyntheticRenderer }) {
		r.ID, r.Application, r.Engine = contract.SyntheticRenderer, contract.SyntheticApplication, contract.SyntheticEngine
	}
	return r
}

// several joins the different values that frames have.
func several(frames []Frame, of func(Frame) string) string {
	return strings.Join(distinct(frames, func(f Frame) []string { return []string{of(f)} }), ", ")
}

func distinct(frames []Frame, of func(Frame) []string) []string {
	out := []string{}
	for _, f := range frames {
		for _, v := range of(f) {
			if v != "" && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	slices.Sort(out)
	return out
}

// deviceOf is GPU only when every frame was rendered on one: a CPU frame is
// never called anything else.
func deviceOf(frames []Frame) string {
	for _, f := range frames {
		if f.Device != contract.RenderDevice {
			return f.Device
		}
	}
	return contract.RenderDevice
}
