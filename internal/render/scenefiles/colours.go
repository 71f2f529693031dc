package scenefiles

import (
	"errors"
	"io/fs"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/render/colour/ocio"
	"svc.example/internal/render/settings"
)

// addColours adds the OpenColorIO configuration of the settings and what it needs. Error:
// *settings.Error where the tree has no such configuration that can be used; blendfile.ErrBusy.
func (f *Found) addColours(files fs.FS, name string, budget *memory.Budget) error {
	if name == "" {
		return nil
	}
	share := memory.Share{Of: budget}
	defer share.End()
	found, err := ocio.Find(files, name, share.Hold)
	if errors.Is(err, ocio.ErrBusy) {
		return blendfile.ErrBusy
	}
	if bad, ok := errors.AsType[*ocio.Error](err); ok {
		return settings.Refuse("ocio", name, "%s", bad.Why)
	}
	if err != nil {
		return err
	}
	f.Colours = found
	f.Files = append(f.Files, File{
		Kind: KindColours, Path: name, Stored: name, From: f.Main, Owner: "OpenColorIO", Status: StatusFound, Reach: ReachNeeded, Names: []Name{{name, found.Bytes}},
	})
	for _, lut := range found.Files {
		one := File{Kind: KindLUT, Path: lut.Path, Stored: lut.Name, From: f.Main, Owner: name, UsedBy: lut.UsedBy, Status: StatusMissing, Reach: ReachNeeded, Names: []Name{}}
		switch {
		case lut.There:
			one.Status, one.Names = StatusFound, []Name{{lut.Path, lut.Bytes}}
		case !fs.ValidPath(lut.Path):
			one.Status = StatusOutside
		}
		f.Files = append(f.Files, one)
	}
	sortFiles(f.Files)
	return nil
}
