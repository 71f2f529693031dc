package proof_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/story"
)

// listedFrames is the answer of GET …/frames, as far as outputs go.
type listedFrames struct {
	Frames []struct {
		Frame   int
		Outputs []struct {
			Name, SHA256 string
			SizeBytes    int64  `json:"size_bytes"`
			FileURL      string `json:"file_url"`
			PreviewURL   string `json:"preview_url"`
		}
	}
}

// Each output of a frame can be downloaded as soon as the frame is accepted, by the workspace of
// the job alone, and with the same bytes when the job is complete. A name leads to nothing but an
// output of that frame.
func TestOutputsAreDownloadedAsSoonAsTheirFrameIsAccepted(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c, stranger := svc.Caller(story.Credit), svc.Caller(story.Credit)
		job, w := c.StartFrames(2), svc.ManualWorker()
		name := "pässe/beauty &0001.png"
		frame, picture := w.DeliverOutputs(t, name, "depth/z.dpx")
		get := func(address, secret string) story.Answer {
			return story.Get(t, http.MethodGet, address, http.Header{"Authorization": {"Bearer " + secret}})
		}
		list := func(surface, secret string) (listed listedFrames) {
			a := get(svc.URL+surface+job.JobID+"/frames", secret)
			if err := json.Unmarshal(a.Body, &listed); err != nil || len(listed.Frames) == 0 {
				t.Fatalf("%s lists %s, %v", surface, a.Body, err)
			}
			return listed
		}
		whole := func() {
			t.Helper()
			for surface, secret := range map[string]string{"/v1/renders/": c.Account.Secret, "/node/v1/jobs/": c.Agent.Secret} {
				listed := list(surface, secret).Frames[frame-1]
				if listed.Frame != frame || len(listed.Outputs) != 2 || listed.Outputs[0].Name != name || listed.Outputs[1].PreviewURL != "" {
					t.Fatalf("%s lists %+v", surface, listed)
				}
				output := listed.Outputs[0]
				a := get(output.FileURL, secret)
				if a.Status != http.StatusOK || !bytes.Equal(a.Body, picture) || int64(len(a.Body)) != output.SizeBytes || !strings.Contains(a.Header.Get("Content-Disposition"), "beauty") {
					t.Errorf("%s answers %d with %d bytes, %v", output.FileURL, a.Status, len(a.Body), a.Header)
				}
				if again := story.Get(t, http.MethodGet, output.FileURL, http.Header{"Authorization": {"Bearer " + secret}, "If-None-Match": {a.Header.Get("ETag")}}); again.Status != http.StatusNotModified {
					t.Errorf("an unchanged output: %d", again.Status)
				}
				if small := get(output.PreviewURL, secret); small.Status != http.StatusOK || small.Header.Get("Content-Type") != "image/jpeg" {
					t.Errorf("its preview: %d %v", small.Status, small.Header)
				}
			}
		}
		whole()
		address := list("/v1/renders/", c.Account.Secret).Frames[0].Outputs[0].FileURL
		get(address, stranger.Account.Secret).Want(t, http.StatusNotFound, string(fault.RenderNotFound))
		for _, other := range []string{"none.png", "../receipt.json", "frame_0001.png", name + "x"} {
			get(fmt.Sprintf("%s/v1/renders/%s/frames/%d/file?output=%s", svc.URL, job.JobID, frame, url.QueryEscape(other)), c.Account.Secret).Want(t, http.StatusNotFound, string(fault.FrameNotFound))
		}
		second, _ := w.DeliverOutputs(t, "only.png")
		get(fmt.Sprintf("%s/v1/renders/%s/frames/%d/file?output=only.png", svc.URL, job.JobID, frame), c.Account.Secret).Want(t, http.StatusNotFound, string(fault.FrameNotFound))
		c.Await(job.JobID, client.StatusCompleted)
		whole() // now from the ZIP

		told := map[int]int{}
		c.Listen(svc.URL, job.JobID, "", func(e story.StreamEvent) bool {
			if e.Kind == "frame" {
				told[e.Frame.Frame] = len(e.Frame.Outputs)
			}
			return false
		})
		if told[frame] != 2 || told[second] != 1 {
			t.Errorf("the events tell of %v outputs", told)
		}
	})
}
