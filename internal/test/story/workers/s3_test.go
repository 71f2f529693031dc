package workers_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/s3test"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
)

// onS3 is a service on PostgreSQL with its files in an S3 store, without a worker.
func onS3(t *testing.T, blobs string) *story.Service {
	t.Helper()
	return story.Start(t, app.Config{Listen: story.FreeAddress(t), Data: t.TempDir(), Database: dbtest.URL(t, "postgres"), Blobs: blobs, Log: story.LogOf(t), LeaseLife: time.Hour})
}

// TestBytesOfFramesGoBetweenTheirUsersAndTheStore, and not through the service: workers
// fetch parts there and send frames there, callers fetch ZIPs there.
func TestBytesOfFramesGoBetweenTheirUsersAndTheStore(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	byLink := map[string]int{}
	svc := onS3(t, s3test.AddressAt(t, s3test.Proxy(t, func(pass http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if folder := strings.Split(r.URL.Path, "/"); r.URL.Query().Has("X-Amz-Signature") && len(folder) > 3 {
				mu.Lock()
				byLink[r.Method+" "+folder[3]]++
				mu.Unlock()
				if r.Header.Get("Authorization") != "" {
					t.Errorf("%s %s carries a key of the service", r.Method, r.URL.Path)
				}
			}
			pass.ServeHTTP(w, r)
		})
	})))
	c := svc.Caller(story.Credit)
	svc.Worker(&story.Painter{})
	c.Fetch(c.Await(c.StartFrames(3).JobID, client.StatusCompleted), 3)
	svc.SettledOnce(c, 3)
	mu.Lock()
	defer mu.Unlock()
	if byLink["PUT staged"] != 3 || byLink["GET uploads"] == 0 || byLink["GET artifacts"] == 0 {
		t.Errorf("by links went %v", byLink)
	}
	if left := svc.Files("staged/"); len(left) != 0 {
		t.Errorf("staged are still %v", left)
	}
}

func TestAWorkerThatCannotReachTheStoreWorksThroughTheService(t *testing.T) {
	t.Parallel()
	svc := onS3(t, s3test.Address(t)+"&links=workers&public=http://127.0.0.1:1")
	c := svc.Caller(story.Credit)
	svc.Worker(&story.Painter{})
	c.Fetch(c.Await(c.StartFrames(3).JobID, client.StatusCompleted), 3)
	svc.SettledOnce(c, 3)
}

// A worker may lie about what it has staged: what counts is what the service reads.
func TestAStagedPictureCountsOnlyAsWhatItIs(t *testing.T) {
	t.Parallel()
	svc := onS3(t, s3test.Address(t))
	c, key := svc.Caller(story.Credit), svc.NodeKey().Secret
	farm := farmapi.NewClient(svc.URL, key)
	reply, err := farm.Register(t.Context(), farmapi.RegisterRequest{
		Name: "liar", BlenderVersion: "4.1.1", BlenderBuildHash: "story", Device: "GPU", DeviceName: "Story GPU", Denoise: "keep",
	})
	if err != nil || !reply.Links {
		t.Fatalf("%+v, %v", reply, err)
	}
	liar := story.ManualWorker{Client: farm, ID: reply.WorkerID}
	c.StartFrames(1)
	got, err := liar.LeaseOne(t.Context())
	if err != nil || len(got.Leases) != 1 {
		t.Fatalf("leased %+v, %v", got, err)
	}
	result, picture := liar.Result(t, got)
	say := func(path string, body any) (int, string) {
		t.Helper()
		return postJSON(t, svc.URL+path, key, body)
	}

	// Unknown keys, and one whose picture never came.
	for _, key := range []string{"", "x", "uploads/" + got.Job.InputSHA256, "staged/" + got.Job.JobID + "/../../x", "staged/" + got.Job.JobID + "/0123-frame_0001.png"} {
		result.Staged = key
		if status, text := say(farmapi.PathDeliver, result); status != http.StatusBadRequest || !strings.Contains(text, "invalid_request") {
			t.Errorf("staged %q: %d %s", key, status, text)
		}
	}
	// It gets no link for a job of which it holds no frame.
	foreign := result
	foreign.JobID = strings.Replace(result.JobID, result.JobID[4:8], "0000", 1)
	foreign.LeaseID = strings.Replace(result.LeaseID, result.JobID, foreign.JobID, 1)
	if status, text := say(farmapi.PathStage, foreign); status < 400 || strings.Contains(text, "http") {
		t.Errorf("a frame of another job is staged: %d %s", status, text)
	}
	// Bytes that are staged rightly, and described as others.
	other, bad := result, []byte("not a picture at all")
	describe(&other, bad)
	var to farmapi.StageReply
	if status, text := say(farmapi.PathStage, other); status != http.StatusOK || json.Unmarshal([]byte(text), &to) != nil || to.URL == "" {
		t.Fatalf("stage: %d %s", status, text)
	}
	if status := putLink(t, to, bad); status != http.StatusOK {
		t.Fatalf("the store answers %d", status)
	}
	if status := putLink(t, to, picture); status < 400 {
		t.Errorf("the link takes other bytes: %d", status)
	}
	result.Staged = to.Key
	if status, text := say(farmapi.PathDeliver, result); !strings.Contains(text, "frame_rejected") {
		t.Errorf("other bytes: %d %s", status, text)
	}
	if left := svc.Files("frames/"); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

func putLink(t *testing.T, to farmapi.StageReply, content []byte) int {
	t.Helper()
	req, err := http.NewRequestWithContext(story.Patient(t), http.MethodPut, to.URL, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range to.Header {
		req.Header.Set(name, value)
	}
	return story.Do(t, req).Status
}

func postJSON(t *testing.T, address, key string, body any) (int, string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	got := story.Do(t, story.Request(t, http.MethodPost, address, key, string(text)))
	return got.Status, string(got.Body)
}
