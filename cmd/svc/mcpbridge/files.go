package mcpbridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
)

// transferWait is how long a call waits for a file that moves; then it answers, the
// file moves on, and the agent asks again.
const transferWait = 1200 * time.Millisecond

// transfers are the files under way, by what names them to the agent.
type transfers struct {
	mu     sync.Mutex
	active map[string]*transfer
}

// transfer is a file under way. done is closed behind err.
type transfer struct {
	done chan struct{}
	err  error
}

// begin moves a file in the background, unless it is on its way already, and
// waits a while for it.
func (t *transfers) begin(name string, move func(context.Context) error) *transfer {
	t.mu.Lock()
	s := t.active[name]
	if s == nil {
		s = &transfer{done: make(chan struct{})}
		t.active[name] = s
		go func() {
			// It outlives the call that began it; the process's end ends it.
			s.err = move(context.Background())
			close(s.done)
		}()
	}
	t.mu.Unlock()
	s.wait()
	return s
}

func (s *transfer) wait() {
	select {
	case <-s.done:
	case <-time.After(transferWait):
	}
}

func (s *transfer) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// find gives a file under way; nil when there is none of that name.
func (t *transfers) find(name string) *transfer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.active[name]
}

// forget lets a name be used again.
func (t *transfers) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.active, name)
}

// inspect is svc_inspect, with file_path.
func (b *bridge) inspect(ctx context.Context, tool string, arguments map[string]any) (*mcp.CallToolResult, error) {
	path, given := arguments["file_path"].(string)
	if !given {
		if upload, _ := arguments["upload_id"].(string); upload != "" {
			if s := b.find(upload); s != nil {
				s.wait()
				return b.uploadResult(ctx, tool, upload, s)
			}
		}
		return b.forward(ctx, tool, arguments)
	}
	if len(arguments) > 1 {
		return nil, fault.Field("file_path", "stands beside other arguments; send it alone")
	}
	file, size, err := openScene(path)
	if err != nil {
		return nil, err
	}
	link, err := b.forward(ctx, tool, map[string]any{})
	if err != nil || link.IsError {
		_ = file.Close()
		return link, err
	}
	answer, _ := link.StructuredContent.(map[string]any)
	upload, _ := answer["upload_id"].(string)
	to, _ := answer["upload"].(map[string]any)
	address, _ := to["url"].(string)
	s := b.begin(upload, func(ctx context.Context) error { return b.send(ctx, address, filepath.Base(path), file, size) })
	return b.uploadResult(ctx, tool, upload, s)
}

// uploadResult asks the service what came of a file that is, or was, on its way.
func (b *bridge) uploadResult(ctx context.Context, tool, upload string, s *transfer) (*mcp.CallToolResult, error) {
	r, err := b.forward(ctx, tool, map[string]any{"upload_id": upload})
	if err != nil {
		return nil, err
	}
	if s.ended() {
		b.forget(upload)
		if s.err != nil {
			return nil, s.err
		}
		return b.forward(ctx, tool, map[string]any{"upload_id": upload}) // it may have come in between
	}
	const action = "The file is on its way. Call svc_inspect with the upload_id after a moment."
	return withMembers(r, upload+": "+action, map[string]any{"status": "fetching", "upload": nil, "suggested_action": action, "poll_after_seconds": 2}), nil
}

// openScene opens a file that an agent names by its path.
func openScene(path string) (*os.File, int64, error) {
	if !filepath.IsAbs(path) {
		return nil, 0, fmt.Errorf("%s is not an absolute path", path)
	}
	target, err := filepath.EvalSymlinks(path) // a link must not make another file one of ours
	if err != nil {
		return nil, 0, err
	}
	if !isScene(path) || !isScene(target) {
		return nil, 0, fmt.Errorf("%s does not end with %s, and no other file is sent", path, contract.InputExtension)
	}
	info, err := os.Stat(target)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no regular file", path)
	}
	if info.Size() > contract.MaxUploadBytes {
		return nil, 0, fault.New(fault.UploadTooLarge, "%s has %d bytes, more than %d.", path, info.Size(), contract.MaxUploadBytes)
	}
	file, err := os.Open(target)
	return file, info.Size(), err
}

func isScene(path string) bool { return strings.EqualFold(filepath.Ext(path), contract.InputExtension) }

// send puts a file behind a signed link. What the service refuses it keeps for
// the next call about the upload.
func (b *bridge) send(ctx context.Context, address, name string, file *os.File, size int64) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, address, file) // closes the file
	if err != nil {
		return errors.Join(err, file.Close())
	}
	r.GetBody = func() (io.ReadCloser, error) { return os.Open(file.Name()) }
	r.ContentLength = size
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	res, err := b.links.Do(r)
	if err != nil {
		return fault.New(fault.Unavailable, "The file could not be sent: %v.", err)
	}
	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500 {
		return errors.Join(fault.New(fault.Unavailable, "The file could not be sent: the service answered %d.", res.StatusCode), res.Body.Close())
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // the service repeats it when the upload is looked up
	return res.Body.Close()
}

// download is svc_download, with save_as.
func (b *bridge) download(ctx context.Context, tool string, arguments map[string]any) (*mcp.CallToolResult, error) {
	name, given := arguments["save_as"].(string)
	job := arguments["job_id"]
	link, err := b.forward(ctx, tool, map[string]any{"job_id": job})
	if err != nil || link.IsError || !given {
		return link, err
	}
	answer, _ := link.StructuredContent.(map[string]any)
	address, _ := answer["url"].(string)
	sum, _ := answer["sha256"].(string)
	key := fmt.Sprint("save ", job, " ", name)
	s := b.begin(key, func(ctx context.Context) error { return b.save(ctx, name, address, sum) })
	if !s.ended() {
		const action = "The ZIP is on its way. Call svc_download again with the same arguments after a moment."
		return withMembers(link, action, map[string]any{"suggested_action": action, "next_tool": tool, "next_arguments": arguments, "poll_after_seconds": 2}), nil
	}
	b.forget(key)
	if s.err != nil {
		return nil, s.err
	}
	path := filepath.Join(b.folder.Name(), name)
	action := "The ZIP is saved and has the promised SHA-256. Now get the receipt with svc_receipt."
	return withMembers(link, fmt.Sprintf("Saved %s, SHA-256 %s.\n%s", path, sum, action), map[string]any{"suggested_action": action, "saved_to": path}), nil
}

// save fetches a ZIP into a folder and nowhere else. The file appears whole, or
// not at all, and never in the place of another one.
func (b *bridge) save(ctx context.Context, name, address, sum string) (err error) {
	folder := b.folder
	if old, err := folder.Open(name); err == nil {
		had, err := digest.Of(old)
		if err = errors.Join(err, old.Close()); err == nil && had != sum {
			err = fmt.Errorf("%s is there already and is another file; choose another name", name)
		}
		return err
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := name + ".part"
	_ = folder.Remove(part) // of a try that was cut off
	file, err := folder.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = folder.Remove(part)
		}
	}()
	if err := errors.Join(b.fetch(ctx, address, file, sum), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := folder.Link(part, name); err != nil { // never over another
		return err
	}
	return folder.Remove(part)
}

func (b *bridge) fetch(ctx context.Context, address string, to io.Writer, sum string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := b.links.Do(r)
	if err != nil {
		return fault.New(fault.Unavailable, "The ZIP could not be fetched: %v.", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fault.New(fault.Unavailable, "The ZIP could not be fetched: the service answered %d.", res.StatusCode)
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(to, hash), res.Body); err != nil {
		return fault.New(fault.Unavailable, "The ZIP broke off: %v.", err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return fault.New(fault.Unavailable, "The ZIP that came has the SHA-256 %s, not %s.", got, sum)
	}
	return nil
}
