package workers_test

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
	"svc.example/internal/test/story"
)

// overviewFiles are the kept overviews of all jobs.
func overviewFiles(svc *story.Service) []string { return svc.Files("overviews/") }

// overviewOf reads an overview and its tag.
func overviewOf(c story.Caller, address, tag string) story.Answer {
	c.T.Helper()
	return story.Get(c.T, http.MethodGet, address, http.Header{"Authorization": {"Bearer " + c.Agent.Secret}, "If-None-Match": {tag}})
}

// TestTheOverviewsOfACompletedJobAreMadeOnceAndGoWithItsZIP.
func TestTheOverviewsOfACompletedJobAreMadeOnceAndGoWithItsZIP(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stop := svc.Worker(&story.Painter{})
		done := c.Await(c.StartFrames(5).JobID, client.StatusCompleted)
		stop()
		tags := map[string]string{}
		for address, kind := range map[string]string{done.ContactSheetURL: "image/jpeg", done.LoopURL: "image/webp"} {
			first := overviewOf(c, address, "")
			tag := first.Header.Get("ETag")
			tags[address] = tag
			if first.Status != http.StatusOK || first.Header.Get("Content-Type") != kind || tag == "" || first.Header.Get("X-Svc-Frames-Shown") != "5" {
				t.Fatalf("%s: %d %v", address, first.Status, first.Header)
			}
			if again := overviewOf(c, address, tag); again.Status != http.StatusNotModified || len(again.Body) != 0 {
				t.Errorf("%s, which the caller has: %d", address, again.Status)
			}
			if again := overviewOf(c, address, ""); !bytes.Equal(again.Body, first.Body) {
				t.Errorf("%s is another the second time", address)
			}
			story.Get(t, http.MethodGet, address, nil).Want(t, http.StatusUnauthorized, "")
			stranger := svc.Caller(0)
			story.Get(t, http.MethodGet, address, http.Header{"Authorization": {"Bearer " + stranger.Agent.Secret}}).Want(t, http.StatusNotFound, "render_not_found")
		}
		if sheet, err := c.ContactSheet(story.Patient(t), done.JobID); err != nil || sheet.Shown != 5 || sheet.Frames != 5 {
			t.Errorf("the contact sheet: %+v, %v", sheet, err)
		} else if _, err := jpeg.Decode(bytes.NewReader(sheet.Content)); err != nil {
			t.Error(err)
		}
		kept := overviewFiles(svc)
		if len(kept) != 2 {
			t.Fatalf("%v are kept", kept)
		}

		// A restart finds them, damage is seen and made good, and so is a loss.
		svc.Restart()
		if again := overviewOf(c, done.ContactSheetURL, tags[done.ContactSheetURL]); again.Status != http.StatusNotModified {
			t.Errorf("after a restart the contact sheet is another: %d", again.Status)
		}
		svc.Audit()
		i := slices.IndexFunc(kept, func(path string) bool { return strings.Contains(path, "sheet-") })
		whole := svc.Content(kept[i])
		svc.Overwrite(kept[i], append([]byte{1}, whole[1:]...))
		found, err := svc.App.Audit(t.Context())
		if err != nil || len(found.Breaches) != 1 || found.Breaches[0].Rule != "a kept overview is what its key says" {
			t.Errorf("a damaged overview: %v, %v", found.Breaches, err)
		}
		for _, lose := range []bool{false, true} {
			if lose {
				svc.Remove(kept[i])
			}
			if again := overviewOf(c, done.ContactSheetURL, ""); !bytes.Equal(again.Body, whole) {
				t.Errorf("lost %v: %d, %d bytes", lose, again.Status, len(again.Body))
			}
		}
		if again := overviewFiles(svc); !slices.Equal(again, kept) {
			t.Errorf("kept are %v, want %v", again, kept)
		}

		pass(31 * 24 * time.Hour)
		await.Until(t, "the end of the overviews", func() bool { return len(overviewFiles(svc)) == 0 })
		if gone := overviewOf(c, done.LoopURL, tags[done.LoopURL]); gone.Status != http.StatusGone {
			t.Errorf("after the ZIP's end: %d", gone.Status)
		}
		if job, err := c.Job(story.Patient(t), done.JobID); err != nil || job.ContactSheetURL != "" || job.LoopURL != "" {
			t.Errorf("the job has %q and %q, %v", job.ContactSheetURL, job.LoopURL, err)
		}
	})
}

// budgetLeft is what an answer says of the client's budget.
func budgetLeft(a story.Answer, t *testing.T) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(a.Header.Get("RateLimit"), `"api";r=%d`, &n); err != nil {
		t.Fatalf("RateLimit is %q: %v", a.Header.Get("RateLimit"), err)
	}
	return n
}

// TestAnOverviewThatIsNotKeptCountsAsItsWork in the rate limit; one that the caller has,
// and one that is kept, count as one request.
func TestAnOverviewThatIsNotKeptCountsAsItsWork(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.Rate = ratelimit.Policy{PerMinute: 1, Burst: 1000}
		svc := story.StartLone(t, config) // each process may count half a burst alone
		c := svc.Caller(story.Credit)
		held := story.BarrierAt(21)
		svc.Worker(&story.Painter{Before: held.Pass})
		job := c.StartFrames(22)
		c.AwaitFrames(job.JobID, 20)
		sheet := svc.URL + "/node/v1/jobs/" + job.JobID + "/contact-sheet"
		begun := time.Now()
		first := overviewOf(c, sheet, "")
		same := overviewOf(c, sheet, first.Header.Get("ETag"))
		again := overviewOf(c, sheet, "")
		// A minute gives back one request.
		cost := func(before, after story.Answer, want int) bool {
			n := budgetLeft(before, t) - budgetLeft(after, t)
			return n <= want && n >= want-1-int(time.Since(begun).Minutes())
		}
		if again.Status != http.StatusOK || !cost(first, same, 1) || !cost(same, again, 3) {
			t.Errorf("left are %d, then %d, then %d", budgetLeft(first, t), budgetLeft(same, t), budgetLeft(again, t))
		}
		held.Open()
		c.Await(job.JobID, client.StatusCompleted)
		begun = time.Now()
		whole := overviewOf(c, sheet, "")
		if kept := overviewOf(c, sheet, ""); kept.Status != http.StatusOK || !cost(whole, kept, 1) {
			t.Errorf("of a completed job left are %d, then %d", budgetLeft(whole, t), budgetLeft(kept, t))
		}
	})
}

// TestAJobThatGoesOnShowsTheFramesThatAreThere, and nothing of that is kept.
func TestAJobThatGoesOnShowsTheFramesThatAreThere(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		held := story.BarrierAt(3)
		svc.Worker(&story.Painter{Before: held.Pass})
		job := c.StartFrames(4)
		if job.ContactSheetURL != "" {
			t.Errorf("before its first frame it has %s", job.ContactSheetURL)
		}
		_, err := c.ContactSheet(story.Patient(t), job.JobID)
		story.WantRefusal(t, err, http.StatusNotFound, "frame_not_found")
		c.AwaitFrames(job.JobID, 2)
		if job, err = c.Job(story.Patient(t), job.JobID); err != nil {
			t.Fatal(err)
		}
		part := overviewOf(c, job.ContactSheetURL, "")
		if part.Status != http.StatusOK || part.Header.Get("X-Svc-Frames-Shown") != "2" {
			t.Fatalf("%d %v", part.Status, part.Header)
		}
		if loop, err := c.Loop(story.Patient(t), job.JobID); err != nil || loop.Shown != 2 {
			t.Errorf("the loop: %+v, %v", loop, err)
		}
		if kept := overviewFiles(svc); len(kept) != 0 {
			t.Errorf("%v are kept", kept)
		}
		held.Open()
		c.Await(job.JobID, client.StatusCompleted)
		whole := overviewOf(c, job.ContactSheetURL, part.Header.Get("ETag"))
		if whole.Status != http.StatusOK || whole.Header.Get("X-Svc-Frames-Shown") != "4" || bytes.Equal(whole.Body, part.Body) {
			t.Errorf("completed: %d %v", whole.Status, whole.Header)
		}
		if kept := overviewFiles(svc); len(kept) != 1 {
			t.Errorf("%v are kept", kept)
		}
	})
}

// TestAPictureIsThereWhileTheJobEnds asks for the picture of a frame, and gets it when the
// job has ended: the frame is then in the ZIP.
func TestAPictureIsThereWhileTheJobEnds(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		held := story.BarrierAt(2)
		svc.Worker(&story.Painter{Before: held.Pass})
		job := c.StartFrames(2)
		c.AwaitFrames(job.JobID, 1)
		found, err := svc.App.Watch(svc.App.Jobs(svc.App.Links(svc.URL))).Preview(story.Patient(t), c.Workspace, job.JobID, 1)
		if err != nil {
			t.Fatal(err)
		}
		held.Open()
		c.Await(job.JobID, client.StatusCompleted)
		await.Until(t, "the frames are in the ZIP alone", func() bool { return len(svc.Files("frames/")) == 0 })
		if _, err := found.JPEG(story.Patient(t)); err != nil {
			t.Errorf("the small picture: %v", err)
		}
		file, _, _, err := found.File(story.Patient(t))
		if err != nil {
			t.Fatalf("the file: %v", err)
		}
		_ = file.Close()
	})
}
