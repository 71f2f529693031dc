// Package farm serves the HTTP API of the workers: registering, leases,
// heartbeats, deliveries and the files of a job. Package farmapi has the requests
// and replies and the client, which a worker imports without a database.
//
// What always holds: a worker has a node key and reaches only what it has leased;
// every report repeats holder and attempt, and a stale one is refused with
// lease_lost; a frame is on disk and hashed before it is accepted; no reply names
// a workspace.
//
// Package frames decides what a report means, package dispatch which worker gets
// which frame. Start reading at Server.Routes, then deliver.go; waitqueue.go has
// the long poll.
package farm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"svc.example/internal/front"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/project"
)

// Server answers the routes of the workers.
type Server struct {
	DB      *db.DB
	Frames  *frames.Frames
	Workers *dispatch.Workers
	Board   *leaderboard.Board
	Blobs   blob.Store
	// AllowSynthetic accepts workers that render without Blender.
	AllowSynthetic bool
	Errors         *front.Errors
	Log            *slog.Logger

	waiters  *waitQueue
	decoding *semaphore.Weighted // in pixels
}

// Bounds on what a worker may ask and send.
const (
	maxLeases    = 64
	maxWait      = 60 * time.Second
	maxFrameSize = 2 << 30 // bytes of one picture
	maxDecode    = 1 << 26 // pixels of pictures that are decoded at once; a larger picture is not decoded
	maxMeta      = 64 << 10
	maxText      = 16 << 10 // bytes of a log or message
	// beatsPerLease is the number of heartbeats in the life of a lease. They carry
	// the progress too: by default one every two seconds, which is 500 small writes
	// a second for a thousand workers.
	beatsPerLease = 10
)

// Routes adds the routes to mux. WakeWorkers must run beside them.
func (s *Server) Routes(mux *http.ServeMux) {
	s.waiters = newWaitQueue()
	s.decoding = semaphore.NewWeighted(maxDecode)
	mux.Handle("POST "+farmapi.PathRegister, s.route(s.register))
	mux.Handle("POST "+farmapi.PathLease, s.route(s.lease))
	mux.Handle("POST "+farmapi.PathHeartbeat, s.route(s.heartbeat))
	mux.Handle("POST "+farmapi.PathDeliver, s.route(s.deliver))
	mux.Handle("POST "+farmapi.PathFail, s.route(s.fail))
	mux.Handle("POST "+farmapi.PathRelease, s.route(s.release))
	mux.Handle("POST "+farmapi.PathBenchmark, s.route(s.benchmark))
	mux.Handle("GET "+farmapi.PathInput+"{job_id}", s.route(s.project))
	mux.Handle("GET "+farmapi.PathInput+"{job_id}/{sha256}", s.route(s.part))
}

// route checks the node key, and answers with the handler's reply. A nil reply
// means that the handler has written the response.
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
	worker, err := s.Workers.Register(r.Context(), dispatch.Worker{
		KeyID: node.KeyID, Name: clip(req.Name), Renderer: renderer, BlenderVersion: clip(req.BlenderVersion), BuildHash: clip(req.BlenderBuildHash),
		Device: req.Device, DeviceName: clip(req.DeviceName), Denoise: clip(req.Denoise), Sandbox: clip(req.Sandbox),
	})
	if err != nil {
		return nil, err
	}
	s.Log.Info("worker registered", "worker_id", worker, "name", req.Name, "renderer", renderer, "blender", req.BlenderVersion, "device", req.Device,
		"device_name", req.DeviceName, "denoise", req.Denoise, "sandbox", clip(req.Sandbox))
	return farmapi.RegisterReply{
		OK: true, WorkerID: worker,
		LeaseSeconds: s.Frames.LeaseLife.Seconds(), HeartbeatSeconds: s.Frames.LeaseLife.Seconds() / beatsPerLease,
	}, nil
}

// checkRenderer refuses synthetic renderers unless the operator allows them.
// Errors: invalid_request, synthetic_refused.
func (s *Server) checkRenderer(renderer string) error {
	switch {
	case renderer == contract.RendererID:
		return nil
	case renderer != contract.SyntheticRenderer:
		return fault.Field("body.renderer", "must be %s or %s", contract.RendererID, contract.SyntheticRenderer)
	case !s.AllowSynthetic:
		return fault.New(fault.SyntheticRefused, "This service takes no work of synthetic renderers.")
	}
	return nil
}

// worker reads the worker of a report and records that it is online.
func (s *Server) worker(ctx context.Context, node identity.NodeKey, workerID string) (dispatch.Worker, error) {
	worker, err := s.Workers.Touch(ctx, node.KeyID, workerID)
	if err != nil {
		return worker, err
	}
	return worker, s.checkRenderer(worker.Renderer) // the service may have restarted with another setting
}

// lease answers as soon as the worker has frames, or with none after the wait.
func (s *Server) lease(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.LeaseRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if req.Max < 1 || req.Max > maxLeases {
		return nil, fault.Field("body.max", "must be 1 to %d", maxLeases)
	}
	ctx := r.Context()
	if _, err := s.worker(ctx, node, req.WorkerID); err != nil {
		return nil, err
	}
	wait := min(max(0, time.Duration(req.WaitSeconds*float64(time.Second))), maxWait)
	waiting, cancel := front.Waiting(ctx)
	defer cancel()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	waiter := s.waiters.join()
	defer s.waiters.remove(waiter)
	for {
		work, err := s.Frames.Claim(ctx, req.WorkerID, req.JobID, req.Max)
		if err != nil {
			return nil, err
		}
		if len(work.Leases) > 0 {
			return leaseReply(work), nil
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

func leaseReply(w frames.Work) farmapi.LeaseReply {
	reply := farmapi.LeaseReply{OK: true, Job: &farmapi.Job{
		JobID: w.Job.JobID, InputSHA256: w.Job.InputSha256, FramesWaiting: w.Waiting,
	}}
	for _, l := range w.Leases {
		reply.Leases = append(reply.Leases, farmapi.Lease{LeaseID: l.ID, Attempt: int(l.Attempt), Frame: int(l.Item)})
	}
	return reply
}

func (s *Server) heartbeat(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.HeartbeatRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if _, err := s.worker(r.Context(), node, req.WorkerID); err != nil {
		return nil, err
	}
	progress := make([]float64, 0, len(req.Leases))
	for _, h := range req.Leases {
		progress = append(progress, h.Progress)
	}
	lost, err := s.Frames.Heartbeat(r.Context(), req.WorkerID, refs(req.WorkerID, req.Leases), progress)
	return farmapi.HeartbeatReply{OK: true, Lost: lost}, err
}

func refs(workerID string, held []farmapi.Held) []lease.Ref {
	out := make([]lease.Ref, 0, len(held))
	for _, h := range held {
		out = append(out, lease.Ref{ID: h.LeaseID, Holder: workerID, Attempt: int64(h.Attempt)})
	}
	return out
}

func (s *Server) fail(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.FailRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if _, err := s.worker(r.Context(), node, req.WorkerID); err != nil {
		return nil, err
	}
	code := fault.Code(req.Code)
	if fault.Lookup(code).Door != fault.DoorJob {
		return nil, fault.Field("body.code", "is not a failure code")
	}
	ref := lease.Ref{ID: req.LeaseID, Holder: req.WorkerID, Attempt: int64(req.Attempt)}
	return farmapi.OKReply{OK: true}, s.Frames.Fail(r.Context(), ref, framecheck.Failure{
		Code: code, Message: clip(req.Message), Log: clip(req.Log), Final: req.Final,
	})
}

func (s *Server) release(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	var req farmapi.ReleaseRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	if _, err := s.worker(r.Context(), node, req.WorkerID); err != nil {
		return nil, err
	}
	if err := s.Frames.Release(r.Context(), refs(req.WorkerID, req.Leases)); err != nil || !req.Leaving {
		return farmapi.OKReply{OK: true}, err
	}
	s.Log.Info("worker left", "worker_id", req.WorkerID)
	return farmapi.OKReply{OK: true}, s.Workers.MarkOffline(r.Context(), req.WorkerID)
}

// project lists the files of a job.
func (s *Server) project(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	ctx := r.Context()
	uploadID, err := s.uploadOf(r, node)
	if err != nil {
		return nil, err
	}
	m, err := s.files().Manifest(ctx, uploadID)
	reply := farmapi.Project{OK: true, Main: m.Main}
	for _, f := range m.Files {
		reply.Files = append(reply.Files, farmapi.File(f))
	}
	return reply, err
}

// part sends one file's content, or a range of it.
func (s *Server) part(w http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	uploadID, err := s.uploadOf(r, node)
	if err != nil {
		return nil, err
	}
	sum := r.PathValue("sha256")
	content, err := s.files().Open(r.Context(), uploadID, sum)
	if errors.Is(err, project.ErrNoContent) {
		return nil, fault.New(fault.InvalidRequest, "No file of %s has a part %q.", r.PathValue("job_id"), sum)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, content)
	return nil, nil
}

func (s *Server) files() project.Store { return project.Store{DB: s.DB, Blobs: s.Blobs} }

// uploadOf is the upload of the job that a request names, when its worker has
// leased a frame of that job.
func (s *Server) uploadOf(r *http.Request, node identity.NodeKey) (uploadID string, err error) {
	worker, err := s.worker(r.Context(), node, r.URL.Query().Get("worker_id"))
	if err != nil {
		return "", err
	}
	return s.Frames.Upload(r.Context(), worker.WorkerID, r.PathValue("job_id"))
}

// decode reads a JSON body and refuses unknown members.
func decode(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fault.New(fault.UnsupportedMedia, "%s takes application/json.", path.Base(r.URL.Path))
	}
	d := json.NewDecoder(io.LimitReader(r.Body, maxMeta*4))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fault.New(fault.InvalidRequest, "The body cannot be read: %v.", err)
	}
	return nil
}

// clip bounds a worker's text and removes what PostgreSQL cannot store.
func clip(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
}
