package farm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/project"
	"svc.example/internal/work/recheck"
	"svc.example/internal/work/split"
)

// linkLife is how long a worker may take to begin what it was given a link for.
const linkLife = 15 * time.Minute

// stage gives a worker a link by which the bytes of a frame that it describes go to the
// store. The link is good for these bytes only, and once. A worker that holds no frame
// of the job gets none. Nothing is recorded about the frame before it is delivered; the
// sweep removes staged bytes that are never delivered. Errors: invalid_request,
// lease_lost.
func (s *Server) stage(_ http.ResponseWriter, r *http.Request, node identity.NodeKey) (any, error) {
	ctx := r.Context()
	var meta farmapi.FrameResult
	if err := readMeta(r.Body, &meta); err != nil {
		return nil, err
	}
	if _, err := s.worker(ctx, node, meta.WorkerID); err != nil {
		return nil, err
	}
	if err := checkMeta(meta); err != nil {
		return nil, err
	}
	store := blob.ToWorkers(s.Blobs)
	if store == nil || movie.Owns(meta.LeaseID) || preview.Owns(meta.LeaseID) || split.Owns(meta.LeaseID) || leaderboard.OwnsReference(meta.LeaseID) || recheck.Owns(meta.LeaseID) {
		return farmapi.StageReply{OK: true}, nil
	}
	if _, err := s.Frames.Upload(ctx, meta.WorkerID, meta.JobID); err != nil {
		return nil, err
	}
	key := stagedPrefix(meta.JobID) + id.New("") + "-" + meta.File
	link, err := store.PutLink(ctx, key, meta.SizeBytes, meta.SHA256, linkLife)
	return farmapi.StageReply{OK: true, URL: link.URL, Header: link.Header, Key: key}, err
}

// stagedPrefix begins the keys of a job's frames that are not delivered yet.
func stagedPrefix(jobID string) string { return "staged/" + jobID + "/" }

// stagedName is the form of the rest of such a key.
var stagedName = regexp.MustCompile(`^[0-9a-f]+-[a-z0-9_.]+$`)

// take gives a staged picture the key of its delivery. The bytes are read afterwards, like
// those of any delivery: until then only the store has seen them. Errors: invalid_request,
// after which the worker stages the picture again.
func (s *Server) take(ctx context.Context, meta farmapi.FrameResult, p frames.Picture) error {
	store := blob.ToWorkers(s.Blobs)
	name, ours := strings.CutPrefix(meta.Staged, stagedPrefix(meta.JobID))
	if store == nil || !ours || !stagedName.MatchString(name) || !strings.HasSuffix(name, "-"+meta.File) {
		return fault.Field("body.meta.staged", "is not a picture of this frame")
	}
	err := store.Take(ctx, meta.Staged, p.BlobKey)
	if errors.Is(err, blob.ErrNotFound) {
		return fault.Field("body.meta.staged", "is a picture that did not reach the store").Wrap(err)
	}
	if err != nil {
		return fmt.Errorf("store frame: %w", err)
	}
	return nil
}

// sendPart sends a part of an upload that the request names, or a link to it.
func (s *Server) sendPart(w http.ResponseWriter, r *http.Request, uploadID string) (any, error) {
	sum := r.PathValue("sha256")
	if r.URL.Query().Has(farmapi.AskLink) {
		return s.partLink(r.Context(), uploadID, sum)
	}
	content, err := s.files().Open(r.Context(), uploadID, sum)
	if errors.Is(err, project.ErrNoContent) {
		return nil, fault.New(fault.InvalidRequest, "No file of %s has a part %q.", r.PathValue("job_id"), sum)
	}
	if err != nil {
		return nil, err
	}
	return sendBytes(w, r, content)
}

// partLink gives a link to the bytes of one part, where the store gives links. That they
// are whole, the worker finds by their hash.
func (s *Server) partLink(ctx context.Context, uploadID, sum string) (any, error) {
	store := blob.ToWorkers(s.Blobs)
	if store == nil {
		return farmapi.LinkReply{OK: true}, nil
	}
	key, err := s.files().Key(ctx, uploadID, sum)
	if errors.Is(err, project.ErrNoContent) {
		return nil, fault.New(fault.InvalidRequest, "The upload has no part %q.", sum)
	}
	if err != nil {
		return nil, err
	}
	link, err := store.GetLink(ctx, key, blob.Served{}, linkLife)
	return farmapi.LinkReply{OK: true, URL: link}, err
}
