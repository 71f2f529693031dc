package public

import (
	"bufio"
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/fault"
)

// program is an archive of a release, for one platform.
type program struct {
	Name, For string
	Bytes     int64
	SHA256    string // "" where the release's list of sums does not have it
}

// sumsFile is the release's list of sums; its signatures have its name and an ending.
const sumsFile = "SHA256SUMS"

var (
	// published are the names of files that make release writes. Nothing else in the folder
	// is served.
	published = regexp.MustCompile(`^(svc_[0-9A-Za-z.+~_-]+\.(tar\.gz|zip|deb|cdx\.json)|build\.json|SHA256SUMS(\.dsse|\.sig)?)$`)
	// platformOf finds the platform in the name of an archive or a package.
	platformOf = regexp.MustCompile(`_((?:linux|darwin|windows)_)?(amd64|arm64)\.(tar\.gz|zip|deb)$`)
)

var (
	systems    = map[string]string{"linux_": "Linux", "darwin_": "macOS", "windows_": "Windows", "": "Debian and Ubuntu"}
	processors = map[string]string{"amd64": "Intel and AMD", "arm64": "ARM"}
)

// release is what a folder of make release offers.
type release struct {
	Programs   []program
	Signatures []string // names of the list of sums and its signatures
}

// readRelease lists a folder. A folder that is gone or empty offers nothing.
func readRelease(folder string) (r release, err error) {
	if folder == "" {
		return r, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	sums := readSums(folder)
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || !published.MatchString(name) {
			continue
		}
		if strings.HasPrefix(name, sumsFile) {
			r.Signatures = append(r.Signatures, name)
		}
		if m := platformOf.FindStringSubmatch(name); m != nil {
			if info, err := e.Info(); err == nil {
				r.Programs = append(r.Programs, program{Name: name, For: systems[m[1]] + ", " + processors[m[2]], Bytes: info.Size(), SHA256: sums[name]})
			}
		}
	}
	slices.SortFunc(r.Programs, func(a, b program) int { return cmp.Or(cmp.Compare(a.For, b.For), cmp.Compare(a.Name, b.Name)) })
	return r, nil
}

// readSums reads the release's list of sums, by file name.
func readSums(folder string) map[string]string {
	sums := map[string]string{}
	file, err := os.Open(folder + "/" + sumsFile)
	if err != nil {
		return sums
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if sum, name, ok := strings.Cut(lines.Text(), "  "); ok {
			sums[name] = sum
		}
	}
	return sums
}

// downloadPage builds the page of the program for each platform.
func (s *Site) downloadPage(*http.Request) (page.Page, error) {
	r, err := readRelease(s.Downloads)
	return page.Page{Template: "download", Title: "Get svc", Section: page.GuideSection, Content: r}, err
}

// download serves a file of the release. Errors: route_not_found.
func (s *Site) download(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	missing := fault.New(fault.RouteNotFound, "There is no download %q. See the list at /download.", name)
	if s.Downloads == "" || !published.MatchString(name) {
		return missing
	}
	root, err := os.OpenRoot(s.Downloads)
	if err != nil {
		return missing
	}
	defer func() { _ = root.Close() }()
	file, err := root.Open(name)
	if err != nil {
		return missing
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return missing
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "public, no-cache") // a new release may have the same version
	http.ServeContent(w, r, name, info.ModTime(), file)
	return nil
}
