package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/preview"
)

// previewBody is a free preview of an upload.
type previewBody struct {
	OK bool `json:"ok" const:"true"`
	preview.View
}

type previewOutput struct{ Body previewBody }

// orderPreviewInput selects the frame. The body may be missing.
type orderPreviewInput struct {
	UploadID string `path:"upload_id" doc:"From inspect."`
	Body     *struct {
		Frame *int `json:"frame,omitempty" doc:"1 or above; the middle of the quoted range when it is absent."`
	}
}

// findPreviewInput selects a preview of an upload.
type findPreviewInput struct {
	UploadID string `path:"upload_id" doc:"From inspect."`
	Frame    int    `query:"frame" minimum:"1" doc:"The frame's number; the newest preview of any frame when it is absent."`
}

// pictureInput is a signed link: preview, end of validity (Unix seconds), signature.
type pictureInput struct {
	PreviewID string `path:"preview_id"`
	Expires   string `query:"expires" required:"true"`
	Signature string `query:"signature" required:"true"`
	operation.Conditional
}

// previews registers free previews, once for each kind of key, and their pictures.
func (s *server) previews(api huma.API) {
	for _, door := range s.uploadDoors("/preview") {
		order, find := door.op, door.op
		order.OperationID, order.Method, order.DefaultStatus = "preview"+door.name, http.MethodPost, http.StatusAccepted
		order.Summary = "Order a free preview of one frame; spends nothing"
		order.Description = "Small, coarse, and rendered when no paid frame waits. Repeating it for the same frame returns the same preview. Poll it with GET."
		order.MaxBodyBytes = contract.MaxJSONBodyBytes
		order.Middlewares = append(slices.Clone(order.Middlewares), s.idempotent(byBody))
		huma.Register(api, order, s.orderPreview)
		find.OperationID, find.Method = "get"+door.name+"Preview", http.MethodGet
		find.Summary = "Read a free preview: its picture, what it shows, and what the quoted frames would take"
		huma.Register(api, find, s.findPreview)
	}
	picture := huma.Operation{
		OperationID: "getPreviewImage", Method: http.MethodGet, Path: links.PreviewImagePath + "{preview_id}", Tags: []string{"Results"},
		Summary: "Fetch the picture of a preview by its signed address", Description: "The address comes from image_url.",
		Middlewares: huma.Middlewares{operation.KeepRequestID}, Responses: streamed("image/jpeg", "The picture, at most 640 pixels wide and high"),
	}
	picture.Responses["304"] = operation.NotModified()
	huma.Register(api, picture, s.previewImage)
}

// orderPreview queues a preview. Errors: those of preview.Previews.Order.
func (s *server) orderPreview(ctx context.Context, in *orderPreviewInput) (*previewOutput, error) {
	var frame *int
	if in.Body != nil {
		frame = in.Body.Frame
	}
	b, err := effect(ctx, s, func(tx *db.Tx) (previewBody, error) {
		v, err := s.Previews.Order(ctx, tx, operation.Caller(ctx).WorkspaceID, in.UploadID, frame)
		return previewBody{true, v}, err
	})
	return &previewOutput{b}, err
}

// findPreview reads a preview. Errors: upload_not_found, preview_not_found.
func (s *server) findPreview(ctx context.Context, in *findPreviewInput) (*previewOutput, error) {
	var frame *int
	if in.Frame > 0 {
		frame = &in.Frame
	}
	v, err := s.Previews.Find(ctx, operation.Caller(ctx).WorkspaceID, in.UploadID, frame)
	return &previewOutput{previewBody{true, v}}, err
}

// previewImage sends a picture. Errors: unauthenticated, preview_not_found.
func (s *server) previewImage(ctx context.Context, in *pictureInput) (*huma.StreamResponse, error) {
	file, sum, err := s.Previews.Image(ctx, in.PreviewID, in.Expires, in.Signature)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer func() { _ = file.Close() }()
		r, w := humago.Unwrap(hc)
		h := w.Header()
		h.Set("Content-Type", "image/jpeg")
		h.Set("ETag", `"`+sum+`"`)
		h.Set("Cache-Control", "private, max-age=3600")
		s.Errors.ServeContent(w, r, time.Time{}, file)
	}}, nil
}
