package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/intake"
)

// partInput names a part; its body is streamed.
type partInput struct {
	rawInput
	SHA256 string `path:"sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the part's bytes, in lower-case hex."`
}

// partBody says what the workspace has.
type partBody struct {
	OK        bool   `json:"ok" const:"true"`
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

type partOutput struct {
	Status int
	Body   partBody
}

// parts registers the sending of a project's parts (decisions 16).
func (s *server) parts(api huma.API) {
	send := huma.Operation{
		OperationID: "sendPart", Method: http.MethodPut, Path: links.PartsPath + "{sha256}", Tags: []string{"Job API"}, DefaultStatus: http.StatusCreated,
		Summary:     "Send a part of a project's file, named by its SHA-256",
		Description: "A file is its parts in order; a part has 1 to 33554432 bytes. Parts may be sent in any order, at once and again: 201 says that the part is stored, 200 that it was there. A part that no project uses goes a day after it was sent last.",
		Security:    []map[string][]string{{operation.AgentScheme: {}}, {operation.SessionScheme: {}}},
		Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AgentKeyOrSession(), s.limitStall},
	}
	huma.Register(api, send, s.sendPart)
	// The body is described after registering: else huma would read it.
	put := api.OpenAPI().Paths[send.Path].Put
	put.RequestBody = &huma.RequestBody{
		Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}
	put.Responses["200"] = &huma.Response{Description: "OK", Headers: put.Responses["201"].Headers, Content: put.Responses["201"].Content}
}

// sendPart stores a part. Errors: those of intake.ReceivePart.
func (s *server) sendPart(ctx context.Context, in *partInput) (*partOutput, error) {
	size, stored, err := s.Intake.ReceivePart(ctx, operation.Caller(ctx).WorkspaceID, intake.Part{
		SHA256: in.SHA256, Announced: in.request.ContentLength, Body: in.request.Body,
	})
	status := http.StatusOK
	if stored {
		status = http.StatusCreated
	}
	return &partOutput{status, partBody{OK: true, SHA256: in.SHA256, SizeBytes: size}}, err
}
