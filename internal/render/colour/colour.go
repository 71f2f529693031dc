// Package colour says which displays, views, looks and colour spaces a Blender has, by the
// names of its OpenColorIO configuration. Blender replaces a name that it does not have
// with a default, so a picture of another farm, or of an artist's own configuration, has
// other colours.
//
// What always holds: an offer that came from a worker is bounded in bytes, and its names
// are printable. Package quote knows what a scene asks for. Start reading at Offer.
package colour

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Offer is what a Blender has. The zero value is one of which nothing is known.
type Offer struct {
	Displays []Display `json:"displays"` // the first one is Blender's default
	Looks    []string  `json:"looks"`
	Spaces   []string  `json:"spaces"`
}

// Display is a display and its views; the first view is its default.
type Display struct {
	Name  string   `json:"name"`
	Views []string `json:"views"`
}

// Bounds of an offer that counts. Blender's own is about 2 KiB; its names have at most 63
// bytes.
const (
	MaxBytes = 16 << 10
	maxName  = 63
)

// Known reports whether the offer says anything.
func (o Offer) Known() bool { return len(o.Displays) > 0 }

// Text writes an offer as JSON, for the store; "" for one that is empty or not sound:
// too long, a display without a view, or a name that Blender cannot have.
func (o Offer) Text() string {
	names := slices.Concat(o.Looks, o.Spaces)
	for _, d := range o.Displays {
		if len(d.Views) == 0 {
			return ""
		}
		names = append(append(names, d.Name), d.Views...)
	}
	if !o.Known() || slices.ContainsFunc(names, unsound) {
		return ""
	}
	text, err := json.Marshal(o)
	if err != nil || len(text) > MaxBytes {
		return ""
	}
	return string(text)
}

func unsound(name string) bool {
	return name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Read reads what Text wrote. Anything else gives an empty offer.
func Read(text string) (o Offer) {
	if json.Unmarshal([]byte(text), &o) != nil || o.Text() == "" {
		return Offer{}
	}
	return o
}

// Display returns a display by name, and whether the Blender has it. Where it has not, it
// is the default one, which Blender takes in its place.
func (o Offer) Display(name string) (Display, bool) {
	if at := slices.IndexFunc(o.Displays, func(d Display) bool { return d.Name == name }); at >= 0 {
		return o.Displays[at], true
	}
	return o.Displays[0], false
}

// HasLook reports whether the Blender has a look. "None" is none.
func (o Offer) HasLook(name string) bool { return name == "None" || slices.Contains(o.Looks, name) }

// HasSpace reports whether the Blender has a colour space, under this name or another.
func (o Offer) HasSpace(name string) bool {
	return slices.Contains(o.Spaces, name) || slices.ContainsFunc(aliases(name), func(other string) bool { return slices.Contains(o.Spaces, other) })
}

// aliases are the other names of a colour space: Blender 4.0 renamed some, and finds them
// under the old name.
func aliases(name string) []string {
	return map[string][]string{
		"Linear":        {"Linear Rec.709"},
		"Linear ACES":   {"ACES2065-1"},
		"Linear ACEScg": {"ACEScg"},
		"Raw":           {"Non-Color"},
		"XYZ":           {"Linear CIE-XYZ D65"},
	}[name]
}

// Of returns what the builds of blender.org and of distributions have, by version: 304 is
// 3.4. Of another version nothing is known.
func Of(version int) Offer {
	filmic := []string{"Very High Contrast", "High Contrast", "Medium High Contrast", "Medium Contrast", "Medium Low Contrast", "Low Contrast", "Very Low Contrast"}
	switch {
	case version >= 300 && version < 400:
		return Offer{
			Displays: []Display{{"sRGB", []string{"Standard", "Filmic", "Filmic Log", "Raw", "False Color"}}, {"XYZ", []string{"Standard", "Raw"}}, {"None", []string{"Standard"}}},
			Looks:    filmic,
			Spaces:   []string{"Filmic Log", "Filmic sRGB", "Linear", "Linear ACES", "Linear ACEScg", "Non-Color", "Raw", "sRGB", "XYZ"},
		}
	case version == 400 || version == 401:
		wide := []string{"Standard", "AgX", "False Color", "Raw"}
		looks := slices.Clone(filmic)
		for _, view := range []string{"AgX - ", "False Color - "} {
			for _, look := range []string{"Punchy", "Greyscale", "Very High Contrast", "High Contrast", "Medium High Contrast", "Base Contrast", "Medium Low Contrast", "Low Contrast", "Very Low Contrast"} {
				looks = append(looks, view+look)
			}
		}
		return Offer{
			Displays: []Display{
				{"sRGB", []string{"Standard", "AgX", "Filmic", "Filmic Log", "False Color", "Raw"}}, {"Display P3", wide}, {"Rec.1886", wide}, {"Rec.2020", wide},
			},
			Looks: looks,
			Spaces: []string{
				"ACES2065-1", "ACEScg", "AgX Base Display P3", "AgX Base Rec.1886", "AgX Base Rec.2020", "AgX Base sRGB", "AgX Log", "Display P3", "Filmic Log", "Filmic sRGB",
				"Linear CIE-XYZ D65", "Linear CIE-XYZ E", "Linear DCI-P3 D65", "Linear FilmLight E-Gamut", "Linear Rec.2020", "Linear Rec.709", "Non-Color", "Rec.1886", "Rec.2020", "sRGB",
			},
		}
	}
	return Offer{}
}
