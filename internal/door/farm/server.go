// Package farm serves the HTTP API of the workers (decisions 14): registering,
// leases, heartbeats, deliveries, and the files of a job. Package farmapi has
// the requests and replies and the client, which a worker imports without a
// database.
//
// What always holds: a worker has a node key and reaches only what it has
// leased. Every report repeats holder and attempt, and a stale one is refused
// with lease_lost. A frame is on disk and hashed before it is accepted. No
// reply names a workspace.
//
// Package delivery takes pictures in, package frames decides what a report means, package preview what one of a free preview
// means, package movie what one of a movie means, package leaderboard what one of a reference render means, package dispatch which
// worker gets which frame. Start reading at Server.Routes, then deliver.go; waitqueue.go has
// the long poll.
package farm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"svc.example/internal/front"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/delivery"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/project"
	"svc.example/internal/work/recheck"
	"svc.example/internal/work/split"
	"svc.example/internal/work/workertags"
)

// Server serves the routes of the workers. Its exported fields are set before
// Routes and not changed afterwards; it closes none of them. Its handlers run
// concurrently.
type Server struct {
	DB     *db.DB
	Frames *frames.Frames
	// Previews are the free ones, which workers render that no frame waits for.
	Previews *preview.Previews
	// Movies are those of completed jobs, which such workers encode.
	Movies  *movie.Movies
	Workers *dispatch.Workers
	Cuts    *split.Cuts // has several workers render a frame
	// Rechecks has such workers render a sample of the reused frames again.
	Rechecks *recheck.Rechecks
	Board    *leaderboard.Board
	Desk     *delivery.Desk // takes pictures in
	Blobs    blob.Store
	Whole    *blob.Whole // what of Blobs was hashed, one for the process
	// AllowSynthetic admits workers that render without Blender, for tests of
	// the service. It is checked at every report, not only when a worker
	// registers.
	AllowSynthetic bool
	// FrameTime is how long a worker may render a frame. Workers learn it when they
	// register.
	FrameTime time.Duration
	// PlayTime is how long the frames before a frame may take to be computed.
	PlayTime time.Duration
	// Outputs bounds the files of File Output nodes of a frame. Workers learn it when they
	// register.
	Outputs farmapi.OutputLimits
	Errors  *front.Errors
	Log     *slog.Logger

	checks  inputChecks
	waiters *waitQueue
	heard   atomic.Bool
}

// Heard reports whether a worker has reported to this process since the last call, or waits
// for frames now.
func (s *Server) Heard() bool { return s.heard.Swap(false) || s.waiters.any() }

// Bounds on what a worker may request and send. Workers run on machines that
// the service does not trust, so every size has one.
const (
	// maxLeases is how many frames one claim may ask for.
	maxLeases = 64
	// maxWait bounds the long poll. A longer wait is cut, not refused.
	maxWait = 60 * time.Second
	// maxFrameSize is the largest picture, in bytes: room for a large frame of
	// many layers in 32-bit float.
	maxFrameSize = 2 << 30
	// maxMeta bounds the description of a delivery, in bytes, with the names of
	// farmapi.MostOutputs; a JSON body may have four times as much.
	maxMeta = 256 << 10
	// maxText bounds a log or message, in bytes.
	maxText = 16 << 10
	// maxReason bounds why a worker cannot work, in bytes.
	maxReason = 300
	// beatsPerLease is the number of heartbeats in the life of a lease. Several
	// can get lost before the lease lapses. They also carry the progress: by
	// default one every two seconds, which is 500 small writes a second for a
	// thousand workers.
	beatsPerLease = 10
)

// Routes adds the routes to mux and prepares the wait queue. WakeWorkers must
// run concurrently, or a waiting worker learns of new frames only when its wait
// is over.
func (s *Server) Routes(mux *http.ServeMux) {
	s.waiters = newWaitQueue()
	mux.Handle("POST "+farmapi.PathRegister, s.route(s.register))
	mux.Handle("POST "+farmapi.PathLease, s.route(s.lease))
	mux.Handle("POST "+farmapi.PathHeartbeat, s.route(s.heartbeat))
	mux.Handle("POST "+farmapi.PathDeliver, s.route(s.deliver))
	mux.Handle("POST "+farmapi.PathStage, s.route(s.stage))
	mux.Handle("POST "+farmapi.PathFail, s.route(s.fail))
	mux.Handle("POST "+farmapi.PathRelease, s.route(s.release))
	mux.Handle("GET "+farmapi.PathDemand, s.route(s.demand))
	mux.Handle("POST "+farmapi.PathReference, s.route(s.reference))
	mux.Handle("POST "+farmapi.PathBenchmark, s.route(s.benchmark))
	mux.Handle("POST "+farmapi.PathChallenge, s.route(s.challenge))
	mux.Handle("GET "+farmapi.PathStrips+"{job_id}/{sha256}", s.route(s.strip))
	mux.Handle("GET "+farmapi.PathInput+"{job_id}", s.route(s.project))
	mux.Handle("GET "+farmapi.PathInput+"{job_id}/{sha256}", s.route(s.part))
}

// route returns the handler of a route. It authenticates the node key before
// the body is read, and encodes the reply. A nil reply means that handle has
// written the response itself. Errors: unauthenticated, and those of handle.
func (s *Server) route(handle func(w http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error)) http.Handler {
	return s.Errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		node, err := identity.Node(r.Context(), s.DB, r.Header.Get("Authorization"))
		if err != nil {
			return err
		}
		reply, err := handle(w, r, node)
		if err != nil || reply == nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		// A failed write means the worker is gone; its lease lapses.
		_ = json.NewEncoder(w).Encode(reply)
		return nil
	})
}

// register adds a worker and says how often it has to send heartbeats. A worker
// that restarts registers again and gets a new id. Errors: invalid_request,
// synthetic_refused.
func (s *Server) register(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.RegisterRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if req.Device != "GPU" && req.Device != "CPU" {
		return nil, fault.Field("body.device", "must be GPU or CPU")
	}
	renderer := cmp.Or(req.Renderer, contract.RendererID)
	if err := s.checkRenderer(renderer); err != nil {
		return nil, err
	}
	has, err := workertags.Of(req.Tags)
	if err != nil {
		return nil, fault.Field("body.tags", "%s", err)
	}
	of := dispatch.Worker{
		KeyID: node.KeyID, Name: clip(req.Name), Renderer: renderer, BlenderVersion: clip(req.BlenderVersion), BuildHash: clip(req.BlenderBuildHash),
		Device: req.Device, DeviceName: clip(req.DeviceName), Denoise: clip(req.Denoise), Sandbox: clip(req.Sandbox),
		Colors: req.Colors, Lacks: lacksOf(req), Strips: req.Strips, Tags: has, Reserved: req.Reserved, Rows: rowsOf(req),
	}
	if of.WorkerID, err = s.Workers.Register(r.Context(), of); err == nil {
		err = s.warnOfRows(r.Context(), of)
	}
	if err != nil {
		return nil, err
	}
	s.Log.Info("worker registered", "worker_id", of.WorkerID, "name", clip(req.Name), "renderer", renderer, "blender", clip(req.BlenderVersion), "device", req.Device,
		"device_name", clip(req.DeviceName), "denoise", clip(req.Denoise), "sandbox", clip(req.Sandbox), "tags", has, "reserved", req.Reserved)
	return farmapi.RegisterReply{
		OK: true, WorkerID: of.WorkerID,
		LeaseSeconds: s.Frames.LeaseLife.Seconds(), HeartbeatSeconds: s.Frames.LeaseLife.Seconds() / beatsPerLease,
		FrameSeconds: s.FrameTime.Seconds(), PlaySeconds: s.PlayTime.Seconds(), Links: blob.ToWorkers(s.Blobs) != nil, Outputs: s.Outputs,
	}, nil
}

// lacksOf is what a worker has not that scenes may need. One of an older version delivers no
// outputs.
func lacksOf(req farmapi.RegisterRequest) buildoption.Set {
	lacks := buildoption.Of(req.Lacks...)
	if !req.Outputs {
		lacks |= buildoption.Of(buildoption.FileOutputs)
	}
	if !req.Views {
		lacks |= buildoption.Of(buildoption.Views)
	}
	return lacks
}

// demand says what kinds of workers are needed, for operators that can start
// some.
func (s *Server) demand(_ http.ResponseWriter, r *http.Request, _ identity.NodeKey) (any, error) {
	reply := farmapi.DemandReply{OK: true, Workspaces: []farmapi.WorkspaceDemand{}}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) error {
		all, err := dispatch.FindDemand(r.Context(), tx)
		for _, of := range all {
			w := farmapi.WorkspaceDemand{Tags: of.Tags}
			for _, needs := range slices.Sorted(maps.Keys(of.Frames)) {
				d := of.Frames[needs]
				w.Frames = append(w.Frames, farmapi.FrameDemand{
					Options: needs.Options(), Waiting: d.Waiting, Held: d.Held, Measured: d.Measured, MeasuredSeconds: float64(d.MeasuredUs) / 1e6,
				})
			}
			reply.Workspaces = append(reply.Workspaces, w)
		}
		return err
	})
	return reply, err
}

// checkRenderer refuses a renderer other than Blender, unless it is the
// synthetic one and the operator allows it. Errors: invalid_request,
// synthetic_refused.
func (s *Server) checkRenderer(renderer string) error {
	switch {
	case renderer == contract.RendererID:
		return nil
	case renderer != contract.SyntheticRenderer:
		return fault.Field("body.renderer", "must be %s or %s", contract.RendererID, contract.SyntheticRenderer)
	case !s.AllowSynthetic:
		return fault.New(fault.SyntheticRefused, "This service does not accept synthetic renderers.")
	}
	return nil
}

// worker returns the worker of a report and records that it is online. The
// worker must belong to the node key: an id alone opens nothing. The renderer
// is checked again because the service may have restarted with another setting.
func (s *Server) worker(ctx context.Context, node identity.NodeKey, workerID string) (dispatch.Worker, error) {
	worker, err := s.Workers.Touch(ctx, node.KeyID, workerID)
	if err != nil {
		return worker, err
	}
	s.heard.Store(true)
	return worker, s.checkRenderer(worker.Renderer) // the service may have restarted with another setting
}

// lease serves the long poll. It replies as soon as the worker has frames, or
// with none after the wait. It joins the wait queue before the first claim:
// work that arrives during the claim then wakes it again, and is not missed.
//
// A stop of the service ends the wait at once with a 503, so that the worker
// connects to another process.
func (s *Server) lease(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.LeaseRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if req.Max < 1 || req.Max > maxLeases {
		return nil, fault.Field("body.max", "must be 1 to %d", maxLeases)
	}
	ctx := r.Context()
	worker, err := s.worker(ctx, node, req.WorkerID)
	if err != nil {
		return nil, err
	}
	wait := min(max(0, time.Duration(req.WaitSeconds*float64(time.Second))), maxWait)
	waiting, cancel := front.Waiting(ctx)
	defer cancel()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	open := dispatch.OpenJob{JobID: req.JobID}
	if req.After != nil {
		open.After = new(int64(*req.After))
	}
	waiter := s.waiters.join(req.Previews || req.Movies)
	defer s.waiters.remove(waiter)
	for {
		if reply, err := s.claim(ctx, worker, open, req.Max); err != nil || reply != nil {
			return reply, err
		}
		if reply, ok, err := s.claimAside(ctx, req); err != nil || ok {
			return reply, err
		}
		select {
		case <-waiting.Done():
			return nil, context.Cause(waiting)
		case <-timeout.C:
			return farmapi.LeaseReply{OK: true, Leases: []farmapi.Lease{}}, nil
		case <-s.waiters.wait(waiter):
		}
	}
}

// leaseReply writes claimed frames as the wire has them. All belong to one job,
// because a worker has one file open.
func leaseReply(w frames.Work) (farmapi.LeaseReply, error) {
	first, last, step, err := job.FramesOf(w.Job)
	if err != nil {
		return farmapi.LeaseReply{}, err
	}
	chosen, err := settings.Read(w.Job.Settings)
	if err != nil {
		return farmapi.LeaseReply{}, err
	}
	reply := farmapi.LeaseReply{OK: true, Job: &farmapi.Job{
		Settings: chosen.Picture(), JobID: w.Job.JobID, InputSHA256: w.Job.InputSha256, FramesWaiting: w.Waiting,
		Frames: farmapi.Frames{First: first, Last: last, Step: step}, Plays: w.Plays, Scene: w.Scene,
	}}
	for _, l := range w.Leases {
		reply.Leases = append(reply.Leases, farmapi.Lease{LeaseID: l.ID, Attempt: int(l.Attempt), Frame: int(l.Item)})
	}
	return reply, nil
}

// fail ends an attempt that the worker could not finish. The code must be one
// of the failure codes of a job; a worker cannot report an error of the API.
func (s *Server) fail(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.FailRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if _, err := s.worker(r.Context(), node, req.WorkerID); err != nil {
		return nil, err
	}
	code := fault.Code(req.Code)
	// Data that the service's own store lost ends a job without a second key's
	// confirmation, so no worker may report it.
	if fault.Lookup(code).Door != fault.DoorJob || code == fault.PackagingFailed || code == fault.EndedByOperator {
		return nil, fault.Field("body.code", "is not a failure code")
	}
	ref := lease.Ref{ID: req.LeaseID, Holder: req.WorkerID, Attempt: int64(req.Attempt)}
	failure := framecheck.Failure{Code: code, Message: clip(req.Message), Log: clip(req.Log), Final: req.Final}
	if split.Owns(ref.ID) {
		return farmapi.OKReply{OK: true}, s.Cuts.Fail(r.Context(), ref, failure)
	}
	if preview.Owns(ref.ID) {
		return farmapi.OKReply{OK: true}, s.Previews.Fail(r.Context(), ref, failure)
	}
	if movie.Owns(ref.ID) {
		return farmapi.OKReply{OK: true}, s.Movies.Fail(r.Context(), ref, failure)
	}
	if leaderboard.OwnsReference(ref.ID) {
		return farmapi.OKReply{OK: true}, s.Board.FailReference(r.Context(), ref, failure)
	}
	if recheck.Owns(ref.ID) {
		return farmapi.OKReply{OK: true}, s.Rechecks.Fail(r.Context(), ref, failure)
	}
	if code == fault.InputDamaged {
		var err error
		if failure, err = s.inputReported(r.Context(), ref); err != nil {
			return nil, err
		}
	}
	return farmapi.OKReply{OK: true}, s.Frames.Fail(r.Context(), ref, failure)
}

// release returns frames unfinished, which counts as no failure. A worker that
// leaves goes offline at once, and not only after a time of silence.
func (s *Server) release(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.ReleaseRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if _, err := s.worker(r.Context(), node, req.WorkerID); err != nil {
		return nil, err
	}
	held := byKind(req.Leases)
	if lacks := buildoption.Of(req.Lacks...); lacks != 0 { // before another movie is given to it
		if err := s.Workers.RecordLacks(r.Context(), req.WorkerID, lacks); err != nil {
			return nil, err
		}
	}
	if err := s.Movies.Release(r.Context(), refs(req.WorkerID, held.movies)); err != nil {
		return nil, err
	}
	if err := s.Cuts.Release(r.Context(), refs(req.WorkerID, held.strips)); err != nil {
		return nil, err
	}
	if err := s.Board.ReleaseReferences(r.Context(), refs(req.WorkerID, held.references)); err != nil {
		return nil, err
	}
	if err := s.Rechecks.Release(r.Context(), refs(req.WorkerID, held.rechecks)); err != nil {
		return nil, err
	}
	if err := s.Previews.Release(r.Context(), refs(req.WorkerID, held.previews)); err != nil {
		return nil, err
	}
	// Before the frames wait again, so that it does not get them at once.
	if reason := plaintext.Line(clip(req.Unable[:min(len(req.Unable), maxReason)])); reason != "" {
		if err := s.Workers.RecordUnable(r.Context(), req.WorkerID, reason); err != nil {
			return nil, err
		}
	}
	if err := s.Frames.Release(r.Context(), refs(req.WorkerID, held.frames)); err != nil || !req.Leaving {
		return farmapi.OKReply{OK: true}, err
	}
	s.Log.Info("worker left", "worker_id", req.WorkerID)
	return farmapi.OKReply{OK: true}, s.Workers.MarkOffline(r.Context(), req.WorkerID)
}

// project lists the files of a job with their hashes. Errors: lease_lost for a
// worker that holds no frame of the job.
func (s *Server) project(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	ctx := r.Context()
	if isMovie(r) {
		z, own, err := s.movieInput(r, node)
		if err != nil {
			return nil, err
		}
		return s.movieProject(ctx, z, own)
	}
	uploadID, err := s.uploadOf(r, node)
	if err != nil {
		return nil, err
	}
	m, err := s.files().Manifest(ctx, uploadID)
	if err != nil {
		return nil, err
	}
	scene, err := s.files().Scene(ctx, uploadID, m)
	reply := farmapi.Project{OK: true, Main: m.Main, Scene: scene}
	for _, f := range m.Files {
		reply.Files = append(reply.Files, farmapi.File(f))
	}
	for _, a := range m.Aliases {
		reply.Aliases = append(reply.Aliases, farmapi.Alias(a))
	}
	return reply, err
}

// part sends the content of one file of a job by its SHA-256. It honours Range,
// so that an interrupted download resumes. A worker that asks for a link gets one, where
// the store gives them. The hash must be one of the job's
// own files: otherwise a worker could read any blob whose hash it knows.
func (s *Server) part(w http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	if isMovie(r) {
		return s.moviePart(w, r, node)
	}
	uploadID, err := s.uploadOf(r, node)
	if err != nil {
		return nil, err
	}
	answer, err := s.sendPart(w, r, uploadID)
	if (errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrDamaged)) && isJob(r) {
		return nil, s.inputLost(r.Context(), r.PathValue("job_id"), uploadID, err)
	}
	return answer, err
}

// sendBytes sends what a worker asked for, or the part of it that Range names, and closes it.
func sendBytes(w http.ResponseWriter, r *http.Request, content blob.Reader) (any, error) {
	defer func() { _ = content.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, content)
	return nil, nil
}

// files reads the manifests and contents of projects.
func (s *Server) files() project.Store {
	return project.Store{DB: s.DB, Blobs: s.Blobs, Whole: s.Whole}
}

// isJob reports whether a request names a job, and no preview.
func isJob(r *http.Request) bool { return !id.Valid(id.Preview, r.PathValue("job_id")) }

// uploadOf returns the upload of the job or preview that the request names, if its worker
// holds a frame of it. Errors: lease_lost.
func (s *Server) uploadOf(r *http.Request, node identity.NodeKey) (uploadID string, err error) {
	worker, err := s.worker(r.Context(), node, r.URL.Query().Get("worker_id"))
	if err != nil {
		return "", err
	}
	if !isJob(r) {
		return s.Previews.Upload(r.Context(), worker.WorkerID, r.PathValue("job_id"))
	}
	return s.Frames.Upload(r.Context(), worker.WorkerID, r.PathValue("job_id"))
}
