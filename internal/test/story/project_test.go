package story_test

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
	"testing"
	"testing/fstest"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/worker"
)

// madeProject is a project that Blender has made, and the hash of the pixels of its frames
// as Blender writes them in the project's folder and without the other files.
type madeProject struct {
	files       map[string][]byte
	whole, lone map[int]string
}

const projectMain = "shots/Anna's shot.blend"

var glowingProject = sync.OnceValues(func() (made madeProject, err error) {
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
	if err := run("--python-exit-code", "1", "--python", "../../../scripts/scenes/project.py", "--", at); err != nil {
		return made, err
	}
	made.files = map[string][]byte{}
	err = fs.WalkDir(os.DirFS(at), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			made.files[name], err = os.ReadFile(filepath.Join(at, name))
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
	if made.whole, err = pictures(filepath.Join(at, projectMain)); err != nil {
		return made, err
	}
	lone := filepath.Join(folder, "lone.blend")
	if err := os.WriteFile(lone, made.files[projectMain], 0o600); err != nil {
		return made, err
	}
	made.lone, err = pictures(lone)
	return made, err
})

// call sends a request with the caller's agent key and reads the answer into body.
func (c caller) call(method, address string, content []byte, body any) (status int) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(patient(c.t), method, address, bytes.NewReader(content))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.agent.Secret)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(text, body)
	}
	if err != nil {
		c.t.Fatalf("%s %s: %d %s: %v", method, address, res.StatusCode, text, err)
	}
	return res.StatusCode
}

// quoteProject sends files of a project, in small parts, and quotes it.
func (c caller) quoteProject(url string, files map[string][]byte) *client.Quote {
	c.t.Helper()
	type listed struct {
		Path  string   `json:"path"`
		Size  int      `json:"size_bytes"`
		Parts []string `json:"parts"`
	}
	var list struct {
		Main  string   `json:"main"`
		Files []listed `json:"files"`
	}
	list.Main = projectMain
	for path, content := range files {
		f := listed{path, len(content), []string{}}
		for len(content) > 0 {
			part := content[:min(len(content), 300_000)]
			content = content[len(part):]
			sum := sha256.Sum256(part)
			f.Parts = append(f.Parts, hex.EncodeToString(sum[:]))
			var answer map[string]any
			if status := c.call("PUT", url+"/node/v1/parts/"+f.Parts[len(f.Parts)-1], part, &answer); status > 201 {
				c.t.Fatalf("%d %v", status, answer)
			}
		}
		list.Files = append(list.Files, f)
	}
	text, err := json.Marshal(list)
	if err != nil {
		c.t.Fatal(err)
	}
	var q client.Quote
	if status := c.call("POST", url+"/node/v1/projects", text, &q); status != 200 {
		c.t.Fatalf("the project is answered with %d", status)
	}
	return &q
}

// A project is rendered as Blender renders it in its own folder; what is left out is told.
func TestAProjectIsRenderedAsInItsFolder(t *testing.T) {
	path := realBlender(t)
	each(t, func(t *testing.T, config app.Config) {
		made, err := glowingProject()
		if err != nil {
			t.Fatal(err)
		}
		if made.whole[1] == made.lone[1] {
			t.Fatal("the picture does not come from the project's files")
		}
		svc := start(t, config)
		c := svc.caller(credit)
		svc.worker(worker.Blender{Path: path}, onCPU)
		for name, project := range map[string]struct {
			files  map[string][]byte
			frames map[int]string
			warned int
		}{
			"whole": {made.files, made.whole, 0},
			"lone":  {map[string][]byte{projectMain: made.files[projectMain]}, made.lone, 2},
		} {
			q := c.quoteProject(svc.url, project.files)
			if len(q.Warnings) != project.warned {
				t.Errorf("%s: the warnings are %+v", name, q.Warnings)
			}
			job, err := c.take(q)
			if err != nil {
				t.Fatal(err)
			}
			c.await(job.JobID, client.StatusCompleted)
			for _, f := range svc.frames(job.JobID) {
				if f.PixelSha256 != project.frames[int(f.Frame)] {
					t.Errorf("%s: frame %d is not that of Blender in the project's folder", name, f.Frame)
				}
			}
			c.verifiedZIP(c.await(job.JobID, client.StatusCompleted))
			svc.wantFilesInReceipt(job.JobID, project.files)
		}
	})
}

// wantFilesInReceipt checks that a job's receipt names each file of its project.
func (svc *service) wantFilesInReceipt(jobID string, files map[string][]byte) {
	svc.t.Helper()
	svc.read(func(ctx context.Context, tx *db.Tx) error {
		key, err := svc.app.Keys.Current(ctx, tx)
		if err != nil {
			return err
		}
		kept, err := tx.ReceiptByJob(ctx, jobID)
		if err != nil {
			return err
		}
		report := receipt.Verify([]byte(kept.Envelope), []receipt.PublicKey{key.Public()}, nil)
		if err := report.Err(); err != nil {
			return err
		}
		named := report.Receipt.Input.Files
		if len(files) > 1 && len(named) != len(files) || len(files) == 1 && len(named) != 0 {
			svc.t.Errorf("the receipt of a project of %d files names %+v", len(files), named)
		}
		folder := fstest.MapFS{filepath.Base(projectMain): {Data: files[projectMain]}} // where one file was sent, its folder is none
		for path, content := range files {
			folder[path] = &fstest.MapFile{Data: content}
		}
		report.InProject(folder)
		return report.Err()
	})
}
