// Package inspection says what a .blend means for an order: the scene that callers see and the
// price follows from, what the Blender that renders it must be built with, and why this service
// does not render it.
//
// It works on what blendfile and scenefiles have found, and opens no store, so that
// svc inspect says the same on a caller's own machine. What always holds: lists of a scene are
// never nil; a file that is sent alone and one that is sent with its project are described in
// the same words. It leaves warnings and the price to quote, and receiving files to intake.
// Start reading at SceneOf; PutFiles adds what a project has.
package inspection

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/framename"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/quote"
)

// busyPause is when a file may be sent again that found no memory to be read in.
const busyPause = 10 * time.Second

// Refusal translates an error of blendfile into the API's error code: unavailable,
// unsupported_file, file_damaged or invalid_settings. Any other error it passes on: that is the service's
// failure, and its text stays in the log.
func Refusal(err error) error {
	if bad := quote.BadSettings(err); fault.Is(bad, fault.InvalidSettings) {
		return bad
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, blendfile.ErrBusy) {
		return fault.New(fault.Unavailable, "The service is busy reading other large files. Try again in a moment.").After(busyPause)
	}
	if errors.Is(err, blendfile.ErrNotBlend) {
		return fault.New(fault.UnsupportedFile, "%s", Sentence(err))
	}
	if e, ok := errors.AsType[*blendfile.UnsupportedError](err); ok {
		return fault.New(fault.UnsupportedFile, "%s", Sentence(e))
	}
	if e, ok := errors.AsType[*blendfile.TruncatedError](err); ok {
		return fault.New(fault.FileDamaged, "%s", Sentence(e)).Wrap(err)
	}
	if e, ok := errors.AsType[*blendfile.DamagedError](err); ok {
		return fault.New(fault.FileDamaged, "%s", Sentence(e)).Wrap(err)
	}
	if e, ok := errors.AsType[*blendfile.TooLargeError](err); ok {
		return fault.New(fault.UnsupportedFile, "%s", Sentence(e)).Wrap(err)
	}
	return fmt.Errorf("inspect upload: %w", err)
}

// Sentence writes an error as a sentence, as API messages are. blendfile's errors are
// made to be read by the file's owner.
func Sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// Renderable refuses what this renderer cannot render (decisions 6). A newer minor
// version is only a warning: Blender reads it. svc inspect calls it too, with no farm, so
// that a file can be checked before it is sent. Errors: file_too_new, no_scene,
// engine_not_supported, no_camera, picture_too_small, view_path_unsafe.
func Renderable(f *blendfile.Facts, farm quote.Farm) error {
	if renderer, number := farm.Renderer(); f.FileVersion/100 > number/100 {
		return fault.New(fault.FileTooNew, "The file was saved by Blender %s; this service renders with %s.",
			version(f.FileVersion), renderer)
	}
	s := f.Scene
	if s == nil {
		return fault.New(fault.NoScene, "The file contains no scene.")
	}
	if err := renderableEngines(f); err != nil {
		return err
	}
	if f.Rendering.NoCamera != "" {
		return fault.New(fault.NoCamera, "The scene %q has no camera.", f.Rendering.NoCamera)
	}
	if w, h := s.RenderedSize(); min(w, h) < 1 && !s.SizeChanges {
		return fault.New(fault.PictureTooSmall, "The scene %q renders pictures of %d by %d pixels; the minimum is 1 by 1.", s.Name, max(0, w), max(0, h))
	}
	if s.StrayView != "" {
		return fault.New(fault.ViewPathUnsafe, "The file suffix of the view %q in the scene %q leads to another folder.", s.StrayView, s.Name)
	}
	return nil
}

// renderableEngines refuses what another engine than Cycles renders: the scene itself, one
// that its compositor takes in, or all scenes that its strips show. Where strips show some
// scenes of Cycles, the others are a warning. What renders no scene goes by its own engine.
func renderableEngines(f *blendfile.Facts) error {
	refused := func(scene, engine, how string) error {
		if engine == "" { // means the old internal renderer
			engine = "Blender Internal"
		}
		return fault.New(fault.EngineNotSupported, "The scene %q%s uses the render engine %s; this service supports Cycles only.", scene, how, engine).
			With(map[string]string{"engine": engine, "required": contract.Engine})
	}
	foreign := foreignShots(f)
	shots := f.Rendering.Shots
	switch {
	case len(shots) == 0 && f.Scene.Engine != contract.Engine:
		return refused(f.Scene.Name, f.Scene.Engine, "")
	case len(foreign) == 0 || f.Rendering.Sequenced && len(foreign) < len(shots):
		return nil
	case f.Rendering.Sequenced:
		return refused(foreign[0].Scene, foreign[0].Engine, fmt.Sprintf(", which the strip %q shows,", foreign[0].Strip))
	case foreign[0].Scene != f.Scene.Name:
		return refused(foreign[0].Scene, foreign[0].Engine, ", which the compositor takes in,")
	}
	return refused(f.Scene.Name, f.Scene.Engine, "")
}

// foreignShots lists the scenes that would be rendered by another engine than Cycles.
func foreignShots(f *blendfile.Facts) (foreign []blendfile.Shot) {
	for _, s := range f.Rendering.Shots {
		if s.Engine != contract.Engine {
			foreign = append(foreign, s)
		}
	}
	return foreign
}

// version writes a file's version as people know it: 401 is 4.1.
func version(file int) string { return fmt.Sprintf("%d.%d", file/100, file%100) }

// SceneOf selects what callers and the price need of a file's facts. Lists are never
// nil, so that the JSON holds arrays. Packed libraries and muted nodes change nothing
// and are left out. filename is the file's own: Blender names folders of caches by it.
func SceneOf(f *blendfile.Facts, filename string) quote.Scene {
	s := f.Scene
	out := quote.Scene{
		Name: s.Name, Engine: s.Engine,
		ResolutionX: s.ResolutionX, ResolutionY: s.ResolutionY, ResolutionPercentage: s.ResolutionPercentage,
		Scenes: f.Scenes, Cameras: f.Cameras, Camera: s.Camera, ViewLayers: s.ViewLayers, OutputName: framename.Of(s.OutputPath).String(),
		Samples: s.Samples, FPS: s.FPS, FrameStart: s.FrameStart, FrameEnd: s.FrameEnd, FrameStep: s.FrameStep,
		FileVersion: version(f.FileVersion), DrivenSamples: s.SamplesDriven,
		OutputFormat: s.OutputFormat, MovieOutput: s.MovieOutput, Denoise: s.Denoise,
		EXRPreviews: s.EXRPreviews, Multiview: s.Multiview, Views: len(s.Views), StampNames: s.StampNames,
		MissingFiles: []quote.MissingFile{}, LinkedLibraries: []string{}, Scripts: []string{}, FileOutputNodes: []string{},
		Simulations: []quote.Simulation{},
		Denoising:   f.Rendering.Denoising, Sequenced: f.Rendering.Sequenced,
		SampleLayers: f.Rendering.Work.Layers, LayerSamples: f.Rendering.Work.Samples, OtherPixelSamples: f.Rendering.OtherWork,
		// Where the list is cut, drivers may be missing in it.
		UsesAutorunScripts: len(f.Scripted) > 0 || f.PythonDrivers > 0 && slices.Contains(f.Partial, "python_drivers"),
	}
	out.FrameWidth, out.FrameHeight = s.FileSize()
	if c := s.Colors; c != nil {
		out.ColorManagement = &quote.ColorManagement{Display: c.Display, View: c.View, Look: c.Look, OutputSpace: c.OutputSpace, Sequencer: c.Sequencer}
		for _, i := range c.Images {
			out.ColorManagement.Images = append(out.ColorManagement.Images, quote.ImageSpace(i))
		}
		for _, o := range c.Others {
			out.ColorManagement.Others = append(out.ColorManagement.Others, quote.UsedSpace(o))
		}
	}
	for _, m := range f.MissingFiles {
		out.MissingFiles = append(out.MissingFiles, quote.MissingFile{Kind: string(scenefiles.KindOf(m.Kind)), Path: cacheFolder(m.Path, filename), Owner: m.Owner, UsedBy: m.UsedBy, From: m.From})
		if m.Kind == blendfile.KindLibrary {
			out.LinkedLibraries = append(out.LinkedLibraries, m.Path)
		}
	}
	needPacked(&out, f.Packed)
	out.WorldVolume = f.WorldVolume
	if why := strips.Splittable(f); why != "" {
		out.WholeFrames = why.Text()
	} else if out.StripOverlap = strips.Overlap; f.Scene.AdaptiveSampling {
		out.StripOverlap = strips.OverlapAdaptive
	}
	lackData(&out, f.MissingData, filename)
	for _, m := range f.Simulations {
		out.Simulations = append(out.Simulations, simulationOf(m, cacheFolder(m.Folder, filename)))
	}
	out.NoLayer = f.Rendering.NoLayer
	for _, e := range f.EmptyImages {
		out.EmptyImages = append(out.EmptyImages, quote.EmptyImage(e))
	}
	for _, shot := range foreignShots(f) {
		out.Unrendered = append(out.Unrendered, quote.Shot(shot))
	}
	for _, span := range f.Rendering.SampleKeys {
		out.SampleKeys = append(out.SampleKeys, quote.SampleSpan(span))
	}
	for _, t := range f.Texts {
		out.Scripts = append(out.Scripts, t.Name)
	}
	for _, script := range f.Scripted {
		out.AutorunScripts = append(out.AutorunScripts, quote.Script(script))
	}
	for _, n := range s.FileOutputNodes {
		if !n.Muted {
			out.FileOutputNodes = append(out.FileOutputNodes, n.Path)
			out.OutputsPerFrame += n.Files
		}
	}
	views := max(1, out.Views)
	out.OutputsPerFrame += views - 1
	if out.EXRPreviews {
		out.OutputsPerFrame += views
	}
	return out
}

// lackData adds the data-blocks that libraries lack. main is the path of the main file.
func lackData(s *quote.Scene, gone []blendfile.MissingData, main string) {
	for _, m := range gone {
		if m.From == main {
			m.From = ""
		}
		s.MissingData = append(s.MissingData, quote.MissingData(m))
	}
}

// simulationOf is a simulation whose cache is in a folder.
func simulationOf(m blendfile.Simulation, folder string) quote.Simulation {
	return quote.Simulation{
		Kind: string(m.Kind), Object: m.Owner, FirstFrame: m.FirstFrame, LastFrame: m.LastFrame, Baked: m.Baked, Cached: m.Cached, Folder: folder, From: m.From,
	}
}

// cacheFolder is a path with the name of the .blend in it, where it is named by that.
func cacheFolder(folder, filename string) string {
	if folder != blendfile.DiskCache {
		return folder
	}
	return strings.TrimSuffix(folder, "*") + strings.TrimSuffix(filename, ".blend")
}

// Read reads the scene that intake keeps with an upload.
func Read(text string) (s quote.Scene, err error) {
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("read kept scene: %w", err)
	}
	if s.Simulations == nil { // it was inspected before simulations were looked for
		s.Simulations = []quote.Simulation{}
	}
	if s.Denoising == nil { // likewise
		s.Denoising = []string{}
		if s.Denoise {
			s.Denoising = append(s.Denoising, "scene "+s.Name)
		}
	}
	return s, nil
}
