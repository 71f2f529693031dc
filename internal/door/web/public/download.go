package public

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/release"
)

// program is an archive or a package of a release, for one platform.
type program struct {
	release.File
	For   string
	Bytes int64
}

// platformOf finds the platform in the name of an archive or a package.
var platformOf = regexp.MustCompile(`_((?:linux|darwin|windows)_)?(amd64|arm64)\.(?:tar\.gz|zip|deb)$`)

var (
	systems    = map[string]string{"linux_": "Linux", "darwin_": "macOS", "windows_": "Windows", "": "Debian and Ubuntu"}
	processors = map[string]string{"amd64": "Intel and AMD", "arm64": "ARM"}
)

// signatures are the files that lie next to the programs: the list of sums and its signatures.
var signatures = []string{release.SumsFile, release.SignatureFile, release.RawSignatureFile}

// downloadView is the content of the page of the programs.
type downloadView struct {
	Programs   []program
	Signatures []string
}

// downloadPage builds the page of the program for each platform. Only what the list of sums
// names is offered, and only if it is there.
func (s *Site) downloadPage(*http.Request) (page.Page, error) {
	p := page.Page{Template: "download", Title: "Get svc", Section: page.GuideSection}
	folder, files, err := s.release()
	if err != nil || folder == nil {
		p.Content = downloadView{}
		return p, err
	}
	defer func() { _ = folder.Close() }()
	var v downloadView
	for _, f := range files {
		platform := platformOf.FindStringSubmatch(f.Name)
		if info, err := folder.Stat(f.Name); err == nil && platform != nil {
			v.Programs = append(v.Programs, program{f, systems[platform[1]] + ", " + processors[platform[2]], info.Size()})
		}
	}
	for _, name := range signatures {
		if _, err := folder.Stat(name); err == nil {
			v.Signatures = append(v.Signatures, name)
		}
	}
	slices.SortFunc(v.Programs, func(a, b program) int { return cmp.Or(cmp.Compare(a.For, b.For), cmp.Compare(a.Name, b.Name)) })
	p.Content = v
	return p, nil
}

// release opens the folder of the release and reads its list of sums; nil where there is none.
// A link that leads out of the folder opens nothing.
func (s *Site) release() (*os.Root, []release.File, error) {
	if s.Downloads == "" {
		return nil, nil, nil
	}
	folder, err := os.OpenRoot(s.Downloads)
	if err != nil {
		return nil, nil, fmt.Errorf("open the folder of downloads: %w", err)
	}
	sums, err := folder.ReadFile(release.SumsFile)
	var files []release.File
	if err == nil {
		files, err = release.ParseSums(sums)
	}
	if err != nil {
		_ = folder.Close() // it was only read
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, nil // the next release is being copied
		}
		return nil, nil, fmt.Errorf("read the downloads' list of sums: %w", err)
	}
	return folder, files, nil
}

// download serves a file of the release. Errors: route_not_found.
func (s *Site) download(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	missing := fault.New(fault.RouteNotFound, "There is no download %q. See the list at %s.", name, links.ProgramsPath)
	folder, files, err := s.release()
	if err != nil {
		return err
	}
	if folder == nil {
		return missing
	}
	defer func() { _ = folder.Close() }()
	if !slices.Contains(signatures, name) && !slices.ContainsFunc(files, func(f release.File) bool { return f.Name == name }) {
		return missing
	}
	file, err := folder.Open(name)
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
	h.Set("Content-Disposition", blob.Attachment(name))
	h.Set("Cache-Control", "public, no-cache") // a new release may have the same version
	http.ServeContent(w, r, name, info.ModTime(), file)
	return nil
}
