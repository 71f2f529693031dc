package public

import (
	"bytes"
	"net/http"
	"path"
	"slices"
	"time"

	"svc.example/addons/blender"
	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/sdk"
)

// sdks builds the page of the SDKs: how each is installed from this service.
func (s *Site) sdks(*http.Request) (page.Page, error) {
	packages, err := sdk.Packages()
	return page.Page{Template: "sdks", Title: "SDKs", Section: page.GuideSection, Content: packages}, err
}

// addOnPage builds the page that Blender's repository has for people: how the add-on is
// installed from this service.
func (s *Site) addOnPage(*http.Request) (page.Page, error) {
	files, err := s.addOn()
	archives := slices.DeleteFunc(slices.Clone(files), func(p sdk.Package) bool { return p.Name == blender.Listing })
	return page.Page{Template: "addon", Title: "Render from Blender", Section: page.GuideSection, Content: archives}, err
}

// packages serves the files of a folder by name. Errors: route_not_found.
func (s *Site) packages(folder string, all func() ([]sdk.Package, error)) http.Handler {
	return s.Errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		packages, err := all()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(packages, func(p sdk.Package) bool { return p.Name == r.PathValue("file") })
		if i < 0 {
			return fault.New(fault.RouteNotFound, "There is no package %q. See the list at %s.", r.PathValue("file"), folder)
		}
		p := packages[i]
		h := w.Header()
		h.Set("Content-Type", p.Type)
		h.Set("ETag", `"`+p.SHA256+`"`)
		h.Set("Cache-Control", "public, no-cache") // a new release may have the same version
		http.ServeContent(w, r, p.Name, time.Time{}, bytes.NewReader(p.Bytes))
		return nil
	})
}

// goProxy serves the Go SDK to the go command, which asks the next proxy for what is not here.
// Errors: route_not_found.
func (s *Site) goProxy(w http.ResponseWriter, r *http.Request) error {
	proxy, err := sdk.Go()
	if err != nil {
		return err
	}
	content, found := proxy.Files[r.PathValue("path")]
	if !found {
		return fault.New(fault.RouteNotFound, "There is no such file of a Go module; %s has %s %s.", links.GoProxyPath, proxy.Module, proxy.Version)
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "public, no-cache")
	http.ServeContent(w, r, path.Base(r.URL.Path), time.Time{}, bytes.NewReader(content))
	return nil
}
