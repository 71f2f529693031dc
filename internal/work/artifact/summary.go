package artifact

import (
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/result"
)

// summarize collects what Complete stores and signs about a ZIP of these frames. It reads
// only the rows of accepted frames: their facts were checked when each was accepted.
func summarize(key string, file receipt.File, frames []result.Frame, also details) job.Artifact {
	a := job.Artifact{
		Key: key, File: file, Renderer: rendererOf(frames), Device: deviceOf(frames),
		DeviceName: joinDistinct(frames, func(f result.Frame) string { return f.DeviceName }),
		Switched: distinct(frames, func(f result.Frame) []string {
			return strings.FieldsFunc(f.Switched, func(r rune) bool { return r == ',' })
		}),
	}
	versions := distinct(frames, func(f result.Frame) []string { return []string{f.BlenderVersion} })
	for _, f := range frames {
		version := ""
		if len(versions) > 1 {
			version = f.BlenderVersion
		}
		times, _ := receipt.ParseTimes(f.Times) // the audit finds times that cannot be read; no receipt waits for them
		a.Frames = append(a.Frames, receipt.Frame{
			Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, PixelSHA256: f.PixelSha256, SizeBytes: f.SizeBytes, RenderSeconds: result.Seconds(f.RenderUs), Finding: f.Finding, Checked: f.Checked, Version: version, Times: times, Reused: also.origins[f.Origin], Strips: also.strips[f.Frame], Outputs: receiptOutputs(also.outputs[f.Frame]),
		})
	}
	return a
}

// manifestOf makes the manifest for the ZIP. It repeats for each frame the hash that
// packFrame has compared.
func manifestOf(record job.Record, frames []result.Frame, outputs outputs) receipt.Manifest {
	m := receipt.Manifest{
		JobID: record.JobID, FrameStart: int(record.FrameStart), FrameEnd: int(record.FrameEnd), FrameStep: int(record.FrameStep), FrameCount: int(record.FrameCount), FrameList: record.Frames,
		Renderer: rendererOf(frames),
		Input:    receipt.File{Filename: record.Filename, SHA256: record.InputSha256, SizeBytes: record.InputSizeBytes},
	}
	for _, f := range frames {
		m.Frames = append(m.Frames, receipt.ManifestFrame{
			Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, PixelSHA256: f.PixelSha256, SizeBytes: f.SizeBytes,
			Width: int(f.Width), Height: int(f.Height), RenderSeconds: result.Seconds(f.RenderUs), Outputs: receiptOutputs(outputs[f.Frame]),
		})
	}
	return m
}

// rendererOf names what rendered the frames. A job stays with one version unless an operator
// allows others; each distinct value is listed. One synthetic frame makes the whole job synthetic.
func rendererOf(frames []result.Frame) receipt.Renderer {
	r := receipt.Renderer{
		ID: contract.RendererID, Application: contract.Application, Engine: contract.Engine,
		Version:   joinDistinct(frames, func(f result.Frame) string { return f.BlenderVersion }),
		BuildHash: joinDistinct(frames, func(f result.Frame) string { return f.BuildHash }),
	}
	if slices.ContainsFunc(frames, func(f result.Frame) bool { return f.Renderer == contract.SyntheticRenderer }) {
		r.ID, r.Application, r.Engine = contract.SyntheticRenderer, contract.SyntheticApplication, contract.SyntheticEngine
	}
	return r
}

// joinDistinct joins the distinct values of frames, sorted, so that the receipt does not
// depend on the order of delivery.
func joinDistinct(frames []result.Frame, of func(result.Frame) string) string {
	return strings.Join(distinct(frames, func(f result.Frame) []string { return []string{of(f)} }), ", ")
}

// distinct collects the values of all frames, sorted and without "". It is never nil: the
// receipt's lists are [] and not null.
func distinct(frames []result.Frame, of func(result.Frame) []string) []string {
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

// deviceOf is GPU only if every frame was rendered on one: a receipt must never claim a
// GPU for a frame of a CPU.
func deviceOf(frames []result.Frame) string {
	for _, f := range frames {
		if f.Device != contract.RenderDevice {
			return f.Device
		}
	}
	return contract.RenderDevice
}
