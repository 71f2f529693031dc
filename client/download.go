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
	"regexp"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/redact"
)

// ErrDownloadChanged reports that the received bytes do not have the SHA-256 that
// the service states. The client keeps none of them, so the next call starts over.
var ErrDownloadChanged = errors.New("the downloaded file does not have the promised SHA-256")

// Download fetches the ZIP of a completed job to path. The file appears there
// complete or not at all, and survives a power cut once Download has returned. A
// broken download leaves its bytes next to it in a file with ".part" at the end,
// where a later call resumes. A file at path with the right bytes stays as it is;
// any other is replaced. progress, which may be nil, gets bytes. Errors: *Error
// with render_not_completed or artifact_expired, ErrDownloadChanged, and those of
// the file system.
func (c *Client) Download(ctx context.Context, jobID, path string, progress func(received, total int64)) (*Artifact, error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	artifact, err := c.Artifact(ctx, jobID)
	if err != nil {
		return nil, err
	}
	// An earlier call, or another process, has finished: the bytes decide, not the
	// name.
	if sum, err := digest.OfFile(path); err == nil && sum == artifact.SHA256 {
		progress(artifact.SizeBytes, artifact.SizeBytes)
		return artifact, nil
	}
	if len(artifact.SHA256) != sha256.Size*2 {
		return nil, fmt.Errorf("download job %s: the service gave no SHA-256", jobID)
	}
	part := partOf(path, artifact.SHA256)
	if err := c.fetchAll(ctx, c.artifactFile(jobID, artifact), part, progress); err != nil {
		return nil, fmt.Errorf("download job %s: %w", jobID, c.linkError(artifact.URL, err))
	}
	if err := publish(part, path, artifact.SHA256); err != nil {
		return nil, fmt.Errorf("download job %s: %w", jobID, err)
	}
	return artifact, nil
}

// remoteFile is a file of the service that arrives over as many connections as break.
type remoteFile struct {
	size int64
	// sum is the SHA-256 that the service states as its ETag; "" where a store elsewhere may send it.
	sum string
	// request builds one try.
	request func(context.Context) (*http.Request, error)
	// again reports refusals that another try may overcome, besides those that pass.
	again func(error) bool
	// renew, which may be nil, prepares another try.
	renew func(context.Context) error
}

// artifactFile is the ZIP of a job. Each further try asks for a new link, since links expire. The key
// stays out of the request: the link authorises itself and may lead to another host.
func (c *Client) artifactFile(jobID string, artifact *Artifact) remoteFile {
	link := artifact.URL
	return remoteFile{
		size: artifact.SizeBytes, again: linkEnded,
		request: func(ctx context.Context) (*http.Request, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
			if err != nil {
				return nil, &unreadable{redact.URLs(err)}
			}
			return req, nil
		},
		renew: func(ctx context.Context) error {
			again, err := c.Artifact(ctx, jobID)
			if err == nil {
				link = again.URL
			}
			return err
		},
	}
}

// fetchAll repeats until the part is complete. It counts only tries that bring no
// new bytes, so a bad line delays a large download but never fails it, and no rate limit
// that is waited out.
func (c *Client) fetchAll(ctx context.Context, f remoteFile, part string, progress func(received, total int64)) error {
	file, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	limited := time.Duration(0)
	for attempt := 1; ; attempt++ {
		grew, err := c.fetch(ctx, f, file, progress)
		if err == nil {
			return nil
		}
		if grew {
			attempt, limited = 1, 0
		}
		if c.retry.waitOut(ctx, err, &limited) { // the link still works
			attempt--
			continue
		}
		if attempt >= c.retry.attempts || !(passing(ctx, err) || f.again(err)) {
			return err
		}
		if c.retry.pause(ctx, attempt, c.retry.attempts, err) != nil {
			return err
		}
		if f.renew == nil {
			continue
		}
		if err := f.renew(ctx); err != nil {
			return err
		}
	}
}

// partOf is where the bytes of a file lie until they are complete. The hash in the name separates
// parts of different files.
func partOf(path, sum string) string { return fmt.Sprintf("%s.%s.part", path, sum[:12]) }

// linkError turns the failure of a signed link into that of a call if the link leads to
// the server itself. It may lead to a store elsewhere, which the caller does not know.
func (c *Client) linkError(link string, err error) error {
	at, parseErr := url.Parse(link)
	if parseErr != nil || at.Host != c.base.Host {
		return err
	}
	return &CallError{Server: c.base.String(), Call: "GET " + at.Path, cause: err}
}

// linkEnded recognises the answers of an expired link. They are refusals for good
// anywhere else; here a new link helps.
func linkEnded(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && (refusal.Status == http.StatusUnauthorized ||
		refusal.Status == http.StatusForbidden || refusal.Status == http.StatusNotFound || refusal.Status == http.StatusGone) || noSuchRange(err)
}

// noSuchRange reports that the file has no bytes where the part ends: the part begins again.
func noSuchRange(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Status == http.StatusRequestedRangeNotSatisfiable
}

// fetch appends the missing bytes over one connection. It reads no more than the file's
// size, even if the server sends more.
func (c *Client) fetch(ctx context.Context, f remoteFile, file *os.File, progress func(received, total int64)) (grew bool, err error) {
	have, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return false, &unreadable{err}
	}
	if have == f.size {
		progress(have, f.size)
		return false, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := f.request(ctx)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "*/*")
	req.Header.Set("Accept-Encoding", "identity") // the hash is over the bytes as stored
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if f.sum != "" {
			req.Header.Set("If-Range", strconv.Quote(f.sum))
		}
	}
	res, err := c.send(req)
	if err != nil {
		return false, err
	}
	body := watch(res.Body, cancel)
	defer body.Close()
	if f.isAnother(res) {
		return false, &unreadable{ErrDownloadChanged}
	}
	if have, err = place(res, file, have); err != nil {
		return false, err
	}
	sink := &sink{file: file, received: have, total: f.size, progress: progress}
	n, err := io.Copy(sink, io.LimitReader(body, f.size-have))
	if err == nil && have+n < f.size {
		err = io.ErrUnexpectedEOF
	}
	return n > 0, err
}

// entityTag is the ETag of a file that the service sends: its SHA-256. Proxies may weaken it.
var entityTag = regexp.MustCompile(`^(?:W/)?"([0-9a-f]{64})"$`)

// isAnother reports that the answer has the bytes of another file than the one that was promised.
func (f remoteFile) isAnother(res *http.Response) bool {
	tag := entityTag.FindStringSubmatch(res.Header.Get("ETag"))
	return f.sum != "" && res.StatusCode < 300 && tag != nil && tag[1] != f.sum
}

// place positions the file for the answer's bytes: at its end, or at the start when
// the server sends everything again. A part of another range would pass for a whole
// file until its hash is checked, so it is refused here.
func place(res *http.Response, file *os.File, have int64) (int64, error) {
	switch res.StatusCode {
	case http.StatusPartialContent:
		if !strings.HasPrefix(res.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)) {
			return 0, fmt.Errorf("the server sent the range %q, not the one from byte %d", res.Header.Get("Content-Range"), have)
		}
		return have, nil
	case http.StatusOK:
		return 0, restart(file)
	case http.StatusRequestedRangeNotSatisfiable:
		if err := restart(file); err != nil {
			return 0, err
		}
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16)) // the status alone says enough
	return 0, errorFrom(res, text, time.Now())
}

// restart empties the part.
func restart(file *os.File) error {
	_, err := file.Seek(0, io.SeekStart)
	if err = errors.Join(file.Truncate(0), err); err != nil {
		return &unreadable{err}
	}
	return nil
}

// sink writes to the part and reports progress. It marks a full disk as final:
// repeating the download would not help.
type sink struct {
	file            *os.File
	received, total int64
	progress        func(received, total int64)
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.received += int64(n)
	s.progress(s.received, s.total)
	if err != nil {
		err = &unreadable{err}
	}
	return n, err
}

// publish gives the part its final name after it has verified the bytes. It removes
// a part whose bytes are wrong; otherwise every later call would resume it.
func publish(part, path, want string) error {
	sum, err := digest.OfFile(part)
	if err != nil {
		return err
	}
	if sum != want {
		return errors.Join(fmt.Errorf("%w: it is %s, not %s", ErrDownloadChanged, sum, want), os.Remove(part))
	}
	return atomicfile.Publish(part, path)
}
