package story_test

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/await"
)

// overviewFiles are the kept overviews of all jobs.
func (svc *service) overviewFiles() []string { return svc.files("overviews/") }

// overviewOf reads an overview and its tag.
func (c caller) overviewOf(address, tag string) answer {
	c.t.Helper()
	return get(c.t, http.MethodGet, address, http.Header{"Authorization": {"Bearer " + c.agent.Secret}, "If-None-Match": {tag}})
}

// TestTheOverviewsOfACompletedJobAreMadeOnceAndGoWithItsZIP.
func TestTheOverviewsOfACompletedJobAreMadeOnceAndGoWithItsZIP(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		pass := moved(&config)
		svc := start(t, config)
		c := svc.caller(credit)
		stop := svc.worker(&painter{})
		done := c.await(c.start(5).JobID, client.StatusCompleted)
		stop()
		tags := map[string]string{}
		for address, kind := range map[string]string{done.ContactSheetURL: "image/jpeg", done.LoopURL: "image/webp"} {
			first := c.overviewOf(address, "")
			tag := first.header.Get("ETag")
			tags[address] = tag
			if first.status != http.StatusOK || first.header.Get("Content-Type") != kind || tag == "" || first.header.Get("X-Svc-Frames-Shown") != "5" {
				t.Fatalf("%s: %d %v", address, first.status, first.header)
			}
			if again := c.overviewOf(address, tag); again.status != http.StatusNotModified || len(again.body) != 0 {
				t.Errorf("%s, which the caller has: %d", address, again.status)
			}
			if again := c.overviewOf(address, ""); !bytes.Equal(again.body, first.body) {
				t.Errorf("%s is another the second time", address)
			}
			get(t, http.MethodGet, address, nil).want(t, http.StatusUnauthorized, "")
			stranger := svc.caller(0)
			get(t, http.MethodGet, address, http.Header{"Authorization": {"Bearer " + stranger.agent.Secret}}).want(t, http.StatusNotFound, "render_not_found")
		}
		if sheet, err := c.ContactSheet(patient(t), done.JobID); err != nil || sheet.Shown != 5 || sheet.Frames != 5 {
			t.Errorf("the contact sheet: %+v, %v", sheet, err)
		} else if _, err := jpeg.Decode(bytes.NewReader(sheet.Content)); err != nil {
			t.Error(err)
		}
		kept := svc.overviewFiles()
		if len(kept) != 2 {
			t.Fatalf("%v are kept", kept)
		}

		// A restart finds them, damage is seen and made good, and so is a loss.
		svc.restart()
		if again := c.overviewOf(done.ContactSheetURL, tags[done.ContactSheetURL]); again.status != http.StatusNotModified {
			t.Errorf("after a restart the contact sheet is another: %d", again.status)
		}
		svc.audit()
		i := slices.IndexFunc(kept, func(path string) bool { return strings.Contains(path, "sheet-") })
		whole := svc.content(kept[i])
		svc.overwrite(kept[i], append([]byte{1}, whole[1:]...))
		found, err := svc.app.Audit(t.Context())
		if err != nil || len(found.Breaches) != 1 || found.Breaches[0].Rule != "a kept overview is what its key says" {
			t.Errorf("a damaged overview: %v, %v", found.Breaches, err)
		}
		for _, lose := range []bool{false, true} {
			if lose {
				svc.remove(kept[i])
			}
			if again := c.overviewOf(done.ContactSheetURL, ""); !bytes.Equal(again.body, whole) {
				t.Errorf("lost %v: %d, %d bytes", lose, again.status, len(again.body))
			}
		}
		if again := svc.overviewFiles(); !slices.Equal(again, kept) {
			t.Errorf("kept are %v, want %v", again, kept)
		}

		pass(31 * 24 * time.Hour)
		await.Until(t, "the end of the overviews", func() bool { return len(svc.overviewFiles()) == 0 })
		if gone := c.overviewOf(done.LoopURL, tags[done.LoopURL]); gone.status != http.StatusGone {
			t.Errorf("after the ZIP's end: %d", gone.status)
		}
		if job, err := c.Job(patient(t), done.JobID); err != nil || job.ContactSheetURL != "" || job.LoopURL != "" {
			t.Errorf("the job has %q and %q, %v", job.ContactSheetURL, job.LoopURL, err)
		}
	})
}

// left is what an answer says of the client's budget.
func (a answer) left(t *testing.T) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(a.header.Get("RateLimit"), `"api";r=%d`, &n); err != nil {
		t.Fatalf("RateLimit is %q: %v", a.header.Get("RateLimit"), err)
	}
	return n
}

// TestAnOverviewThatIsNotKeptCountsAsItsWork in the rate limit; one that the caller has,
// and one that is kept, count as one request.
func TestAnOverviewThatIsNotKeptCountsAsItsWork(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		config.Rate = ratelimit.Policy{PerMinute: 1, Burst: 1000}
		svc := startLone(t, config) // each process may count half a burst by itself
		c := svc.caller(credit)
		held := barrierAt(21)
		svc.worker(&painter{before: held.pass})
		job := c.start(22)
		c.awaitFrames(job.JobID, 20)
		sheet := svc.url + "/node/v1/jobs/" + job.JobID + "/contact-sheet"
		begun := time.Now()
		first := c.overviewOf(sheet, "")
		same := c.overviewOf(sheet, first.header.Get("ETag"))
		again := c.overviewOf(sheet, "")
		// A minute gives back one request.
		cost := func(before, after answer, want int) bool {
			n := before.left(t) - after.left(t)
			return n <= want && n >= want-1-int(time.Since(begun).Minutes())
		}
		if again.status != http.StatusOK || !cost(first, same, 1) || !cost(same, again, 3) {
			t.Errorf("left are %d, then %d, then %d", first.left(t), same.left(t), again.left(t))
		}
		held.open()
		c.await(job.JobID, client.StatusCompleted)
		begun = time.Now()
		whole := c.overviewOf(sheet, "")
		if kept := c.overviewOf(sheet, ""); kept.status != http.StatusOK || !cost(whole, kept, 1) {
			t.Errorf("of a completed job left are %d, then %d", whole.left(t), kept.left(t))
		}
	})
}

// TestAJobThatGoesOnShowsTheFramesThatAreThere, and nothing of that is kept.
func TestAJobThatGoesOnShowsTheFramesThatAreThere(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(credit)
		held := barrierAt(3)
		svc.worker(&painter{before: held.pass})
		job := c.start(4)
		if job.ContactSheetURL != "" {
			t.Errorf("before its first frame it has %s", job.ContactSheetURL)
		}
		_, err := c.ContactSheet(patient(t), job.JobID)
		wantRefusal(t, err, http.StatusNotFound, "frame_not_found")
		c.awaitFrames(job.JobID, 2)
		if job, err = c.Job(patient(t), job.JobID); err != nil {
			t.Fatal(err)
		}
		part := c.overviewOf(job.ContactSheetURL, "")
		if part.status != http.StatusOK || part.header.Get("X-Svc-Frames-Shown") != "2" {
			t.Fatalf("%d %v", part.status, part.header)
		}
		if loop, err := c.Loop(patient(t), job.JobID); err != nil || loop.Shown != 2 {
			t.Errorf("the loop: %+v, %v", loop, err)
		}
		if kept := svc.overviewFiles(); len(kept) != 0 {
			t.Errorf("%v are kept", kept)
		}
		held.open()
		c.await(job.JobID, client.StatusCompleted)
		whole := c.overviewOf(job.ContactSheetURL, part.header.Get("ETag"))
		if whole.status != http.StatusOK || whole.header.Get("X-Svc-Frames-Shown") != "4" || bytes.Equal(whole.body, part.body) {
			t.Errorf("completed: %d %v", whole.status, whole.header)
		}
		if kept := svc.overviewFiles(); len(kept) != 1 {
			t.Errorf("%v are kept", kept)
		}
	})
}

// TestAPictureIsThereWhileTheJobEnds asks for the picture of a frame, and gets it when the
// job has ended: the frame is then in the ZIP.
func TestAPictureIsThereWhileTheJobEnds(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(credit)
		held := barrierAt(2)
		svc.worker(&painter{before: held.pass})
		job := c.start(2)
		c.awaitFrames(job.JobID, 1)
		found, err := svc.app.Watch(svc.app.Jobs(svc.app.Links(svc.url))).Preview(patient(t), c.workspace, job.JobID, 1)
		if err != nil {
			t.Fatal(err)
		}
		held.open()
		c.await(job.JobID, client.StatusCompleted)
		await.Until(t, "the frames are in the ZIP alone", func() bool { return len(svc.files("frames/")) == 0 })
		if _, err := found.JPEG(patient(t)); err != nil {
			t.Errorf("the small picture: %v", err)
		}
		file, _, _, err := found.File(patient(t))
		if err != nil {
			t.Fatalf("the file: %v", err)
		}
		_ = file.Close()
	})
}
