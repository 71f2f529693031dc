package blendfile

import (
	"iter"
	"math"
	"path"
	"strings"

	"svc.example/internal/render/blendfile/records"
)

// activeScene finds the scene that Blender renders after load: from 2.80 on the one that
// the first window shows, whatever window the file was saved from; otherwise the one that
// the global settings name; before 2.35 the one of the screen they name; otherwise the
// first one. A linked scene has its settings in another file: then there is none.
func (f *file) activeScene() (records.Record, bool) {
	if addr, ok := f.activeAddress(); ok {
		r, _ := f.DataBlock("SC", "Scene", addr)
		return r, r.OK()
	}
	for r := range f.Facts("SC", "Scene") {
		return r, true
	}
	return records.Record{}, false
}

// activeAddress is where the scene that is named as the active one stands, or what stands for
// it; ok is false where none is named.
func (f *file) activeAddress() (addr uint64, ok bool) {
	if f.active != 0 {
		return f.active, true
	}
	for _, addr := range []uint64{f.windowScene(), f.Global.Ptr("curscene"), f.screenScene(f.Global.Ptr("curscreen"))} {
		if _, ok := f.DataBlock("SC", "Scene", addr); ok {
			return addr, true
		}
	}
	return 0, false
}

// windowScene is the address of the scene that the first window shows; 0 where windows do
// not say so, or there are none.
func (f *file) windowScene() uint64 {
	for manager := range f.Facts("WM", "wmWindowManager") {
		for window := range manager.List("windows", "wmWindow") {
			return window.Ptr("scene")
		}
	}
	return 0
}

// screenScene is the address of the scene that a screen shows. Screens are kept
// only of files that need it.
func (f *file) screenScene(screen uint64) (scene uint64) {
	for _, code := range []string{"SR", "SN"} {
		for r := range f.Facts(code, "bScreen") {
			if r.Addr() == screen {
				scene = r.Ptr("scene")
			}
		}
	}
	return scene
}

// The bits of RenderData.mode and RenderData.scemode that are read.
const (
	modeBorder = 1 << 9
	modeCrop   = 1 << 11
	sceneViews = 1 << 21 // several views

	formatPreview = 1 << 1 // ImageFormatData.flag
	formatStereo  = 1      // ImageFormatData.views_format: both eyes in one picture

	viewDisabled   = 1 << 0 // SceneRenderView.viewflag
	viewsOfCameras = 1      // RenderData.views_format

	// Stereo3dFormat.flag and Stereo3dFormat.display_mode.
	stereoSqueezed   = 1 << 2
	stereoSideBySide = 3
	stereoTopBottom  = 4

	// Bits of RenderData.stamp: the stamp is drawn; the lines that tell where it was
	// rendered.
	stampDrawn = 1 << 6
	stampFile  = 1 << 8
	stampHost  = 1 << 16
)

// scene reads the settings of the active scene. The members' names are Blender's
// own: sfra and efra are the frames, xsch and ysch the resolution, size the
// percentage, imtype the format.
func (f *file) scene(r records.Record) *Scene {
	s := &Scene{
		Name:                 r.Name(),
		Engine:               r.Text("r.engine"),
		FrameStart:           r.Int("r.sfra"),
		FrameEnd:             r.Int("r.efra"),
		FrameStep:            max(1, r.Int("r.frame_step")),
		FrameCurrent:         r.Int("r.cfra"),
		ResolutionX:          r.Int("r.xsch"),
		ResolutionY:          r.Int("r.ysch"),
		ResolutionPercentage: r.Int("r.size"),
		FPS:                  float64(r.Int("r.frs_sec")),
		Camera:               f.DataBlockName("OB", r.Ptr("camera")),
	}
	// A base of 0 or no number comes from a damaged file; the rate alone is then
	// the answer.
	if fps := s.FPS / r.Float("r.frs_sec_base"); !math.IsInf(fps, 0) && !math.IsNaN(fps) && fps > 0 {
		s.FPS = fps
	}
	if mode := r.Int("r.mode"); mode&modeBorder != 0 {
		s.Border = &Border{
			MinX: r.Float("r.border.xmin"), MinY: r.Float("r.border.ymin"),
			MaxX: r.Float("r.border.xmax"), MaxY: r.Float("r.border.ymax"),
			Crop: mode&modeCrop != 0,
		}
	}
	f.chosen.resize(s)
	s.OutputPath = r.Text("r.pic")
	s.OutputFormat, s.MovieOutput = outputFormat(r)
	s.EXRPreviews = strings.HasPrefix(s.OutputFormat, "OPEN_EXR") && r.Int("r.im_format.flag")&formatPreview != 0
	s.Multiview = r.Int("r.scemode")&sceneViews != 0
	s.Views, s.StrayView = f.views(r)
	s.Stereo = stereoOf(r, len(s.Views))
	stamp := r.Int("r.stamp")
	s.StampNames = stamp&stampDrawn != 0 && stamp&(stampFile|stampHost) != 0
	s.ViewLayers = f.viewLayers(r)
	c := f.cycles(r)
	s.Samples, s.AdaptiveSampling, s.Denoise, s.Denoiser = c.samples, c.adaptive, c.denoise, c.denoiser
	f.sceneDrivers(r, s)
	if f.chosen.Samples != 0 {
		s.SamplesDriven = false
	}
	if f.chosen.Settings.Camera != "" {
		s.Camera = f.chosen.Settings.Camera
	}
	s.SizeChanges = f.sizeChanges()
	return s
}

// sizeChanges reports whether a driver or keyframes of any scene set the picture's size: the
// one that is stored may then be that of no frame.
func (f *file) sizeChanges() bool {
	for c := range f.Everywhere("FCurve") {
		path := records.CString(f.Raw(c, c.Ptr("rna_path")))
		if strings.HasPrefix(path, "render.resolution") && !f.chosen.stops(path) || strings.HasPrefix(path, "render.border") || strings.HasPrefix(path, "render.use_border") {
			return true
		}
	}
	return false
}

// viewLayers lists the names of the view layers; before 2.80 of the render
// layers; before 2.43 there were none.
func (f *file) viewLayers(r records.Record) []string {
	list, as := "view_layers", "ViewLayer"
	if !r.Has("view_layers.first") {
		list, as = "r.layers", "SceneRenderLayer"
	}
	names := []string{}
	for l := range r.List(list, as) {
		if name := l.Text("name"); f.spend(len(name)) {
			names = append(names, name)
			continue
		}
		f.Fail(&TooLargeError{What: "bytes of answer", Limit: answerBudget})
		break
	}
	return names
}

// views lists the views that are rendered: the eyes alone, unless the scene says that each has a
// camera of its own. stray is the first whose pictures would not lie in the folder of the first
// view's, or below.
func (f *file) views(r records.Record) (names []string, stray string) {
	names = []string{}
	for v := range rendered(r) {
		if name := v.Text("name"); f.spend(len(name)) {
			names = append(names, name)
			if stray == "" && !strings.HasPrefix(path.Clean("/out/frame_0000"+v.Text("suffix")+".png"), "/out/") {
				stray = name
			}
		}
	}
	return names, stray
}

// rendered lists the views of a scene that Blender renders; none where it has the camera's alone.
func rendered(scene records.Record) iter.Seq[records.Record] {
	return func(yield func(records.Record) bool) {
		if scene.Int("r.scemode")&sceneViews == 0 {
			return
		}
		for v := range scene.List("r.views", "SceneRenderView") {
			eye := v.Text("name") == "left" || v.Text("name") == "right"
			if v.Int("viewflag")&viewDisabled == 0 && (eye || scene.Int("r.views_format") == viewsOfCameras) && !yield(v) {
				return
			}
		}
	}
}

// stereoOf reads how a picture has two eyes, where it has them next to each other.
func stereoOf(r records.Record, views int) Stereo {
	if views < 2 || r.Int("r.im_format.views_format") != formatStereo || r.Int("r.im_format.stereo3d_format.flag")&stereoSqueezed != 0 {
		return Stereo{}
	}
	switch r.Int("r.im_format.stereo3d_format.display_mode") {
	case stereoSideBySide:
		return Stereo{Across: 2, Down: 1}
	case stereoTopBottom:
		return Stereo{Across: 1, Down: 2}
	}
	return Stereo{}
}

// outputFormat names the format of rendered pictures, and reports whether it is
// one file for all frames.
func outputFormat(r records.Record) (string, bool) {
	number := r.Int("r.imtype")
	if r.Has("r.im_format.imtype") {
		number = r.Int("r.im_format.imtype")
	}
	f, ok := formats()[number]
	if !ok {
		return "", false
	}
	return f.name, f.movie
}

// format is an output format; movie means one file for all frames.
type format struct {
	name  string
	movie bool
}

// formats maps the number of a format in the file to Blender's name for it.
// What Blender has dropped since keeps the name it had.
func formats() map[int]format {
	return map[int]format{
		0: {name: "TARGA"}, 1: {name: "IRIS"}, 2: {name: "HAMX"}, 3: {name: "FTYPE"}, 4: {name: "JPEG"},
		5: {name: "MOVIE", movie: true}, 7: {name: "IRIS"}, 14: {name: "TARGA_RAW"},
		15: {name: "AVI_RAW", movie: true}, 16: {name: "AVI_JPEG", movie: true}, 17: {name: "PNG"},
		18: {name: "AVI_CODEC", movie: true}, 19: {name: "QUICKTIME", movie: true}, 20: {name: "BMP"},
		21: {name: "HDR"}, 22: {name: "TIFF"}, 23: {name: "OPEN_EXR"}, 24: {name: "FFMPEG", movie: true},
		25: {name: "FRAMESERVER", movie: true}, 26: {name: "CINEON"}, 27: {name: "DPX"},
		28: {name: "OPEN_EXR_MULTILAYER"}, 29: {name: "DDS"}, 30: {name: "JPEG2000"},
		31: {name: "H264", movie: true}, 32: {name: "XVID", movie: true}, 33: {name: "THEORA", movie: true},
		34: {name: "PSD"}, 35: {name: "WEBP"}, 36: {name: "AV1", movie: true},
	}
}
