package web_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"svc.example/addons/blender"
	"svc.example/internal/app"
	"svc.example/internal/ground/links"
	"svc.example/internal/test/apptest"
	"svc.example/sdk"
)

func TestThePageOfTheSDKsLeadsToEachPackageWhole(t *testing.T) {
	t.Parallel()
	p := &person{t: t, base: worlds.On(t, "sqlite").URL}
	packages, err := sdk.Packages()
	if err != nil || len(packages) < 2 {
		t.Fatalf("%d packages, %v", len(packages), err)
	}
	index := p.open(links.SDKPath)
	for _, one := range packages {
		index.want(t, http.StatusOK, links.SDKPath+one.Name, one.SHA256)
		got := p.open(links.SDKPath + one.Name)
		if got.status != http.StatusOK || got.text != string(one.Bytes) || got.header.Get("ETag") != `"`+one.SHA256+`"` || got.header.Get("Content-Type") != one.Type {
			t.Errorf("%s: %d, %d bytes, %v", one.Name, got.status, len(got.text), got.header)
		}
	}
	p.open(links.SDKPath+"svc-render-0.0.0.tgz").want(t, http.StatusNotFound)
}

// TestTheListingLeadsBlenderToTheArchiveThatItDescribes reads the extension repository as
// Blender does: the listing, then the address in it, whose bytes have the size and hash there.
func TestTheListingLeadsBlenderToTheArchiveThatItDescribes(t *testing.T) {
	t.Parallel()
	p := &person{t: t, base: worlds.On(t, "sqlite").URL}
	listing := p.open(links.AddOnPath+blender.Listing).want(t, http.StatusOK)
	if got := listing.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("the listing is %q", got)
	}
	var listed struct {
		Version string
		Data    []struct {
			ID      string
			Version string
			URL     string `json:"archive_url"`
			Size    int    `json:"archive_size"`
			Hash    string `json:"archive_hash"`
		}
	}
	if err := json.Unmarshal([]byte(listing.text), &listed); err != nil || listed.Version != "v1" || len(listed.Data) != 1 {
		t.Fatalf("%v: %s", err, listing.text)
	}
	one := listed.Data[0]
	archive := p.open(links.AddOnPath+strings.TrimPrefix(one.URL, "./")).want(t, http.StatusOK)
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(archive.text))); one.ID != "svc_render_addon" || one.Version != blender.Version() || one.Size != len(archive.text) || one.Hash != sum {
		t.Errorf("the listing has %+v, the archive %d bytes and %s", one, len(archive.text), sum)
	}
	index := p.open(links.AddOnPath).want(t, http.StatusOK, links.AddOnPath+blender.Listing, strings.TrimPrefix(one.Hash, "sha256:"))
	for _, link := range regexp.MustCompile(`href="(/blender/[^"]+\.zip)"`).FindAllStringSubmatch(index.text, -1) {
		p.open(link[1]).want(t, http.StatusOK)
	}
	p.open(links.AddOnPath+"svc_render_addon-9.9.9.zip").want(t, http.StatusNotFound)
}

// TestDownloadsAreTheFilesOfTheReleaseAndNothingElse puts a release next to what is none.
func TestDownloadsAreTheFilesOfTheReleaseAndNothingElse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const archive = "svc_1.2.0_linux_amd64.tar.gz"
	sum := strings.Repeat("ab12", 16)
	list := ""
	for _, name := range []string{archive, "svc_1.2.0_darwin_arm64.tar.gz", "svc_1.2.0_amd64.deb", "svc_1.2.0_windows_amd64.zip", "svc_1.2.0_linux_arm64.tar.gz"} {
		list += sum + "  " + name + "\n"
	}
	for name, text := range map[string]string{
		archive: "the program", "svc_1.2.0_darwin_arm64.tar.gz": "another", "svc_1.2.0_amd64.deb": "a package", "SHA256SUMS": list, "SHA256SUMS.sig": "signed",
		"notes.txt": "private", "svc_x.pem": "private", "svc_0.9.0_linux_amd64.tar.gz": "not of this release",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("private"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "svc_1.2.0_windows_amd64.zip")); err != nil {
		t.Fatal(err)
	}
	_, base := apptest.Start(t, app.Config{Data: t.TempDir(), Downloads: folder})
	p := &person{t: t, base: base}
	page := p.open(links.ProgramsPath).want(t, http.StatusOK, archive, "Linux, Intel and AMD", "macOS, ARM", "Debian and Ubuntu", sum, "SHA256SUMS.sig")
	for _, private := range []string{"notes", "pem", "windows", "0.9.0", "linux_arm64"} {
		if strings.Contains(page.text, private) {
			t.Errorf("the page shows %q", private)
		}
	}
	if got := p.open(links.ProgramsPath+"/"+archive).want(t, http.StatusOK); got.text != "the program" || got.header.Get("Content-Disposition") == "" {
		t.Errorf("%q, %v", got.text, got.header)
	}
	for _, name := range []string{"notes.txt", "svc_x.pem", "..%2fsecret", "svc_1.2.0_windows_amd64.zip", "svc_0.9.0_linux_amd64.tar.gz", "svc_1.2.0_linux_arm64.tar.gz"} {
		p.open(links.ProgramsPath+"/"+name).want(t, http.StatusNotFound)
	}
	without := &person{t: t, base: worlds.On(t, "sqlite").URL}
	without.open(links.ProgramsPath).want(t, http.StatusOK, "make build")
	without.open(links.ProgramsPath+"/"+archive).want(t, http.StatusNotFound)
}
