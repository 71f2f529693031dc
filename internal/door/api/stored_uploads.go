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

// storedUploads registers reading and deleting an upload (decisions 15), once for
// each kind of key.
func (s *server) storedUploads(api huma.API) {
	for _, door := range []struct {
		tag, path, get, remove string
		guard                  operation.Middleware
		security               []map[string][]string
	}{
		{"Job API", "/node/v1/uploads/{upload_id}", "getInspectedUpload", "deleteInspectedUpload", s.Guard.AgentKeyOrSession(),
			[]map[string][]string{{operation.AgentScheme: {}}, {operation.SessionScheme: {}}}},
		{"Renders", "/v1/uploads/{upload_id}", "getUpload", "deleteUpload", s.Guard.AccountKey(),
			[]map[string][]string{{operation.AccountScheme: {}}}},
	} {
		op := huma.Operation{Path: door.path, Tags: []string{door.tag}, Security: door.security, Middlewares: huma.Middlewares{operation.KeepRequestID, door.guard}}
		get, remove := op, op
		get.OperationID, get.Method = door.get, http.MethodGet
		get.Summary = "Read an upload again, with its newest quote; one that has expired is replaced"
		huma.Register(api, get, s.readUpload)
		remove.OperationID, remove.Method = door.remove, http.MethodDelete
		remove.Summary = "Delete an upload that no running job needs; frees its storage at once"
		huma.Register(api, remove, s.deleteUpload)
	}
}

// readUpload answers as inspect did. Errors: upload_not_found.
func (s *server) readUpload(ctx context.Context, in *uploadInput) (*quoteOutput, error) {
	i, err := s.Intake.Inspected(ctx, operation.Caller(ctx).WorkspaceID, in.UploadID)
	return &quoteOutput{quoted(i)}, err
}

// deleteUpload removes an upload. Errors: upload_not_found, upload_in_use.
func (s *server) deleteUpload(ctx context.Context, in *uploadInput) (*deletedOutput, error) {
	out := &deletedOutput{}
	out.Body.OK, out.Body.UploadID, out.Body.Deleted = true, in.UploadID, true
	return out, s.Intake.Delete(ctx, operation.Caller(ctx).WorkspaceID, in.UploadID)
}
