package web

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/sdk"
)

// sdks builds the page of the SDKs: how each is installed from this service.
func (s *Site) sdks(*http.Request) (page, error) {
	packages, err := sdk.Packages()
	return page{Template: "sdks", Title: "SDKs", Section: guideSection, Content: packages}, err
}

// serveSDK serves a package of an SDK by its name. Errors: route_not_found.
func serveSDK(w http.ResponseWriter, r *http.Request) error {
	packages, err := sdk.Packages()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(packages, func(p sdk.Package) bool { return p.Name == r.PathValue("file") })
	if i < 0 {
		return fault.New(fault.RouteNotFound, "There is no package %q: %s lists them.", r.PathValue("file"), links.SDKPath)
	}
	p := packages[i]
	h := w.Header()
	h.Set("Content-Type", p.Type)
	h.Set("ETag", `"`+p.SHA256+`"`)
	h.Set("Cache-Control", "public, no-cache") // a new release may have the same version
	http.ServeContent(w, r, p.Name, time.Time{}, bytes.NewReader(p.Bytes))
	return nil
}
