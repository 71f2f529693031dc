package console

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/watch"
)

// cutFrames are the frames of a job that several workers are rendering, by their numbers.
func (s *Site) cutFrames(ctx context.Context, who identity.Principal, o job.Object) (map[int]*watch.CutFrame, error) {
	if o.Status != job.Rendering {
		return nil, nil
	}
	cut, err := s.Watch.CutFrames(ctx, who.WorkspaceID, o.JobID)
	by := map[int]*watch.CutFrame{}
	for i := range cut {
		by[cut[i].Frame] = &cut[i]
	}
	return by, err
}

// whole is why one machine renders each long frame of a job; "" for frames that are short or in
// strips.
func (s *Site) whole(ctx context.Context, who identity.Principal, jobID string) (why string, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		record, err := job.Find(ctx, tx, who.WorkspaceID, jobID)
		if err == nil {
			why, err = s.Cuts.Whole(ctx, tx, record)
		}
		return err
	})
	return why, err
}

// StripPath is the address of the picture of a strip.
func (c cell) StripPath(s watch.CutStrip) string {
	return fmt.Sprintf("%s/strips/%d?v=%s", c.Path(), s.Part, s.SHA256[:8])
}

// strip serves the picture of a strip of a frame that several workers are rendering.
func (s *Site) strip(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	ctx, jobID := r.Context(), r.PathValue("job_id")
	frame, err1 := strconv.Atoi(r.PathValue("frame"))
	part, err2 := strconv.Atoi(r.PathValue("part"))
	if err1 != nil || err2 != nil {
		return fault.New(fault.FrameNotFound, "There is no strip %q of a frame %q.", r.PathValue("part"), r.PathValue("frame"))
	}
	found, err := s.Watch.CutStrip(ctx, who.WorkspaceID, jobID, frame, part)
	if err != nil {
		return err
	}
	return page.SendPicture(w, r, "image/jpeg", found.SHA256, page.FrameCacheOf(r, found.SHA256), func() ([]byte, error) { return s.Watch.StripJPEG(ctx, jobID, found) })
}
