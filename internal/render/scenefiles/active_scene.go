package scenefiles

import (
	"context"
	"io/fs"
	"svc.example/internal/render/blendfile"
)

// ActiveScene adds to the facts of a main file the scene that is rendered, and what is
// rendered of it, where that scene is in a library. They stay as they are where the file has
// its scene itself, or the library does not have it. Errors: those of Find.
func ActiveScene(ctx context.Context, files fs.FS, main string, facts *blendfile.Facts, o Options) error {
	if facts.Scene != nil || facts.SceneCount == 0 {
		return nil
	}
	s, err := begin(ctx, files, main, o)
	if err != nil {
		return err
	}
	defer s.close()
	library, name, err := s.activeScene()
	if library == nil || err != nil {
		return err
	}
	of, err := library.open.SceneFacts(name)
	if err == nil {
		facts.Scene, facts.Rendering, facts.EmptyImages = of.Scene, of.Rendering, of.EmptyImages
	}
	return err
}

// activeScene opens the library that has the scene which is rendered; nil where it is the main
// file, or there is none to read.
func (s *search) activeScene() (library *blend, name string, err error) {
	if err := s.open(s.main); err != nil {
		return nil, "", err
	}
	number, name, ok := s.main.open.ActiveLinked()
	if !ok {
		return nil, "", nil
	}
	if library = s.library(s.main, s.main.open.Libraries(), number); library == nil {
		return nil, "", nil
	}
	if err := s.open(library); err != nil {
		return nil, "", s.ends(err)
	}
	return library, name, nil
}
