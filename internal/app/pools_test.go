package app_test

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pools is every place of the service's code that makes something which callers use up
// together, with the share that one of them has. Each queue of leases is one, too.
var pools = map[string]string{
	"front/outage.go: make(chan struct{},":           "no pool: a wake-up for the probe of an outage",
	"front/connections.go: make(chan struct{},":      "an address has a tenth of the connections",
	"ground/db/hub.go: make(chan struct{},":          "no pool: a wake-up for one listener",
	"ground/lease/runner.go: make(chan struct{},":    "the slots of a queue; each queue has its line below",
	"ground/sharing/places.go: make(chan struct{},":  "an owner has a share",
	"ground/sharing/sharing.go: make(chan struct{},": "an owner has one at a time",
	"door/farm/waitqueue.go: make(chan struct{},":    "no pool: a wake-up for one worker",
	"work/watch/feed.go: make(chan struct{},":        "no pool: a wake-up for one watcher",
	"work/delivery/delivery.go: NewWeighted(":        "only the holder of a frame takes some, and a node key holds its share of the frames",
	"work/receipt/contents.go: SetLimit(":            "no pool: the readers of one verification",
	"work/intake/intake.go: sharing.Places":          "a workspace has 2 of 4 projects, and 2 of 8 fetches",
	"work/reuse/source/source.go: sharing.Places":    "a workspace has 1 of 2 scenes that are compared",
	"work/watch/reader.go: sharing.Maker":            "a job has one at a time",
	"app/wiring.go: sharing.Maker":                   "a job has one overview at a time",
	"work/overview/overview.go: sharing.Maker":       "a job has one at a time",

	"queue lease.ExpireQueue":        "what is due is short work on the service's own disk",
	"queue intake.FetchQueue":        "a workspace has 2 of 8 fetches",
	"queue identity.LinkQueue":       "an address asks for 30 at once, a recipient gets 3 in 15 minutes",
	"queue identity.InvitationQueue": "a workspace sends 20 a day, an address gets 3",
	"queue webhook.Queue":            "an endpoint has 8 calls at once, a workspace 64",
	"queue webhook.NoticeQueue":      "one notice for each endpoint that is switched off",
	"queue notice.Queue":             "a person gets one mail in --job-mail",
	"queue operators.Queue":          "one message for each alert and receiver, which the operator names",
	"queue alert.NoticeQueue":        "one notice for each wallet and day",
	"queue dispatch.FrameQueue":      "workspaces take turns",
	"queue dispatch.StripQueue":      "a frame has one turn, and at most 8 strips, for workers that are idle",
	"queue Queue (work/movie)":       "a workspace has 4 at once, and a movie one in its job",
	"queue Queue (work/recheck)":     "a workspace has 200 waiting, for workers that are idle",
	"queue Queue (work/preview)":     "the first preview of each workspace comes before the second of any",
	"queue job.PackageQueue":         "a job has one ZIP, and is paid for or within --reused-frames",
	"queue ReferenceQueue":           "one for each result of a node key, and a key submits few a day",
}

var (
	poolMade  = regexp.MustCompile(`make\(chan struct\{\},|NewWeighted\(|SetLimit\(|sharing\.(?:Places|Maker)`)
	queueMade = regexp.MustCompile(`Queue\{\s*Name:\s*([A-Za-z."_]+)`)
)

// TestEveryPoolHasAShare walks the code of the service, and fails for a pool or a queue that
// is not in the table above: whoever adds one decides there what keeps one caller from
// taking all of it.
func TestEveryPoolHasAShare(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, folder := range []string{"app", "door", "front", "ground", "work"} {
		err := fs.WalkDir(os.DirFS(".."), folder, func(path string, _ fs.DirEntry, err error) error {
			// Workers and the commands around them serve nobody but their own machine.
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "work/worker/") {
				return err
			}
			text, err := os.ReadFile("../" + path)
			for _, made := range poolMade.FindAllString(string(text), -1) {
				found[path+": "+made] = true
			}
			for _, made := range queueMade.FindAllStringSubmatch(string(text), -1) {
				name := "queue " + made[1]
				if made[1] == "Queue" {
					name += " (" + path[:strings.LastIndex(path, "/")] + ")"
				}
				found[name] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if pools[place] == "" {
			t.Errorf("%s has no share: say in this file's table what keeps one caller from taking all of it", place)
		}
	}
	for place := range pools {
		if !found[place] {
			t.Errorf("%s is in the table and not in the code", place)
		}
	}
}
