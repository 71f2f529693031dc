package autoscale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.example/internal/render/buildoption"
	"svc.example/internal/test/script"
	"svc.example/internal/work/farmapi"
)

const ten = 10 * time.Minute

// of is a demand of one workspace.
func of(frames ...farmapi.FrameDemand) farmapi.DemandReply {
	return farmapi.DemandReply{Workspaces: []farmapi.WorkspaceDemand{{Frames: frames}}}
}

// waiting is a demand of workspaces with so many frames each.
func waiting(frames ...int64) farmapi.DemandReply {
	var d farmapi.DemandReply
	for _, n := range frames {
		d.Workspaces = append(d.Workspaces, farmapi.WorkspaceDemand{Frames: []farmapi.FrameDemand{{Waiting: n}}})
	}
	return d
}

// requiring is a demand of a workspace that requires tags of its workers.
func requiring(tags ...string) farmapi.DemandReply {
	return farmapi.DemandReply{Workspaces: []farmapi.WorkspaceDemand{{Tags: tags, Frames: []farmapi.FrameDemand{{Waiting: 20}}}}}
}

func TestWorkIsWorthWorkersWithinTheBounds(t *testing.T) {
	t.Parallel()
	policy := Policy{Max: 100, WorkPerWorker: ten, FramesPerWorker: 20, Share: 1}
	lacking, tagged, reserved := policy, policy, policy
	tagged.Tags, reserved.Tags, reserved.Reserved = []string{"rtx"}, []string{"rtx"}, true
	lacking.Lacks = []buildoption.Option{buildoption.USD}
	for _, c := range []struct {
		name   string
		policy Policy
		demand farmapi.DemandReply
		want   int
	}{
		{"nothing", Policy{Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 1}, waiting(), 0},
		{"nothing, and some stay", Policy{Min: 2, Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 1}, waiting(), 2},
		{"one frame", Policy{Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 1}, waiting(1), 1},
		{"twenty-one frames", Policy{Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 1}, waiting(21), 2},
		{"more than the most", Policy{Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 1}, waiting(10_000), 10},
		{"one workspace has its share", Policy{Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 0.5}, waiting(10_000), 5},
		{"two workspaces have theirs", Policy{Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 0.5}, waiting(10_000, 21), 7},
		{"a share below one worker is one", Policy{Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 0.01}, waiting(10_000), 1},
		{"frames in work count", Policy{Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 1}, of(farmapi.FrameDemand{Held: 40}), 2},
		{"light frames are worth few workers", policy, of(farmapi.FrameDemand{Waiting: 2000, Measured: 2000, MeasuredSeconds: 400}), 1},
		{"heavy frames are worth many", policy, of(farmapi.FrameDemand{Waiting: 19, Held: 1, Measured: 20, MeasuredSeconds: 20 * 300}), 10},
		{"but no more than frames", policy, of(farmapi.FrameDemand{Waiting: 2, Measured: 2, MeasuredSeconds: 20 * 3600}), 2},
		{"measured ones and others add up", policy, of(farmapi.FrameDemand{Waiting: 60, Measured: 40, MeasuredSeconds: 1200}), 3},
		{"what the workers' Blender cannot render justifies none", lacking, of(farmapi.FrameDemand{Options: []buildoption.Option{buildoption.OSL, buildoption.USD}, Waiting: 100}), 0},
		{"what it can does", lacking, of(farmapi.FrameDemand{Options: []buildoption.Option{buildoption.OSL}, Waiting: 100}, farmapi.FrameDemand{Waiting: 20}), 6},
		{"a workspace that requires a tag justifies no worker without it", policy, requiring("rtx"), 0},
		{"one that requires a tag of the workers does", tagged, requiring("rtx"), 1},
		{"one that requires another one too does not", tagged, requiring("rtx", "studio-b"), 0},
		{"tagged workers work for others", tagged, waiting(20), 1},
		{"reserved ones do not", reserved, waiting(20), 0},
		{"reserved ones work for those that require their tag", reserved, requiring("rtx"), 1},
		{"more measured frames than there are", policy, of(farmapi.FrameDemand{Waiting: 1, Measured: 1000, MeasuredSeconds: -5}), 0},
		{"a service that counts wrongly", Policy{Max: 10, WorkPerWorker: ten, FramesPerWorker: 20, Share: 1}, waiting(-5, 1), 1},
	} {
		if got := c.policy.Wanted(c.demand); got != c.want {
			t.Errorf("%s: %d workers, want %d", c.name, got, c.want)
		}
	}
}

func TestAPolicyOutOfItsRangesIsRefused(t *testing.T) {
	t.Parallel()
	good := Policy{Min: 0, Max: 1, WorkPerWorker: ten, FramesPerWorker: 1, Share: 1, Most: 1}
	if err := good.Check(); err != nil {
		t.Errorf("%+v: %v", good, err)
	}
	for _, bad := range []Policy{
		{Max: 0, WorkPerWorker: ten, FramesPerWorker: 1, Share: 1, Most: 1}, {Min: 2, Max: 1, WorkPerWorker: ten, FramesPerWorker: 1, Share: 1, Most: 1}, {Min: -1, Max: 1, WorkPerWorker: ten, FramesPerWorker: 1, Share: 1, Most: 1},
		{Max: 1, FramesPerWorker: 1, Share: 1, Most: 1}, {Max: 1, WorkPerWorker: ten, FramesPerWorker: 0, Share: 1, Most: 1}, {Max: 1, WorkPerWorker: ten, FramesPerWorker: 1, Share: 0, Most: 1}, {Max: 1, WorkPerWorker: ten, FramesPerWorker: 1, Share: 1.1, Most: 1}, {Max: 1, WorkPerWorker: ten, FramesPerWorker: 1, Share: 1},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// farm is an engine in memory.
type farm struct {
	jobs map[string]bool // whether they run
	next int
	deaf error // what every call answers
}

func (f *farm) List(context.Context) (jobs []Job, err error) {
	for i := range f.next {
		id := fmt.Sprint(i)
		if runs, there := f.jobs[id]; there {
			jobs = append(jobs, Job{id, !runs})
		}
	}
	return jobs, f.deaf
}

func (f *farm) Start(context.Context) error {
	if f.deaf == nil {
		f.jobs[fmt.Sprint(f.next)] = false
		f.next++
	}
	return f.deaf
}

func (f *farm) Cancel(_ context.Context, ids []string) error {
	for _, id := range ids {
		if !f.jobs[id] {
			delete(f.jobs, id)
		}
	}
	return f.deaf
}

// TestNeverMoreThanTheMostWhateverComes changes the demand and the engine at random, with
// restarts of the scaler in between.
func TestNeverMoreThanTheMostWhateverComes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(21, 4))
	f, demand := &farm{jobs: map[string]bool{}}, int64(0)
	policy := Policy{Max: 7, WorkPerWorker: ten, FramesPerWorker: 3, Share: 1, Most: 4}
	fresh := func() *Scaler {
		return &Scaler{Engine: f, Policy: policy, Log: slog.New(slog.DiscardHandler), Demand: func(context.Context) (farmapi.DemandReply, error) { return waiting(demand), nil }}
	}
	s := fresh()
	for i := range 5_000 {
		demand = random.Int64N(60)
		switch id := fmt.Sprint(random.IntN(f.next + 1)); random.IntN(6) {
		case 0:
			if _, there := f.jobs[id]; there {
				f.jobs[id] = true // the engine starts it
			}
		case 1:
			if f.jobs[id] {
				delete(f.jobs, id) // it is idle, and ends
			}
		case 2:
			s = fresh()
		case 3:
			f.deaf = errors.New("the engine does not answer")
		}
		step, err := s.Step(t.Context())
		if (err != nil) != (f.deaf != nil) {
			t.Fatalf("step %d: %v", i, err)
		}
		f.deaf = nil
		if len(f.jobs) > policy.Max || step.Started > policy.Most {
			t.Fatalf("step %d: %d workers, %d asked for at once", i, len(f.jobs), step.Started)
		}
	}
	for demand = 1000; len(f.jobs) < policy.Max; {
		if _, err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAWaveDoesNotCostThePlaceInTheQueue: pending jobs are taken back only when they are
// too many for a while, and running ones never.
func TestAWaveDoesNotCostThePlaceInTheQueue(t *testing.T) {
	t.Parallel()
	f, demand := &farm{jobs: map[string]bool{}}, int64(5)
	s := &Scaler{Engine: f, Policy: Policy{Max: 9, WorkPerWorker: ten, FramesPerWorker: 1, Share: 1, Most: 9}, Demand: func(context.Context) (farmapi.DemandReply, error) { return waiting(demand), nil }}
	step := func() Step {
		t.Helper()
		done, err := s.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	step()
	f.jobs["0"] = true
	demand = 2
	for range patience - 1 {
		if done := step(); done.Cancelled != 0 || len(f.jobs) != 5 {
			t.Fatalf("too early: %+v", done)
		}
	}
	if done := step(); done.Cancelled != 3 || len(f.jobs) != 2 || !f.jobs["0"] {
		t.Errorf("%+v, left %v", done, f.jobs)
	}
	demand = 0
	for range patience {
		step()
	}
	if len(f.jobs) != 1 || !f.jobs["0"] {
		t.Errorf("left %v, want the one that runs", f.jobs)
	}
}

func TestADryRunAsksForNothing(t *testing.T) {
	t.Parallel()
	f := &farm{jobs: map[string]bool{}}
	s := &Scaler{Engine: f, DryRun: true, Policy: Policy{Max: 9, WorkPerWorker: ten, FramesPerWorker: 1, Share: 1, Most: 9}, Demand: func(context.Context) (farmapi.DemandReply, error) { return waiting(3), nil }}
	if step, err := s.Step(t.Context()); err != nil || step.Started != 3 || len(f.jobs) != 0 {
		t.Errorf("%+v, %v, %v", step, f.jobs, err)
	}
}

// TestProgramsOfAnEngineAreCalled with real processes, which keep their jobs in a folder.
func TestProgramsOfAnEngineAreCalled(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program := func(name, text string) []string {
		return []string{script.Write(t, filepath.Join(folder, name), "set -e\ncd "+folder+"\n"+text)}
	}
	e := Command{
		ListWords:   program("list", `for j in job-*; do [ -e "$j" ] && echo "$j $(cat $j)"; done; true`),
		StartWords:  program("start", `n=$(ls | grep -c ^job- || true); echo pending > job-$n`),
		CancelWords: program("cancel", `rm "$@"`),
	}
	for range 2 {
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "job-0"), []byte("running"), 0o600); err != nil {
		t.Fatal(err)
	}
	jobs, err := e.List(t.Context())
	if err != nil || len(jobs) != 2 || jobs[0] != (Job{"job-0", false}) || jobs[1] != (Job{"job-1", true}) {
		t.Errorf("%+v, %v", jobs, err)
	}
	if err := e.Cancel(t.Context(), []string{"job-1"}); err != nil {
		t.Fatal(err)
	}
	if jobs, err := e.List(t.Context()); err != nil || len(jobs) != 1 {
		t.Errorf("%+v, %v", jobs, err)
	}
	e.ListWords = program("broken", "echo 'the queue is down' >&2; exit 3")
	if _, err := e.List(t.Context()); err == nil || !strings.Contains(err.Error(), "the queue is down") {
		t.Errorf("an engine that fails: %v", err)
	}
	e.ListWords = program("odd", "echo a b c")
	if _, err := e.List(t.Context()); err == nil || !strings.Contains(err.Error(), "a b c") {
		t.Errorf("a line that is none: %v", err)
	}
	if _, err := (Command{ListWords: []string{filepath.Join(folder, "none")}}).List(t.Context()); err == nil {
		t.Error("a program that is not there")
	}
}

func TestJobsOfKubernetesAreReadByTheirConditions(t *testing.T) {
	t.Parallel()
	jobs, err := parseKubernetesJobs([]byte(`{"items":[
		{"metadata":{"name":"new"},"status":{}},
		{"metadata":{"name":"waits"},"status":{"active":1,"ready":0}},
		{"metadata":{"name":"runs"},"status":{"active":1,"ready":1}},
		{"metadata":{"name":"done"},"status":{"succeeded":1,"conditions":[{"type":"Complete","status":"True"}]}},
		{"metadata":{"name":"failed"},"status":{"failed":1,"conditions":[{"type":"Suspended","status":"False"},{"type":"Failed","status":"True"}]}}]}`))
	if err != nil || fmt.Sprint(jobs) != "[{new true} {waits true} {runs false}]" {
		t.Errorf("%v, %v", jobs, err)
	}
	if _, err := parseKubernetesJobs([]byte("error: no server")); err == nil {
		t.Error("what is no list is read")
	}
}

// TestAScalerTellsPrometheusWhatItDoes scrapes the metrics of a scaler, before its first look
// and after some.
func TestAScalerTellsPrometheusWhatItDoes(t *testing.T) {
	t.Parallel()
	m := NewMetrics(7)
	server := httptest.NewServer(m.Handler())
	defer server.Close()
	get := func(path string) (int, string) {
		t.Helper()
		answer, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	if code, _ := get("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("ready before the first look: %d", code)
	}
	f, silent := &farm{jobs: map[string]bool{}}, errors.New("no answer")
	s := &Scaler{Engine: f, Policy: Policy{Max: 7, WorkPerWorker: ten, FramesPerWorker: 1, Share: 1, Most: 2}, Log: slog.New(slog.DiscardHandler),
		Demand: func(context.Context) (farmapi.DemandReply, error) { return waiting(3), nil }}
	for range 3 {
		m.Stepped(s.Step(t.Context()))
	}
	f.deaf = silent
	m.Stepped(s.Step(t.Context()))
	if code, _ := get("/readyz"); code != http.StatusOK {
		t.Errorf("not ready after a look: %d", code)
	}
	_, text := get("/metrics")
	for _, want := range []string{
		`svc_autoscale_workers{state="most"} 7`, `svc_autoscale_workers{state="wanted"} 3`, `svc_autoscale_workers{state="pending"} 3`, `svc_autoscale_workers{state="running"} 0`,
		`svc_autoscale_requests_total{verb="start"} 3`, `svc_autoscale_requests_total{verb="cancel"} 0`, `svc_autoscale_failures_total 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics do not have %s", want)
		}
	}
}
