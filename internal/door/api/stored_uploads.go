package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
)

// uploadInput names an upload.
type uploadInput struct {
	UploadID string `path:"upload_id" doc:"From inspect."`
}

// deletedOutput is the answer of a deletion. A repetition gets the same.
type deletedOutput struct {
	Body struct {
		OK       bool   `json:"ok" const:"true"`
		UploadID string `json:"upload_id"`
		Deleted  bool   `json:"deleted" const:"true"`
	}
}

// uploadDoor is one of the two places at which an upload is reached, each with its kind of
// key.
type uploadDoor struct {
	name string // of the upload, in operation ids
	op   huma.Operation
}

// uploadDoors returns both places, for a path below an upload.
func (s *server) uploadDoors(below string) []uploadDoor {
	door := func(name, path, tag string, guard operation.Middleware, schemes ...string) uploadDoor {
		d := uploadDoor{name, huma.Operation{Path: path + below, Tags: []string{tag}, Middlewares: huma.Middlewares{operation.KeepRequestID, guard}}}
		for _, scheme := range schemes {
			d.op.Security = append(d.op.Security, map[string][]string{scheme: {}})
		}
		return d
	}
	return []uploadDoor{
		door("InspectedUpload", "/node/v1/uploads/{upload_id}", "Job API", s.Guard.AgentKeyOrSession(), operation.AgentScheme, operation.SessionScheme),
		door("Upload", "/v1/uploads/{upload_id}", "Renders", s.Guard.AccountKey(), operation.AccountScheme),
	}
}

// storedUploads registers reading and deleting an upload (decisions 15), once for
// each kind of key.
func (s *server) storedUploads(api huma.API) {
	for _, door := range s.uploadDoors("") {
		get, remove := door.op, door.op
		get.OperationID, get.Method = "get"+door.name, http.MethodGet
		get.Summary = "Read an upload again, with its newest quote; one that has expired is replaced"
		huma.Register(api, get, s.readUpload)
		remove.OperationID, remove.Method = "delete"+door.name, http.MethodDelete
		remove.Summary = "Delete an upload that no running job needs; frees its storage at once"
		huma.Register(api, remove, s.deleteUpload)
	}
}

// readUpload answers as inspect did. Errors: upload_not_found.
func (s *server) readUpload(ctx context.Context, in *uploadInput) (*quoteOutput, error) {
	i, err := s.Intake.Inspected(ctx, operation.Caller(ctx).WorkspaceID, in.UploadID)
	return &quoteOutput{s.quoted(i)}, err
}

// deleteUpload removes an upload. Errors: upload_not_found, upload_in_use.
func (s *server) deleteUpload(ctx context.Context, in *uploadInput) (*deletedOutput, error) {
	out := &deletedOutput{}
	out.Body.OK, out.Body.UploadID, out.Body.Deleted = true, in.UploadID, true
	return out, s.Intake.Delete(ctx, operation.Caller(ctx).WorkspaceID, in.UploadID)
}
