package blendfile

import (
	"slices"

	"svc.example/internal/render/blendfile/reach"
	"svc.example/internal/render/blendfile/records"
	"svc.example/internal/render/settings"
)

// chosen is what an order renders of the active scene in place of what the file says.
type chosen struct {
	settings.Settings
	reach.Chosen
}

// of reports whether the choice is about a scene.
func (c chosen) of(scene records.Record) bool { return c.Chosen.Scene == scene.Addr() }

// resize gives a scene the chosen size.
func (c chosen) resize(s *Scene) {
	s.ResolutionX, s.ResolutionY, s.ResolutionPercentage = c.size(s.ResolutionX, s.ResolutionY, s.ResolutionPercentage)
}

// size is the size that is rendered of a scene with a stored one.
func (c chosen) size(x, y, percentage int) (int, int, int) {
	switch {
	case c.ResolutionX != 0:
		return c.ResolutionX, c.ResolutionY, 100
	case c.ResolutionPercentage != 0:
		return x, y, c.ResolutionPercentage
	}
	return x, y, percentage
}

// stops reports whether the choice ends the animation of a scene's resolution.
func (c chosen) stops(path string) bool {
	return c.ResolutionX != 0 || c.ResolutionPercentage != 0 && path == "render.resolution_percentage"
}

// sizeOf is the size of a scene's pictures: width and height before the percentage.
func (f *file) sizeOf(scene records.Record) (width, height, percentage int) {
	width, height, percentage = scene.Int("r.xsch"), scene.Int("r.ysch"), scene.Int("r.size")
	if f.chosen.of(scene) {
		return f.chosen.size(width, height, percentage)
	}
	return width, height, percentage
}

// hasCamera reports whether a scene has a camera of its own, or a chosen one.
func (f *file) hasCamera(scene records.Record) bool {
	return f.chosen.of(scene) && f.chosen.Chosen.Camera != 0 || f.DataBlockName("OB", scene.Ptr("camera")) != ""
}

// Choose has the file rendered with the settings of an order, as if it had been saved with
// them. Call it before all else, and once. Error: *settings.Error for what the file does not
// have, which lists what it has.
func (f *Opened) Choose(s settings.Settings) error {
	if s.Picture().IsZero() {
		return nil
	}
	if s.Scene != "" {
		if err := f.chooseScene(s.Scene); err != nil {
			return err
		}
	}
	if s.Scene = ""; s.Picture().IsZero() {
		return nil
	}
	if !f.scene {
		return settings.Refuse("scene", "", "must be chosen: the file's active scene is in a library, or there is none").With(f.file.sceneNames())
	}
	return f.chooseInScene(s)
}

// chooseScene makes a scene of the file the active one.
func (f *Opened) chooseScene(name string) error {
	for r := range f.file.Facts("SC", "Scene") {
		if r.Name() == name {
			f.active, f.scene = r, true
			f.file.active = r.Addr()
			return nil
		}
	}
	return settings.Refuse("scene", name, "is not a scene of the file").With(f.file.sceneNames())
}

// chooseInScene compares the settings with the active scene, and takes them.
func (f *Opened) chooseInScene(s settings.Settings) error {
	if _, sequenced := reach.Sequenced(f.file.File, f.active); sequenced {
		for _, field := range s.Fields() {
			if (field.Name == "camera" || field.Name == "view_layer" || field.Name == "samples") && (field.Text != nil && *field.Text != "" || field.Number != nil && *field.Number != 0) {
				return settings.Refuse(field.Name, "", "cannot be chosen: the strips of the sequencer make the pictures of the scene %q", f.active.Name())
			}
		}
	}
	c := chosen{Settings: s, Chosen: reach.Chosen{Scene: f.active.Addr(), Layer: s.ViewLayer}}
	if s.Camera != "" {
		at, whole := f.file.camera(s.Camera)
		if at == 0 && whole {
			return settings.Refuse("camera", s.Camera, "is not a camera of the file").With(f.file.cameraNames())
		}
		c.Chosen.Camera = at
	}
	if layers := f.file.viewLayers(f.active); s.ViewLayer != "" && !slices.Contains(layers, s.ViewLayer) {
		return settings.Refuse("view_layer", s.ViewLayer, "is not a view layer of the scene %q", f.active.Name()).With(layers)
	}
	if has := f.file.cycles(f.active).samples; s.Samples > has {
		return settings.Refuse("samples", s.Samples, "is more than the %d samples of the scene %q, which is the most", has, f.active.Name())
	}
	f.file.chosen, f.file.cyclesOf = c, nil
	f.file.Again()
	return f.file.Err()
}

const objectCamera = 11 // Object.type

// cameras yields the cameras of the file itself. whole is false where there are more.
func (f *file) cameras() (cameras []records.Record, whole bool) {
	objects, whole := f.Heads("OB", "Object")
	for r := range objects {
		if r.Int("type") == objectCamera {
			cameras = append(cameras, r)
		}
	}
	return cameras, whole
}

// camera is the address of a camera; 0 where there is none of that name.
func (f *file) camera(name string) (addr uint64, whole bool) {
	all, whole := f.cameras()
	for _, r := range all {
		if r.Name() == name {
			return r.Addr(), whole
		}
	}
	return 0, whole
}

// cameraNames lists the cameras of the file.
func (f *file) cameraNames() []string {
	all, whole := f.cameras()
	names := []string{}
	for _, r := range all {
		if whole = whole && f.spend(len(r.Name())); !whole {
			break
		}
		names = append(names, r.Name())
	}
	if !whole {
		f.Lost["Camera"] = true
	}
	slices.Sort(names)
	return names
}

// sceneNames lists the scenes of the file itself.
func (f *file) sceneNames() []string {
	names := []string{}
	for r := range f.Facts("SC", "Scene") {
		if !f.spend(len(r.Name())) {
			f.Lost["Scene"] = true
			break
		}
		names = append(names, r.Name())
	}
	slices.Sort(names)
	return names
}
