package caller

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withOverviews has the fake service offer a contact sheet, and a loop if there is one.
func (d *fakeService) withOverviews(loop bool) {
	mux := http.NewServeMux()
	mux.Handle("/", d.Config.Handler)
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/contact-sheet", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the sheet") })
	mux.HandleFunc("GET /node/v1/jobs/JOB-1/loop", func(w http.ResponseWriter, _ *http.Request) {
		if !loop {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"error":{"code":"frame_not_found","message":"There is no frame to show."}}`)
			return
		}
		io.WriteString(w, "the loop")
	})
	d.events = strings.ReplaceAll(d.events, `"frames_completed":3}`, `"frames_completed":3,"contact_sheet_url":"here","loop_url":"there"}`)
	d.Config.Handler = mux
}

func TestTheOverviewsLieBesideTheFrames(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.withOverviews(true)
	o, _ := d.options(t)
	for _, resumed := range []bool{false, true} { // the second time everything is there
		result, err := Run(t.Context(), o)
		if err != nil || result.Resumed != resumed || len(result.Frames) != 3 {
			t.Fatalf("%+v, %v", result, err)
		}
		for path, want := range map[string]string{result.ContactSheet: "the sheet", result.Loop: "the loop"} {
			if got, err := os.ReadFile(path); err != nil || string(got) != want || filepath.Dir(path) != o.Folder {
				t.Errorf("%q has %q, %v", path, got, err)
			}
		}
		var seen bytes.Buffer
		result.Print(&seen)
		if !strings.Contains(seen.String(), "contact-sheet.jpg and loop.webp") {
			t.Errorf("the summary is\n%s", &seen)
		}
	}
}

// Their failures are reported, and the render is complete.
func TestAnOverviewThatFailsFailsNoRender(t *testing.T) {
	t.Parallel()
	d := startFakeService(t)
	d.withOverviews(false)
	o, seen := d.options(t)
	result, err := Run(t.Context(), o)
	if err != nil || !result.OK || len(result.Frames) != 3 || result.ContactSheet == "" || result.Loop != "" {
		t.Fatalf("%+v, %v", result, err)
	}
	if !strings.Contains(seen.String(), "the frames are complete, but there is no loop: There is no frame to show. (frame_not_found, 404)") {
		t.Errorf("seen:\n%s", seen)
	}
}
