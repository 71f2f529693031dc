package api

import (
	"context"
	"io"
	"net/http"
	"path"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/watch"
)

// frameBody is an accepted frame (decisions 5). Sizes are bytes, width and
// height pixels.
type frameBody struct {
	Frame         int       `json:"frame"`
	File          string    `json:"file"`
	SHA256        string    `json:"sha256"`
	PixelSHA256   string    `json:"pixel_sha256" doc:"Over the decoded pixels: equal for equal pictures."`
	SizeBytes     int64     `json:"size_bytes"`
	Width         int       `json:"width"`
	Height        int       `json:"height"`
	RenderSeconds float64   `json:"render_seconds"`
	RenderDevice  string    `json:"render_device" enum:"GPU,CPU"`
	DeviceName    string    `json:"device_name"`
	AcceptedAt    time.Time `json:"accepted_at"`
	Finding       *string   `json:"finding" enum:"not_finite,black,pink,uniform,blank,repeated" doc:"What a person should look at, as the table of findings says; null for nothing. A frame is found to repeat the one before it once all frames are in."`
	Checked       *string   `json:"checked" enum:"pixels,structure" doc:"What the service looked at itself: the decoded pixels, or only the file's structure (docs/pictures.md). null for frames of versions that did not say."`
	Strips        int       `json:"strips,omitempty" doc:"In how many strips several workers rendered it (docs/stills.md); absent where one worker did."`
	PreviewURL    string    `json:"preview_url" format:"uri" doc:"A small JPEG, for the same key."`
	FileURL       string    `json:"file_url" format:"uri" doc:"The frame as it was rendered, for the same key."`
	// Outputs are the files that Blender wrote besides the picture.
	Outputs []frameOutputBody `json:"outputs,omitempty" doc:"The files that Blender wrote besides the picture: those of File Output nodes, other views, previews. Absent without any."`
}

// frameOutputBody is a file that Blender wrote for a frame besides its picture.
type frameOutputBody struct {
	Name       string `json:"name" doc:"Below outputs/ in the ZIP, with folders."`
	SHA256     string `json:"sha256"`
	SizeBytes  int64  `json:"size_bytes"`
	FileURL    string `json:"file_url" format:"uri" doc:"The file as it was written, for the same key."`
	PreviewURL string `json:"preview_url,omitempty" format:"uri" doc:"A small JPEG, for the same key. Absent for formats that have none."`
}

type framesOutput struct {
	Body struct {
		OK     bool        `json:"ok" const:"true"`
		JobID  string      `json:"job_id"`
		Frames []frameBody `json:"frames" doc:"Those accepted so far, by number."`
	}
}

// frameInput names a frame of a job.
type frameInput struct {
	JobID string `path:"job_id" doc:"Begins with JOB-."`
	Frame int    `path:"n" minimum:"1" doc:"The frame's number."`
	// Output names a file of a File Output node.
	Output string `query:"output" maxLength:"1000" doc:"A file that Blender wrote besides the picture, by its name in outputs. Default: the frame itself."`
	operation.Conditional
}

// frames registers the routes of a job's frames, previews and log.
func (s *server) frames(api huma.API, d jobRoutes) {
	huma.Register(api, d.op("listJobFrames", http.MethodGet, "/frames", "A job's frames"),
		func(ctx context.Context, in *jobInput) (*framesOutput, error) {
			frames, err := s.Watch.Frames(ctx, operation.Caller(ctx).WorkspaceID, in.JobID)
			if err != nil {
				return nil, err
			}
			out := &framesOutput{}
			out.Body.OK, out.Body.JobID, out.Body.Frames = true, in.JobID, []frameBody{}
			for _, f := range frames {
				out.Body.Frames = append(out.Body.Frames, frameBody{
					Frame: f.Frame, File: f.File, SHA256: f.SHA256, PixelSHA256: f.PixelSHA256, SizeBytes: f.SizeBytes, Width: f.Width, Height: f.Height,
					RenderSeconds: f.RenderSeconds, RenderDevice: f.Device, DeviceName: f.DeviceName, AcceptedAt: f.AcceptedAt, Finding: db.Optional(f.Finding), Checked: db.Optional(f.Checked), Strips: f.Strips,
					PreviewURL: s.Links.Preview(d.jobs, in.JobID, f.Frame), FileURL: s.Links.FrameFile(d.jobs, in.JobID, f.Frame),
					Outputs: s.outputs(d.jobs, in.JobID, f),
				})
			}
			return out, nil
		})
	preview := d.op("getJobFramePreview", http.MethodGet, "/frames/{n}/preview", "A frame as a small JPEG")
	preview.Responses = streamed("image/jpeg", "The picture, its longer side at most 480 pixels")
	preview.Responses["304"] = operation.NotModified()
	huma.Register(api, preview, func(ctx context.Context, in *frameInput) (*huma.StreamResponse, error) {
		found, err := s.Watch.Output(ctx, operation.Caller(ctx).WorkspaceID, in.JobID, in.Frame, in.Output)
		if err != nil {
			return nil, err
		}
		// The tag is the hash of the frame's file. It is known from a row, so a
		// caller that has the preview costs no decoding.
		tag := `"` + found.SHA256 + `"`
		known := in.Matches(tag)
		var picture []byte
		if !known {
			if picture, err = found.JPEG(ctx); err != nil {
				return nil, err
			}
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			hc.SetHeader("ETag", tag)
			// A frame may be rendered again, so a cache must ask each time.
			hc.SetHeader("Cache-Control", "private, no-cache")
			if known {
				hc.SetStatus(http.StatusNotModified)
				return
			}
			hc.SetHeader("Content-Type", "image/jpeg")
			_, _ = hc.BodyWriter().Write(picture) // a failed write means the caller is gone
		}}, nil
	})
	s.frameFile(api, d)
	log := d.op("getJobLog", http.MethodGet, "/log", "What Blender said, frame after frame")
	log.Responses = streamed("text/plain", "The log of the frames accepted so far")
	huma.Register(api, log, func(ctx context.Context, in *jobInput) (*huma.StreamResponse, error) {
		workspace := operation.Caller(ctx).WorkspaceID
		if _, err := s.Jobs.Get(ctx, workspace, in.JobID); err != nil { // a miss must be a 404, before the status is sent
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			if err := s.Watch.WriteLog(ctx, workspace, in.JobID, io.Writer(w)); err != nil && ctx.Err() == nil {
				s.Log.Error("log stream failed", "job_id", in.JobID, "request_id", operation.RequestID(ctx), "err", err)
			}
		}}, nil
	})
}

// outputs are those of a frame as callers see them; nil without any.
func (s *server) outputs(jobs, jobID string, f watch.FrameView) (all []frameOutputBody) {
	for _, o := range f.Outputs {
		body := frameOutputBody{Name: o.Name, SHA256: o.SHA256, SizeBytes: o.SizeBytes, FileURL: links.FrameOutput(s.Links.FrameFile(jobs, jobID, f.Frame), o.Name)}
		if pixels.Thumbnails(o.Name) {
			body.PreviewURL = links.FrameOutput(s.Links.Preview(jobs, jobID, f.Frame), o.Name)
		}
		all = append(all, body)
	}
	return all
}

// frameFile registers the route of a frame as it was rendered, from when it is accepted.
func (s *server) frameFile(api huma.API, d jobRoutes) {
	op := d.op("getJobFrameFile", http.MethodGet, "/frames/{n}/file", "A frame as it was rendered, from when it is accepted")
	op.Description = "Supports Range requests with one range, with If-Range to be sure that the frame was not rendered again."
	op.Responses = streamed("application/octet-stream", "The file, under its own name")
	op.Responses["206"] = operation.Part("application/octet-stream")
	op.Responses["304"] = operation.NotModified()
	huma.Register(api, op, func(ctx context.Context, in *frameInput) (*huma.StreamResponse, error) {
		found, err := s.Watch.Output(ctx, operation.Caller(ctx).WorkspaceID, in.JobID, in.Frame, in.Output)
		if err != nil {
			return nil, err
		}
		tag := `"` + found.SHA256 + `"`
		if in.Matches(tag) {
			return &huma.StreamResponse{Body: func(hc huma.Context) {
				hc.SetHeader("ETag", tag)
				hc.SetStatus(http.StatusNotModified)
			}}, nil
		}
		file, name, size, err := found.File(ctx)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer func() { _ = file.Close() }()
			r, w := humago.Unwrap(hc)
			h := w.Header()
			h.Set("ETag", tag)
			// A worker made the file: browsers save it and never open it.
			h.Set("Content-Type", "application/octet-stream")
			h.Set("Content-Disposition", blob.Attachment(path.Base(name)))
			h.Set("Cache-Control", "private, no-cache") // a frame may be rendered again
			s.Errors.ServeStream(w, r, size, file)
		}}, nil
	})
}

// streamed describes a 200 that is not JSON.
func streamed(kind, what string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {
		Description: what, Content: map[string]*huma.MediaType{kind: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}}
}
