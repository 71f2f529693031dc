package agent

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/watch"
)

// What svc verify looks for beside each other: the last parts of the addresses
// are the files' names.
const (
	receiptFile = "receipt.json"
	proofFile   = "proof.json"
	keyFile     = "signing-key.pem"
)

// jobResource is the address of something of a job.
func jobResource(job jobID, what string) string { return "svc://jobs/" + string(job) + "/" + what }

func previewOf(frame int) string { return "frames/" + strconv.Itoa(frame) + "/preview.jpg" }

var resourceForm = regexp.MustCompile(`^svc://jobs/(JOB-[0-9a-f]{32})/(?:([a-z.-]+)|frames/([1-9][0-9]{0,6})/preview\.jpg)$`)

// resources adds what is too large for an answer, or no text.
func (d *door) resources(s *mcp.Server) {
	for _, t := range []mcp.ResourceTemplate{
		{URITemplate: "svc://jobs/{job_id}/" + receiptFile, Name: receiptFile, Title: "Signed receipt", MIMEType: "application/json",
			Description: "A completed job's receipt as it was signed (DSSE around an in-toto statement), every frame with its hashes. Save it as receipt.json for svc verify."},
		{URITemplate: "svc://jobs/{job_id}/" + proofFile, Name: proofFile, Title: "Proof of the log", MIMEType: "application/json",
			Description: "The proof that the public log holds the receipt. Save it as proof.json beside the receipt."},
		{URITemplate: "svc://jobs/{job_id}/" + keyFile, Name: keyFile, Title: "Signing keys", MIMEType: "application/x-pem-file",
			Description: "The service's public keys. Save them as signing-key.pem beside the receipt; keys known from before prove more."},
		{URITemplate: "svc://jobs/{job_id}/frames/{frame}/preview.jpg", Name: "preview.jpg", Title: "Preview of a frame", MIMEType: "image/jpeg",
			Description: "A small picture of a frame that is rendered, at most 480 pixels wide or high."},
	} {
		s.AddResourceTemplate(&t, d.resource)
	}
}

func (d *door) resource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	part := resourceForm.FindStringSubmatch(req.Params.URI)
	if part == nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	content := &mcp.ResourceContents{URI: req.Params.URI}
	var err error
	if part[3] != "" {
		content.MIMEType = "image/jpeg"
		frame, _ := strconv.Atoi(part[3]) // the form lets digits through
		var preview watch.Preview
		if preview, err = d.Watch.Preview(ctx, callerOf(ctx).WorkspaceID, part[1], frame); err == nil {
			content.Blob, err = preview.JPEG(ctx)
		}
	} else {
		content.Text, err = d.document(ctx, part[1], part[2])
	}
	if err != nil {
		d.report(ctx, "resources/read", err)
		return nil, wireError(err, callerOf(ctx).requestID)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
}

// document is a text that proves a completed job.
func (d *door) document(ctx context.Context, job, name string) (string, error) {
	_, r, inclusion, err := d.Jobs.Proof(ctx, callerOf(ctx).WorkspaceID, job)
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
		return d.publicKeys(ctx)
	}
	return "", fault.New(fault.RouteNotFound, "A job has no %s.", name)
}

func (d *door) publicKeys(ctx context.Context) (all string, err error) {
	err = d.DB.Read(ctx, func(tx *db.Tx) error {
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

// wireError tells a refusal where the protocol has no result that could: the
// envelope's error object is its data.
func wireError(err error, requestID string) error {
	_, body := fault.Envelope(err, requestID)
	body.Error.Message, _ = quoted(body.Error.Message, longMessage)
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: body.Error.Message + " " + body.Error.SuggestedAction, Data: unescaped(body.Error)}
}
