package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"svc.example/internal/front"
	"svc.example/internal/ground/fault"
)

// AssetFolder is the URL path below which assets are served.
const AssetFolder = "/assets/"

// asset is a file that pages load. Its name contains its hash, so that caches
// may keep it and a new version has a new address.
type asset struct {
	// name is base.hash.extension; hash is the first 8 bytes of the SHA-256, in
	// hex.
	name      string
	mediaType string
	body      []byte
	zipped    []byte // body by gzip
}

// assets holds the embedded files by the names that templates use. It is built
// once, at first use.
var assets = sync.OnceValue(func() map[string]asset {
	entries, err := files.ReadDir("asset")
	if err != nil {
		panic(err) // a programming error
	}
	all := map[string]asset{}
	for _, entry := range entries {
		body, err := files.ReadFile("asset/" + entry.Name())
		if err != nil {
			panic(err) // a programming error
		}
		if path.Ext(entry.Name()) == ".js" || path.Ext(entry.Name()) == ".css" {
			body = forReaders.ReplaceAll(body, nil)
		}
		all[entry.Name()] = makeAsset(entry.Name(), body)
	}
	style := all["style.css"].body // it names the typeface, as a browser asks for it
	all["style.css"] = makeAsset("style.css", bytes.ReplaceAll(style, []byte(typeface), []byte(all[typeface].name)))
	for name, parts := range bundles {
		var body []byte
		for _, part := range parts {
			body = append(append(body, all[part].body...), ";\n"...)
		}
		all[name] = makeAsset(name, body)
	}
	return all
})

// forReaders is what only readers of a script or a stylesheet need: comments on lines of their own,
// and indentation. Browsers load a tenth less without it. No script has a text of several lines.
var forReaders = regexp.MustCompile(`(?m)^[ \t]*(// .*\n|/\*[^*]*\*/\n)?`)

// typeface is the font of all pages: Inter with the letters of Latin-1, from regular to semibold.
const typeface = "inter.woff2"

// bundles are files that are made of several. htmx looks over the page as soon as it has come, and
// an extension that comes later is never asked.
var bundles = map[string][]string{
	"live.js":     {"htmx.js", "hx-sse.js"},
	"timeline.js": {"frames.js", "bars.js"},
	"viewer.js":   {"frames.js", "filmstrip.js", "stage.js"},
}

// mediaTypes of assets, by their extensions.
var mediaTypes = map[string]string{".json": "application/json", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8"}

func makeAsset(file string, body []byte) asset {
	sum, extension := sha256.Sum256(body), path.Ext(file)
	name := strings.TrimSuffix(file, extension) + "." + hex.EncodeToString(sum[:8]) + extension
	return asset{name, mediaTypes[extension], body, front.Zip(body)}
}

// assetPath returns the URL path of an asset. It panics for a name that does
// not exist in the folder, as a template would otherwise link to nothing.
func assetPath(name string) string { return AssetFolder + assets()[name].name }

// AssetBody is the content of an asset, by the name that templates use.
func AssetBody(name string) []byte { return assets()[name].body }

// ServeAsset serves an asset by its hashed name. An old hash is not found: the
// page that names it is older than this process. Errors: route_not_found.
func ServeAsset(w http.ResponseWriter, r *http.Request) error {
	for _, a := range assets() {
		if a.name == r.PathValue("file") {
			a.serve(w, r)
			return nil
		}
	}
	return fault.New(fault.RouteNotFound, "There is no file %s.", r.URL.Path)
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.mediaType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := a.body
	if front.AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = a.zipped
	}
	_, _ = w.Write(body) // a failed write means the browser is gone
}

// File is a file that pages load and that a group of pages makes, such as an index.
type File struct{ asset }

// NewFile makes a file whose name contains its hash.
func NewFile(name string, body []byte) File { return File{makeAsset(name, body)} }

// Name is the file's name with its hash.
func (f File) Name() string { return f.name }

// Zipped is how many bytes a browser loads.
func (f File) Zipped() int { return len(f.zipped) }

// Serve serves the file, for caches to keep.
func (f File) Serve(w http.ResponseWriter, r *http.Request) { f.serve(w, r) }

// ServeIcon serves the icon where browsers look that have read no page.
func ServeIcon(w http.ResponseWriter, _ *http.Request) error {
	icon := assets()["icon.svg"]
	h := w.Header()
	h.Set("Content-Type", icon.mediaType)
	h.Set("Cache-Control", "public, max-age=86400")
	_, _ = w.Write(icon.body) // a failed write means the browser is gone
	return nil
}
