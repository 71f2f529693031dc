package client

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc.example/internal/ground/digest"
	"svc.example/internal/render/framename"
)

// FrameFile opens a frame of a job as it was rendered, from when it is accepted. The caller
// closes it. Error: *Error with frame_not_found.
func (c *Client) FrameFile(ctx context.Context, jobID string, frame int) (io.ReadCloser, error) {
	return c.open(ctx, c.frameFilePath(jobID, frame))
}

// FrameOutput opens a file of a frame besides its picture, by the name in its Outputs,
// from when the frame is accepted. The caller closes it. Error: *Error with frame_not_found.
func (c *Client) FrameOutput(ctx context.Context, jobID string, frame int, name string) (io.ReadCloser, error) {
	return c.open(ctx, c.frameOutputPath(jobID, frame, name))
}

func (c *Client) frameOutputPath(jobID string, frame int, name string) string {
	return c.frameFilePath(jobID, frame) + "?" + url.Values{"output": {name}}.Encode()
}

func (c *Client) frameFilePath(jobID string, frame int) string {
	return c.jobPath(jobID, fmt.Sprintf("/frames/%d/file", frame))
}

// FrameSaved is a frame that is in the folder of [Client.Sync].
type FrameSaved struct {
	Frame int
	Path  string
	Was   bool // an earlier call had put it there
	// Outputs are the paths of the frame's other files, such as those of File Output nodes, below outputs/.
	Outputs []string
}

// Sync keeps a folder up to date while a job renders: each frame is put there when it is
// accepted, whole or not at all, with the SHA-256 that the service states. What File Output
// nodes wrote for it comes before it, below outputs/, as in the ZIP. Files that are there stay. on, which may be nil, is called after each frame, and with each event of the
// job. It returns the job once that has ended; the same call again continues. Errors are
// those of [Client.Wait] and of the file system, and ErrDownloadChanged.
func (c *Client) Sync(ctx context.Context, jobID, folder string, on func(FrameSaved), event func(Event)) (*Job, error) {
	if on == nil {
		on = func(FrameSaved) {}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for the frames: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	told := map[int]string{} // hashes by frame
	save := func(f Frame) error {
		all := f.hashes()
		if told[f.Frame] == all {
			return nil
		}
		saved, err := c.saveFrame(ctx, jobID, folder, f)
		if err == nil {
			told[f.Frame] = all
			on(saved)
		}
		return err
	}
	// What is accepted already comes in the order of the frames, the rest as it is accepted,
	// and at the end what a cut stream has left out.
	if err := c.saveAccepted(ctx, jobID, save); err != nil {
		return nil, err
	}
	job, err := c.Wait(ctx, jobID, func(e Event) {
		if event != nil {
			event(e)
		}
		if e.Frame == nil {
			return
		}
		err := save(Frame{Frame: e.Frame.Frame, File: e.Frame.File, SHA256: e.Frame.SHA256, SizeBytes: e.Frame.SizeBytes, Outputs: e.Frame.Outputs})
		// A frame that is rendered again comes again.
		if refused, ok := errors.AsType[*Error](err); err != nil && !errors.Is(err, ErrDownloadChanged) && (!ok || refused.Code != "frame_not_found") {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, err
	}
	return job, c.saveAccepted(ctx, jobID, save)
}

// saveAccepted calls save for each frame that is accepted by now.
func (c *Client) saveAccepted(ctx context.Context, jobID string, save func(Frame) error) error {
	frames, err := c.Frames(ctx, jobID)
	for _, f := range frames {
		if err == nil {
			err = save(f)
		}
	}
	return err
}

// hashes tells a frame from one that was rendered again.
func (f Frame) hashes() string {
	all := f.SHA256
	for _, o := range f.Outputs {
		all += " " + o.SHA256
	}
	return all
}

// saveFrame puts a frame and its outputs into a folder, as far as they are not there. Names come
// from the service and must be safe ones: others could lead outside of the folder.
func (c *Client) saveFrame(ctx context.Context, jobID, folder string, f Frame) (saved FrameSaved, err error) {
	if f.File == "" || f.File != filepath.Base(f.File) || slices.Contains([]string{".", ".."}, f.File) {
		return saved, fmt.Errorf("the service names frame %d %q, which is not a file name", f.Frame, f.File)
	}
	saved = FrameSaved{Frame: f.Frame, Path: filepath.Join(folder, f.File), Was: true}
	for _, o := range f.Outputs {
		if framename.Path(o.Name) != o.Name {
			return saved, fmt.Errorf("the service names an output of frame %d %q, which is not a safe path", f.Frame, o.Name)
		}
		to := filepath.Join(folder, outputsFolder, filepath.FromSlash(o.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return saved, fmt.Errorf("make a folder for the outputs: %w", err)
		}
		was, err := c.saveFile(ctx, c.frameOutputPath(jobID, f.Frame, o.Name), to, o.SHA256, o.SizeBytes)
		if err != nil {
			return saved, err
		}
		saved.Was, saved.Outputs = saved.Was && was, append(saved.Outputs, to)
	}
	was, err := c.saveFile(ctx, c.frameFilePath(jobID, f.Frame), saved.Path, f.SHA256, f.SizeBytes)
	saved.Was = saved.Was && was
	return saved, err
}

// outputsFolder has the files besides the pictures, in a folder of frames as in the ZIP.
const outputsFolder = "outputs"

// saveFile fetches a file to path, whole or not at all, unless it is there. A broken download
// leaves its bytes next to it, where a later call resumes.
func (c *Client) saveFile(ctx context.Context, from, path, sum string, size int64) (was bool, err error) {
	if found, err := digest.OfFile(path); err == nil && found == sum {
		return true, nil
	}
	at, _, _ := strings.Cut(from, "?")
	if len(sum) != sha256.Size*2 {
		return false, fmt.Errorf("GET %s: the service gave no SHA-256", at)
	}
	part := partOf(path, sum)
	file := remoteFile{size: size, sum: sum, again: noSuchRange, request: func(ctx context.Context) (*http.Request, error) {
		return c.request(ctx, call{method: http.MethodGet, path: from})
	}}
	if err = c.fetchAll(ctx, file, part, func(int64, int64) {}); errors.Is(err, ErrDownloadChanged) {
		_ = os.Remove(part) // what went wrong says more
	}
	if err == nil {
		err = publish(part, path, sum)
	}
	if err != nil {
		return false, &CallError{Server: c.base.String(), Call: "GET " + at, cause: err}
	}
	return false, nil
}
