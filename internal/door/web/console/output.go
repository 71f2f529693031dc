package console

import (
	"net/url"
	"path"
	"strings"

	"svc.example/internal/render/pixels"
	"svc.example/internal/work/watch"
)

// outputView is a file that a File Output node wrote, on the page of its frame.
type outputView struct {
	watch.Output
	frame string // the address of the frame's page
}

// Outputs are the files that File Output nodes wrote for the frame.
func (v frameView) Outputs() (all []outputView) {
	for _, o := range v.View.Outputs {
		all = append(all, outputView{o, v.Path()})
	}
	return all
}

// Small is the address of the small picture; "" for formats that have none.
func (o outputView) Small() string {
	if !pixels.Thumbnails(o.Name) {
		return ""
	}
	return o.at("small")
}

// File is the address of the file, which a browser saves.
func (o outputView) File() string { return o.at("file") + "&save" }

// Opens is the address of the file where browsers show its format, or of a view of OpenEXR; ""
// where there is none.
func (o outputView) Opens() string {
	switch {
	case shown(o.Name):
		return o.at("file")
	case strings.EqualFold(path.Ext(o.Name), ".exr"):
		return o.at("view")
	}
	return ""
}

func (o outputView) at(of string) string {
	return o.frame + "/" + of + "?" + url.Values{"output": {o.Name}, "v": {o.SHA256[:8]}}.Encode()
}
