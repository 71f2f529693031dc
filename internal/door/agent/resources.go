package agent

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/watch"
)

// File names under which svc verify expects the documents, side by side. Each
// is the last part of a resource's URI, so that a client saves it correctly.
const (
	receiptFile = "receipt.json"
	proofFile   = "proof.json"
	keyFile     = "signing-key.pem"
)

// jobResource returns the URI of a resource of a job.
func jobResource(job jobID, what string) string { return "svc://jobs/" + string(job) + "/" + what }

// previewOf returns the last part of a preview's URI.
func previewOf(frame int) string { return "frames/" + strconv.Itoa(frame) + "/preview.jpg" }

// resourceForm parses a resource URI into job id, document name, and frame
// number. Exactly one of the last two is not empty. Seven digits bound the
// frame number well within an int.
var resourceForm = regexp.MustCompile(`^svc://jobs/(JOB-[0-9a-f]{32})/(?:([a-z.-]+)|frames/([1-9][0-9]{0,6})/preview\.jpg)$`)

// resources registers what is too long for a tool result or is not text: signed
// documents and previews. They are templates, so that the list does not grow
// with the jobs and needs no query.
func (s *server) resources(m *mcp.Server) {
	for _, t := range []mcp.ResourceTemplate{
		{URITemplate: "svc://jobs/{job_id}/" + receiptFile, Name: receiptFile, Title: "Signed receipt", MIMEType: "application/json",
			Description: "A completed job's receipt as it was signed (DSSE around an in-toto statement), every frame with its hashes. Save it as receipt.json for svc verify."},
		{URITemplate: "svc://jobs/{job_id}/" + proofFile, Name: proofFile, Title: "Proof of the log", MIMEType: "application/json",
			Description: "The proof that the public log holds the receipt. Save it as proof.json next to the receipt."},
		{URITemplate: "svc://jobs/{job_id}/" + keyFile, Name: keyFile, Title: "Signing keys", MIMEType: "application/x-pem-file",
			Description: "The service's public keys. Save them as signing-key.pem next to the receipt. Keys that you obtained earlier prove more."},
		{URITemplate: "svc://jobs/{job_id}/frames/{frame}/preview.jpg", Name: "preview.jpg", Title: "Preview of a frame", MIMEType: "image/jpeg",
			Description: "A small picture of a frame that is rendered, at most 480 pixels wide or high."},
	} {
		m.AddResourceTemplate(&t, s.resource)
	}
}

// complete completes the job_id of a resource: the newest jobs of the caller's workspace. Nothing
// else that a person types has values which the service knows.
func (s *server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	found := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	if ref := req.Params.Ref; ref == nil || ref.Type != "ref/resource" || req.Params.Argument.Name != "job_id" {
		return found, nil
	}
	page, more, err := s.Jobs.List(ctx, job.ListRequest{WorkspaceID: callerOf(ctx).WorkspaceID, Limit: mostListed})
	if err != nil {
		return nil, err
	}
	for _, o := range page {
		if strings.HasPrefix(o.JobID, req.Params.Argument.Value) {
			found.Completion.Values = append(found.Completion.Values, o.JobID)
		}
	}
	found.Completion.HasMore = more
	return found, nil
}

// resource reads one resource of the caller's workspace. Its errors are
// protocol errors, because reading a resource has no result that could carry a
// refusal.
func (s *server) resource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	part := resourceForm.FindStringSubmatch(req.Params.URI)
	if part == nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	content := &mcp.ResourceContents{URI: req.Params.URI}
	var err error
	if part[3] != "" {
		content.MIMEType = "image/jpeg"
		frame, _ := strconv.Atoi(part[3]) // the pattern has digits only
		var preview watch.Preview
		if preview, err = s.Watch.Preview(ctx, callerOf(ctx).WorkspaceID, part[1], frame); err == nil {
			content.Blob, err = preview.JPEG(ctx)
		}
	} else {
		content.Text, err = s.document(ctx, part[1], part[2])
	}
	if err != nil {
		s.report(ctx, "resources/read", err)
		return nil, protocolError(err, callerOf(ctx).requestID)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
}

// document returns one of the texts that prove a completed job. Errors:
// render_not_found, render_not_completed, route_not_found for another name.
func (s *server) document(ctx context.Context, job, name string) (string, error) {
	_, r, inclusion, err := s.Jobs.Proof(ctx, callerOf(ctx).WorkspaceID, job)
	if err != nil {
		return "", err
	}
	switch name {
	case receiptFile:
		return string(r.Envelope), nil
	case proofFile:
		text, err := json.MarshalIndent(inclusion, "", "  ")
		return string(text), err
	case keyFile:
		return s.publicKeys(ctx)
	}
	return "", fault.New(fault.RouteNotFound, "A job has no %s.", name)
}

// publicKeys returns all signing keys, PEM after PEM, since an older receipt
// may be signed by a retired key. The closure starts from "" because a
// transaction can run more than once.
func (s *server) publicKeys(ctx context.Context) (all string, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		all = ""
		keys, err := signing.All(ctx, tx)
		for _, k := range keys {
			text, bad := k.Key.PEM()
			all, err = all+string(text), errors.Join(err, bad)
		}
		return err
	})
	return all, err
}

// protocolError returns err as a JSON-RPC error, whose data is the error object
// of spec 7, so that programs can branch on its code.
func protocolError(err error, requestID string) error {
	_, body := fault.Envelope(err, requestID)
	body.Error.Message, _ = escapeText(body.Error.Message, longMessage)
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: body.Error.Message + " " + body.Error.SuggestedAction, Data: unescaped(body.Error)}
}
