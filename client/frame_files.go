package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"svc.example/internal/ground/digest"
)

// FrameFile opens a frame of a job as it was rendered, from when it is accepted. The caller
// closes it. Error: *Error with frame_not_found.
func (c *Client) FrameFile(ctx context.Context, jobID string, frame int) (io.ReadCloser, error) {
	return c.open(ctx, c.frameFilePath(jobID, frame))
}

func (c *Client) frameFilePath(jobID string, frame int) string {
	return c.jobPath(jobID, fmt.Sprintf("/frames/%d/file", frame))
}

// FrameSaved is a frame that is in the folder of [Client.Sync].
type FrameSaved struct {
	Frame int
	Path  string
	Was   bool // an earlier call had put it there
}

// Sync keeps a folder up to date while a job renders: each frame is put there when it is
// accepted, whole or not at all, with the SHA-256 that the service states. Files that are
// there stay. on, which may be nil, is called after each frame, and with each event of the
// job. It returns the job once that has ended; the same call again continues. Errors are
// those of [Client.Wait] and of the file system, and ErrDownloadChanged.
func (c *Client) Sync(ctx context.Context, jobID, folder string, on func(FrameSaved), told func(Event)) (*Job, error) {
	if on == nil {
		on = func(FrameSaved) {}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for the frames: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	saved := map[int]string{} // SHA-256 by frame
	save := func(number int, file, sum string, size int64) error {
		if saved[number] == sum {
			return nil
		}
		path, was, err := c.saveFrame(ctx, jobID, folder, Frame{Frame: number, File: file, SHA256: sum, SizeBytes: size})
		if err == nil {
			saved[number] = sum
			on(FrameSaved{number, path, was})
		}
		return err
	}
	// What is accepted already comes in the order of the frames, the rest as it is accepted,
	// and at the end what a cut stream has left out.
	if err := c.saveAccepted(ctx, jobID, save); err != nil {
		return nil, err
	}
	job, err := c.Wait(ctx, jobID, func(e Event) {
		if told != nil {
			told(e)
		}
		if e.Frame == nil {
			return
		}
		err := save(e.Frame.Frame, e.Frame.File, e.Frame.SHA256, e.Frame.SizeBytes)
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
func (c *Client) saveAccepted(ctx context.Context, jobID string, save func(number int, file, sum string, size int64) error) error {
	frames, err := c.Frames(ctx, jobID)
	for _, f := range frames {
		if err == nil {
			err = save(f.Frame, f.File, f.SHA256, f.SizeBytes)
		}
	}
	return err
}

// saveFrame puts a frame into a folder, unless it is there. The name comes from the service
// and must be a plain one: with a folder in it, it could write outside.
func (c *Client) saveFrame(ctx context.Context, jobID, folder string, f Frame) (path string, was bool, err error) {
	if f.File == "" || f.File != filepath.Base(f.File) || slices.Contains([]string{".", ".."}, f.File) {
		return "", false, fmt.Errorf("the service names frame %d %q, which is not a file name", f.Frame, f.File)
	}
	path = filepath.Join(folder, f.File)
	if sum, err := digest.OfFile(path); err == nil && sum == f.SHA256 {
		return path, true, nil
	}
	part := path + ".part"
	err = c.retry.run(ctx, true, func() error { return c.fetchFrame(ctx, jobID, f, part) })
	if err == nil {
		return path, false, os.Rename(part, path)
	}
	_ = os.Remove(part) // what went wrong says more
	return "", false, &CallError{Server: c.base.String(), Call: "GET " + c.frameFilePath(jobID, f.Frame), cause: err}
}

// fetchFrame is one try.
func (c *Client) fetchFrame(ctx context.Context, jobID string, f Frame, part string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, err := c.openOnce(ctx, c.frameFilePath(jobID, f.Frame))
	if err != nil {
		return err
	}
	body := watch(from, cancel)
	defer body.Close()
	to, err := os.Create(part)
	if err != nil {
		return &unreadable{err}
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(body, f.SizeBytes+1))
	if closed := to.Close(); err == nil && closed != nil {
		return &unreadable{closed} // a full disk may show only here
	}
	if err == nil && (n != f.SizeBytes || hex.EncodeToString(sum.Sum(nil)) != f.SHA256) {
		return &unreadable{ErrDownloadChanged}
	}
	return err
}
