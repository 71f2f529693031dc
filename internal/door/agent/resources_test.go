package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/receipt"
)

// text reads a resource that is one.
func (c *client) resource(uri any) *mcp.ResourceContents {
	c.t.Helper()
	r, err := c.ReadResource(c.t.Context(), &mcp.ReadResourceParams{URI: fmt.Sprint(uri)})
	if err != nil {
		c.t.Fatal(err)
	}
	return r.Contents[0]
}

// keysIn reads PEM blocks.
func keysIn(t *testing.T, text string) (keys []signingkey.Public) {
	t.Helper()
	for _, block := range strings.SplitAfter(text, "-----END PUBLIC KEY-----\n") {
		if block == "" {
			continue
		}
		key, err := signingkey.ParsePublicPEM([]byte(block))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// verify checks a receipt, the ZIP and the log's proof as svc verify does, from
// the resources of an answer of svc_receipt alone.
func (c *client) verify(given answer, zip []byte) {
	c.t.Helper()
	documents, _ := given.at("documents").(map[string]any)
	keys := keysIn(c.t, c.resource(documents["signing-key.pem"]).Text)
	report := receipt.Verify([]byte(c.resource(documents["receipt.json"]).Text), keys, bytes.NewReader(zip))
	var proof receipt.Inclusion
	if err := json.Unmarshal([]byte(c.resource(documents["proof.json"]).Text), &proof); err != nil {
		c.t.Fatal(err)
	}
	report.InLog(&proof, keys, nil)
	if err := report.Err(); err != nil {
		c.t.Errorf("the receipt does not hold: %v: %+v", err, report.Checks)
	}
}

func TestReceiptAndPreviewsAreResources(t *testing.T) {
	eachRendering(t, func(_ *testing.T, svc *service) {
		c := svc.client(svc.agent)
		all := c.tellAll(svc.scene().UploadID)
		c.verify(all[5], svc.get(fmt.Sprint(all[4].at("url"))))
		preview := c.resource(all[3].at("preview"))
		if _, err := jpeg.Decode(bytes.NewReader(preview.Blob)); err != nil || preview.MIMEType != "image/jpeg" {
			svc.t.Errorf("the preview is %s: %v", preview.MIMEType, err)
		}
		job := fmt.Sprint(all[3].at("job_id"))
		for _, uri := range []string{
			"svc://jobs/" + job + "/frames/3/preview.jpg", // not one of its frames
			"svc://jobs/" + job + "/secrets.json", "svc://jobs/" + job + "/../receipt.json", "file:///etc/passwd",
			"svc://jobs/JOB-00000000000000000000000000000000/receipt.json",
		} {
			if r, err := c.ReadResource(svc.t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
				svc.t.Errorf("%s gives %v", uri, r.Contents)
			}
		}
	})
}

// A client that completes what a person types gets the jobs of their workspace, and none of
// another.
func TestTheJobOfAResourceIsCompleted(t *testing.T) {
	t.Parallel()
	svc := start(t, dbtest.URL(t, "sqlite"), rendering)
	c := svc.client(svc.agent)
	all := c.tellAll(svc.scene().UploadID)
	id := fmt.Sprint(all[len(all)-1].at("job_id"))
	ask := func(argument, value string) []string {
		r, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: "svc://jobs/{job_id}/receipt.json"},
			Argument: mcp.CompleteParamsArgument{Name: argument, Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Completion.Values
	}
	if got := ask("job_id", id[:8]); !slices.Contains(got, id) {
		t.Errorf("the jobs that begin with %s are %v", id[:8], got)
	}
	for argument, value := range map[string]string{"job_id": "JOB-x", "frame": ""} {
		if got := ask(argument, value); len(got) > 0 {
			t.Errorf("%s %q is completed to %v", argument, value, got)
		}
	}
	icons := c.InitializeResult().ServerInfo.Icons
	if len(icons) != 1 || !strings.HasSuffix(icons[0].Source, "/favicon.ico") {
		t.Errorf("the icons are %+v", icons)
	}
}

func TestThePromptAsksForConsent(t *testing.T) {
	t.Parallel()
	svc := one(t)
	p, err := svc.client(svc.agent).GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "render_this_scene", Arguments: map[string]string{"file": "a.blend", "frames": "1-3"}})
	if err != nil {
		t.Fatal(err)
	}
	text := p.Messages[0].Content.(*mcp.TextContent).Text
	for _, part := range []string{"File: a.blend\n", "Frames: 1-3\n", "Do not start without my yes"} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q:\n%s", part, text)
		}
	}
}
