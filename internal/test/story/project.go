package story

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing/fstest"

	"svc.example/client"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/receipt"
)

// madeProject is a project that Blender has made, and the hash of the pixels of its frames
// as Blender writes them in the project's folder and without the other files.
type madeProject struct {
	Files       map[string][]byte
	Whole, Lone map[int]string
}

// ProjectMain is the .blend file of the glowing project.
const ProjectMain = "shots/Anna's shot.blend"

// GlowingProject is made once for all stories of a package.
var GlowingProject = sync.OnceValues(func() (made madeProject, err error) {
	folder, err := os.MkdirTemp("", "svc-project-")
	if err != nil {
		return made, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return made, err
	}
	run := func(args ...string) error {
		output, err := exec.Command(program, append([]string{"--background", "--factory-startup", "-noaudio"}, args...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%q: %w\n%s", args, err, output)
		}
		return nil
	}
	at := filepath.Join(folder, "project")
	if err := run("--python-exit-code", "1", "--python", "../../../../scripts/scenes/project.py", "--", at); err != nil {
		return made, err
	}
	made.Files = map[string][]byte{}
	err = fs.WalkDir(os.DirFS(at), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			made.Files[name], err = os.ReadFile(filepath.Join(at, name))
		}
		return err
	})
	if err != nil {
		return made, err
	}
	pictures := func(blend string) (map[int]string, error) {
		out := map[int]string{}
		if err := run(blend, "-o", filepath.Join(folder, "frame_"), "-a"); err != nil {
			return nil, err
		}
		for n := 1; n <= 2; n++ {
			picture, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("frame_%04d.png", n)))
			if err != nil {
				return nil, err
			}
			seen, err := pixels.Read(bytes.NewReader(picture))
			if err != nil {
				return nil, err
			}
			out[n] = seen.SHA256
		}
		return out, nil
	}
	if made.Whole, err = pictures(filepath.Join(at, ProjectMain)); err != nil {
		return made, err
	}
	lone := filepath.Join(folder, "lone.blend")
	if err := os.WriteFile(lone, made.Files[ProjectMain], 0o600); err != nil {
		return made, err
	}
	made.Lone, err = pictures(lone)
	return made, err
})

// call sends a request with the caller's agent key and reads the answer into body.
func (c Caller) call(method, address string, content []byte, body any) (status int) {
	c.T.Helper()
	r, err := http.NewRequestWithContext(Patient(c.T), method, address, bytes.NewReader(content))
	if err != nil {
		c.T.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.Agent.Secret)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.T.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(text, body)
	}
	if err != nil {
		c.T.Fatalf("%s %s: %d %s: %v", method, address, res.StatusCode, text, err)
	}
	return res.StatusCode
}

// QuoteProject sends files of a project, in small parts, and quotes it.
func (c Caller) QuoteProject(url string, files map[string][]byte) *client.Quote {
	c.T.Helper()
	type listed struct {
		Path  string   `json:"path"`
		Size  int      `json:"size_bytes"`
		Parts []string `json:"parts"`
	}
	var list struct {
		Main  string   `json:"main"`
		Files []listed `json:"files"`
	}
	list.Main = ProjectMain
	for path, content := range files {
		f := listed{path, len(content), []string{}}
		for len(content) > 0 {
			part := content[:min(len(content), 300_000)]
			content = content[len(part):]
			sum := sha256.Sum256(part)
			f.Parts = append(f.Parts, hex.EncodeToString(sum[:]))
			var answer map[string]any
			if status := c.call("PUT", url+"/node/v1/parts/"+f.Parts[len(f.Parts)-1], part, &answer); status > 201 {
				c.T.Fatalf("%d %v", status, answer)
			}
		}
		list.Files = append(list.Files, f)
	}
	text, err := json.Marshal(list)
	if err != nil {
		c.T.Fatal(err)
	}
	var q client.Quote
	if status := c.call("POST", url+"/node/v1/projects", text, &q); status != 200 {
		c.T.Fatalf("the project is answered with %d", status)
	}
	return &q
}

// WantFilesInReceipt checks that a job's receipt names each file of its project.
func (svc *Service) WantFilesInReceipt(jobID string, files map[string][]byte) {
	svc.T.Helper()
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		key, err := svc.App.Keys.Current(ctx, tx)
		if err != nil {
			return err
		}
		kept, err := tx.ReceiptByJob(ctx, jobID)
		if err != nil {
			return err
		}
		report := receipt.Verify([]byte(kept.Envelope), []signingkey.Public{key.Public()}, nil)
		if err := report.Err(); err != nil {
			return err
		}
		named := report.Receipt.Input.Files
		if len(files) > 1 && len(named) != len(files) || len(files) == 1 && len(named) != 0 {
			svc.T.Errorf("the receipt of a project of %d files names %+v", len(files), named)
		}
		folder := fstest.MapFS{filepath.Base(ProjectMain): {Data: files[ProjectMain]}} // where one file was sent, its folder is none
		for path, content := range files {
			folder[path] = &fstest.MapFile{Data: content}
		}
		report.InProject(folder)
		return report.Err()
	})
}
