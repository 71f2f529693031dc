package story

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"svc.example/client"
	"svc.example/internal/work/receipt"
)

// Proven is a completed job with all that proves it.
type Proven struct {
	Receipt *client.Receipt
	Proof   *client.Proof
	Keys    []client.SigningKey
}

// Proven reads all that proves a completed job.
func (c Caller) Proven(job *client.Job) (p Proven) {
	c.T.Helper()
	var errs [3]error
	p.Receipt, errs[0] = c.Receipt(Patient(c.T), job.JobID)
	p.Proof, errs[1] = c.Proof(Patient(c.T), job.JobID)
	p.Keys, errs[2] = c.SigningKeys(Patient(c.T))
	if err := errors.Join(errs[:]...); err != nil {
		c.T.Fatal(err)
	}
	return p
}

// Outside has scripts/verify-outside check what a caller keeps of a job, its frames too. The
// files whose names end with change are changed by flip; "" changes none.
func (c Caller) Outside(job *client.Job, change string, flip func([]byte) []byte) (output string, err error) {
	c.T.Helper()
	folder, p := c.T.TempDir(), c.Proven(job)
	artifact, err := c.Artifact(Patient(c.T), job.JobID)
	if err != nil {
		c.T.Fatal(err)
	}
	if _, err := c.Download(Patient(c.T), job.JobID, filepath.Join(folder, artifact.Filename), nil); err != nil {
		c.T.Fatal(err)
	}
	proof, err := json.Marshal(p.Proof)
	if err != nil {
		c.T.Fatal(err)
	}
	archive, err := os.ReadFile(filepath.Join(folder, artifact.Filename))
	if err != nil {
		c.T.Fatal(err)
	}
	kept := c.loose(archive)
	kept["receipt.json"], kept["proof.json"], kept["signing-key.pem"], kept[artifact.Filename] = p.Receipt.Envelope, proof, []byte(p.Keys[0].PublicKeyPEM), archive
	for name, content := range kept {
		if strings.HasSuffix(name, change) && change != "" {
			content = flip(bytes.Clone(content))
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			c.T.Fatal(err)
		}
	}
	text, err := exec.CommandContext(Patient(c.T), "../../../../scripts/verify-outside", folder).CombinedOutput()
	return string(text), err
}

// loose are the frames of a ZIP, by their names outside it.
func (c Caller) loose(archive []byte) map[string][]byte {
	c.T.Helper()
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		c.T.Fatal(err)
	}
	frames := map[string][]byte{}
	for _, f := range files.File {
		if name, is := strings.CutPrefix(f.Name, receipt.FrameEntry("")); is {
			if frames[name], err = fs.ReadFile(files, f.Name); err != nil {
				c.T.Fatal(err)
			}
		}
	}
	return frames
}
