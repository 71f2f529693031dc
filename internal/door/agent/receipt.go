package agent

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/links"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/quote"
)

// receiptDef describes svc_receipt.
func receiptDef() def {
	return def{
		name: receiptTool, title: "Read the signed receipt", idempotent: true,
		description: "Tells what a completed job rendered, from which file into which ZIP, on what, and what it cost; signed by the service and kept in a public log. " +
			"The receipt identifies files by SHA-256; it does not judge the pictures.",
	}
}

// receiptAnswer is what the receipt of a completed job states, flattened for a
// reader. The signed bytes are resources (Documents): they are too long for a
// result, and their hash covers each byte.
type receiptAnswer struct {
	OK             yes       `json:"ok"`
	JobID          jobID     `json:"job_id"`
	ReceiptID      receiptID `json:"receipt_id"`
	InputSHA256    sha256Hex `json:"input_sha256" jsonschema:"Hash of the .blend that was rendered."`
	ArtifactSHA256 sha256Hex `json:"artifact_sha256" jsonschema:"Hash of the ZIP."`
	ArtifactBytes  count     `json:"artifact_size_bytes"`
	FrameStart     count     `json:"frame_start"`
	FrameEnd       count     `json:"frame_end"`
	FrameStep      count     `json:"frame_step"`
	FrameCount     count     `json:"frame_count"`
	FrameList      string    `json:"frame_list"`
	BlenderVersion string    `json:"blender_version" jsonschema:"Of the Blender that really rendered."`
	RenderDevice   string    `json:"render_device" jsonschema:"What it rendered on: GPU or CPU."`
	DeviceName     string    `json:"device_name"`
	Switched       []string  `json:"switched" jsonschema:"What was changed against the file, such as denoise_off."`
	RenderSeconds  float64   `json:"render_seconds"`
	ChargedCents   cents     `json:"charged_cents"`
	Currency       string    `json:"currency"`
	CompletedAt    moment    `json:"completed_at"`
	LogIndex       count     `json:"log_index" jsonschema:"The receipt's place in the public log."`
	Documents      documents `json:"documents" jsonschema:"Resources to read and save by these names, for verify_command."`
	ReceiptURL     string    `json:"receipt_url" jsonschema:"The same receipt over HTTP; needs the agent key."`
	ProofURL       string    `json:"proof_url" jsonschema:"The same proof over HTTP; needs the agent key."`
	SigningKeysURL string    `json:"signing_keys_url" jsonschema:"The same keys over HTTP."`
	VerifyCommand  string    `json:"verify_command" jsonschema:"Checks receipt and ZIP without a network."`
	step
}

// documents are the URIs of the three resources. The member names are the file
// names that svc verify expects side by side.
type documents struct {
	Receipt string `json:"receipt.json"`
	Proof   string `json:"proof.json"`
	Key     string `json:"signing-key.pem"`
}

// links implements linked.
func (r receiptAnswer) links() []mcp.Content {
	return []mcp.Content{&mcp.ResourceLink{URI: r.Documents.Receipt, Name: receiptFile, Title: "Signed receipt", MIMEType: "application/json"}}
}

// receipt handles svc_receipt. Errors: render_not_found, render_not_completed.
func (s *server) receipt(ctx context.Context, in jobIn) (receiptAnswer, error) {
	o, r, inclusion, err := s.Jobs.Proof(ctx, callerOf(ctx).WorkspaceID, string(in.JobID))
	if err != nil {
		return receiptAnswer{}, err
	}
	device, _ := escapeText(r.DeviceName, longName)
	out := receiptAnswer{
		OK: true, JobID: in.JobID, ReceiptID: receiptID(r.ReceiptID), InputSHA256: sha256Hex(r.Input.SHA256),
		ArtifactSHA256: sha256Hex(r.Artifact.SHA256), ArtifactBytes: count(r.Artifact.SizeBytes),
		FrameStart: count(r.FrameStart), FrameEnd: count(r.FrameEnd), FrameStep: count(r.FrameStep), FrameCount: count(r.FrameCount), FrameList: quote.ListText(r.FrameStart, r.FrameEnd, r.FrameStep, r.FrameList),
		BlenderVersion: r.Renderer.Version, RenderDevice: r.RenderDevice, DeviceName: device, Switched: append([]string{}, r.Switched...), RenderSeconds: r.RenderSeconds,
		ChargedCents: cents(r.ChargedCents), Currency: r.Currency, CompletedAt: at(r.CompletedAt), LogIndex: count(inclusion.LogIndex),
		Documents: documents{
			jobResource(in.JobID, receiptFile), jobResource(in.JobID, proofFile), jobResource(in.JobID, keyFile),
		},
		SigningKeysURL: s.Links.To(links.SigningKeysPath), VerifyCommand: "svc verify receipt.json --artifact " + zipName(in.JobID),
		step: done("That is all: the ZIP is the result, the receipt proves it. Keep both."),
	}
	out.ReceiptURL, out.ProofURL = s.Links.JobReceipt(links.NodeJobsPath, o.JobID), s.Links.JobProof(links.NodeJobsPath, o.JobID)
	return out, nil
}

// lines implements answer.
func (r receiptAnswer) lines() string {
	return fmt.Sprintf("Receipt %s: %s rendered by Blender %s on %s in %.1f s for %s; ZIP SHA-256 %s, number %d in the public log.\n%s",
		r.ReceiptID, framesOf(int(r.FrameCount)), r.BlenderVersion, r.RenderDevice, r.RenderSeconds, numbers.Dollars(int64(r.ChargedCents)),
		r.ArtifactSHA256, r.LogIndex, r.SuggestedAction)
}
