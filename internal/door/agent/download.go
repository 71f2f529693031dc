package agent

import (
	"context"
	"fmt"
)

// downloadDef describes svc_download.
func downloadDef() def {
	return def{
		name: downloadTool, title: "Get the link to the rendered ZIP", idempotent: true,
		description: "Gives a link to the ZIP of a completed job. The link works without a key for one hour; call again for a new one. " +
			"The ZIP holds output/frame_0001.png and so on, manifest.json and render-log.txt.",
	}
}

// download is where the ZIP of a completed job is, with its size and hash. The
// URL authorises itself, so an agent can hand it to curl without showing its
// key.
type download struct {
	OK          yes       `json:"ok"`
	JobID       jobID     `json:"job_id"`
	URL         string    `json:"url" jsonschema:"Needs no key: anyone with the link can fetch the ZIP until expires_at."`
	Filename    string    `json:"filename" jsonschema:"A name to save it by."`
	ContentType string    `json:"content_type"`
	SizeBytes   count     `json:"size_bytes"`
	SHA256      sha256Hex `json:"sha256" jsonschema:"Hash of the ZIP; the receipt says the same."`
	ExpiresAt   moment    `json:"expires_at"`
	Curl        string    `json:"curl" jsonschema:"The exact command that saves the ZIP."`
	step
}

// download handles svc_download. Errors: render_not_found,
// render_not_completed, artifact_expired.
func (s *server) download(ctx context.Context, in jobIn) (download, error) {
	_, f, err := s.Artifacts.Download(ctx, callerOf(ctx).WorkspaceID, string(in.JobID))
	if err != nil {
		return download{}, err
	}
	return download{
		OK: true, JobID: in.JobID, URL: f.URL, Filename: zipName(in.JobID), ContentType: f.ContentType, SizeBytes: count(f.SizeBytes),
		SHA256: sha256Hex(f.SHA256), ExpiresAt: at(f.ExpiresAt),
		Curl: fmt.Sprintf("curl --fail --output %s '%s'", zipName(in.JobID), f.URL),
		step: call(receiptTool, arguments{"job_id": in.JobID}, "Fetch the ZIP, compare its SHA-256, then get the receipt with svc_receipt."),
	}, nil
}

// zipName returns the ZIP's name for commands. The Content-Disposition of the
// download contains the uploaded file's name, which is untrusted and must not
// appear in a command line.
func zipName(job jobID) string { return string(job) + ".zip" }

// lines implements answer.
func (d download) lines() string {
	return fmt.Sprintf("%s, %d bytes, SHA-256 %s; the link works until %s:\n%s\n%s", d.Filename, d.SizeBytes, d.SHA256, d.ExpiresAt, d.Curl, d.SuggestedAction)
}
