// Package settings is what of a .blend is rendered, where an order differs from the
// file: scene, camera, view layer, picture size and samples, how frames are named, and the
// configuration of colours.
//
// What always holds: a render with settings shows what the same Blender renders of a file that
// was saved with them; with OCIO, what it renders when it runs with that configuration. The zero
// value chooses nothing. Equal settings have equal text.
//
// Package blendfile compares them with a file, package blender applies them. Start reading at
// Settings.
package settings

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Settings are the choices of an order (decisions 27 and 28); a member with its zero value is
// as in the file.
//
// To add one: add its member here, its row in fields, what it changes to Opened.Choose of
// package blendfile and to choose of blender/driver.py, and its flag in cmd/svc/caller. Then run
// `make generate`. Wire, database, receipt, forms and the SDKs take it from here.
type Settings struct {
	Scene                string `json:"scene,omitempty" minLength:"1" maxLength:"255" doc:"Name of the scene to render; the file's active one when left out."`
	Camera               string `json:"camera,omitempty" minLength:"1" maxLength:"255" doc:"Name of the camera for all frames; the scene's own, and those of its markers, when left out."`
	ViewLayer            string `json:"view_layer,omitempty" minLength:"1" maxLength:"255" nullable:"true" doc:"Name of the only view layer to render; all that render when left out or null."`
	ResolutionPercentage int    `json:"resolution_percentage,omitempty" minimum:"1" maximum:"100" doc:"Size of the pictures in percent of the scene's resolution."`
	ResolutionX          int    `json:"resolution_x,omitempty" minimum:"4" maximum:"65536" doc:"Width of the pictures in pixels, before cropping; together with resolution_y and without resolution_percentage."`
	ResolutionY          int    `json:"resolution_y,omitempty" minimum:"4" maximum:"65536" doc:"Height of the pictures in pixels, before cropping."`
	Samples              int    `json:"samples,omitempty" minimum:"1" maximum:"16777216" doc:"Cycles samples of a pixel; at most the scene's."`
	OutputName           string `json:"output_name,omitempty" enum:"frame,scene" doc:"How frames are named: frame (frame_0001, the default) or scene (by the scene's own output path)."`
	OCIO                 string `json:"ocio,omitempty" minLength:"1" maxLength:"1024" doc:"Path in the project of the OpenColorIO configuration with which Blender runs; Blender's own when left out. See the page Colours."`
}

// Values of OutputName.
const (
	NameFrame = "frame"
	NameScene = "scene"
)

// Bounds of Blender: of names in bytes, of a picture's sides, and of samples.
const (
	maxName              = 255
	leastSide, mostSide  = 4, 65536
	mostSamples, percent = 1 << 24, 100
	maxPath              = 1024 // of a file of the project
)

// Field is a setting with its place in Settings: Text or Number.
type Field struct {
	Name   string
	Text   *string
	Number *int
	Least  int // of a number
	Most   int // of a number; bytes of a text
}

// Fields are all settings of s, in the order in which mistakes are reported.
func (s *Settings) Fields() []Field {
	return []Field{
		{Name: "scene", Text: &s.Scene, Most: maxName},
		{Name: "camera", Text: &s.Camera, Most: maxName},
		{Name: "view_layer", Text: &s.ViewLayer, Most: maxName},
		{Name: "resolution_percentage", Number: &s.ResolutionPercentage, Least: 1, Most: percent},
		{Name: "resolution_x", Number: &s.ResolutionX, Least: leastSide, Most: mostSide},
		{Name: "resolution_y", Number: &s.ResolutionY, Least: leastSide, Most: mostSide},
		{Name: "samples", Number: &s.Samples, Least: 1, Most: mostSamples},
		{Name: "output_name", Text: &s.OutputName, Most: maxName},
		{Name: "ocio", Text: &s.OCIO, Most: maxPath},
	}
}

// Error is a setting that cannot be: for any file, or for the one at hand.
type Error struct {
	Setting string   // its name on the wire
	Value   string   // as it was sent, shortened
	Reason  string   // continues "camera is ...": "not a camera of the file"
	Offers  []string // what the file has instead; nil where that is no list
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s", e.Setting, e.Reason) }

// With adds what the file has instead.
func (e *Error) With(offers []string) *Error {
	e.Offers = offers
	return e
}

// shown is how much of a value an error repeats.
const shown = 64

// Refuse is the error of a setting, with its value shortened to what a person can read.
func Refuse(setting string, value any, format string, args ...any) *Error {
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, fmt.Sprint(value))
	if runes := []rune(text); len(runes) > shown {
		text = string(runes[:shown]) + "…"
	}
	return &Error{Setting: setting, Value: text, Reason: fmt.Sprintf(format, args...)}
}

// Check refuses what is right for no file. Error: *Error.
func (s Settings) Check() error {
	for _, f := range s.Fields() {
		switch {
		case f.Text != nil && (len(*f.Text) > f.Most || !utf8.ValidString(*f.Text) || strings.ContainsFunc(*f.Text, unicode.IsControl)):
			return Refuse(f.Name, *f.Text, "must be text of at most %d bytes without control characters", f.Most)
		case f.Number != nil && *f.Number != 0 && (*f.Number < f.Least || *f.Number > f.Most):
			return Refuse(f.Name, *f.Number, "is %d; it must be %d to %d", *f.Number, f.Least, f.Most)
		}
	}
	switch {
	case (s.ResolutionX == 0) != (s.ResolutionY == 0):
		return Refuse("resolution_x", s.ResolutionX, "and resolution_y must be chosen together")
	case s.ResolutionX != 0 && s.ResolutionPercentage != 0:
		return Refuse("resolution_percentage", s.ResolutionPercentage, "cannot be chosen together with resolution_x and resolution_y")
	case s.OutputName != "" && s.OutputName != NameFrame && s.OutputName != NameScene:
		return Refuse("output_name", s.OutputName, "must be %s or %s", NameFrame, NameScene)
	case s.OCIO != "" && (!fs.ValidPath(s.OCIO) || s.OCIO == "." || strings.Contains(s.OCIO, `\\`)):
		return Refuse("ocio", s.OCIO, "must be a path in the project, with / between folders")
	}
	return nil
}

// IsZero reports whether nothing is chosen.
func (s Settings) IsZero() bool { return s == Settings{} }

// Normal returns s with its one form: a default that is named is not chosen.
func (s Settings) Normal() Settings {
	if s.OutputName == NameFrame {
		s.OutputName = ""
	}
	return s
}

// Picture returns s without what leaves the pictures as they are.
func (s Settings) Picture() Settings {
	s.OutputName = ""
	return s
}

// Text is s as databases and caches keep it; "" where nothing is chosen.
func (s Settings) Text() string {
	if s.IsZero() {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts and numbers always have JSON
	}
	return string(text)
}

// Read reads what Text wrote.
func Read(text string) (s Settings, err error) {
	if text == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("read settings: %w", err)
	}
	return s, nil
}
