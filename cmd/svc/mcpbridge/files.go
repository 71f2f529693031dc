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
	"svc.example/internal/ground/redact"
)

// transferWait is how long a call waits for a file to be moved. Then it answers, the
// transfer continues, and the agent calls again. It stays below the two seconds in
// which every tool answers (docs/agents.md), with time for the service itself.
const transferWait = 1200 * time.Millisecond

// transfers are the files being moved, by a name that the agent's next call gives
// again: the upload id, or job and file name. An entry stays until a caller has
// learned how it ended. They are safe for concurrent use.
type transfers struct {
	mu     sync.Mutex
	active map[string]*transfer
}

// transfer is one file being moved, or the files of a project. The other members are set
// before done is closed and are read only afterwards.
type transfer struct {
	done   chan struct{}
	upload string // that a project became
	err    error
}

// begin starts to move a file in the background, unless that is already under way,
// and waits transferWait for it. The transfer outlives the call that began it; only
// the end of the process ends it early.
func (t *transfers) begin(name string, move func(context.Context) (upload string, err error)) *transfer {
	t.mu.Lock()
	s := t.active[name]
	if s == nil {
		s = &transfer{done: make(chan struct{})}
		t.active[name] = s
		go func() {
			s.upload, s.err = move(context.Background())
			close(s.done)
		}()
	}
	t.mu.Unlock()
	s.wait()
	return s
}

// wait waits until the transfer ends, but at most transferWait.
func (s *transfer) wait() {
	select {
	case <-s.done:
	case <-time.After(transferWait):
	}
}

// ended reports whether the transfer is over. Only then may err be read.
func (s *transfer) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// find returns the transfer of that name, nil when there is none.
func (t *transfers) find(name string) *transfer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.active[name]
}

// forget removes a transfer whose end was reported, so that the name can be used again.
func (t *transfers) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.active, name)
}

// inspect is svc_inspect, with file_path. A path asks the service for an upload link,
// starts sending the file there, and answers like the service does about an upload
// that it fetches itself: call again with the upload_id. A scene that needs other files
// goes with them: see inspectProject. Without a path it is the service's own tool, except
// that it waits for a file on its way.
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
		return nil, fault.Field("file_path", "must be sent without other arguments")
	}
	if s := b.find(projectName(path)); s != nil {
		s.wait()
		return b.projectResult(ctx, tool, path, s)
	}
	file, size, err := openScene(path)
	if err != nil {
		return nil, err
	}
	disk, paths, err := b.files(ctx, path)
	if err == nil && len(paths) > 1 {
		_ = file.Close() // it goes with the others
		return b.inspectProject(ctx, tool, path, disk, paths)
	}
	if disk != nil {
		_ = disk.Close()
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
	s := b.begin(upload, func(ctx context.Context) (string, error) {
		return "", b.send(ctx, address, filepath.Base(path), file, size)
	})
	return b.uploadResult(ctx, tool, upload, s)
}

// uploadResult asks the service about an upload whose file is, or was, on its way. A
// failed transfer is reported once and forgotten, so that the agent can send again.
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
		return b.forward(ctx, tool, map[string]any{"upload_id": upload}) // it may have arrived since the first look
	}
	const action = "The file is being sent. Call svc_inspect with the upload_id in a moment."
	return withMembers(r, upload+": "+action, map[string]any{"status": "fetching", "upload": nil, "suggested_action": action, "poll_after_seconds": 2}), nil
}

// openScene opens a file that an agent names by its path. The name decides what may be
// sent: an agent that was talked into sending private keys gets a refusal. So the
// target of a link must have the right name too. The service checks the contents.
func openScene(path string) (*os.File, int64, error) {
	if !filepath.IsAbs(path) {
		return nil, 0, fmt.Errorf("%s is not an absolute path", path)
	}
	target, err := filepath.EvalSymlinks(path) // a link must not disguise another file
	if err != nil {
		return nil, 0, err
	}
	if !isScene(path) || !isScene(target) {
		return nil, 0, fmt.Errorf("%s does not end in %s; no other files are sent", path, contract.InputExtension)
	}
	info, err := os.Stat(target)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() > contract.MaxUploadBytes {
		return nil, 0, fault.New(fault.UploadTooLarge, "%s has %d bytes; the limit is %d.", path, info.Size(), contract.MaxUploadBytes)
	}
	file, err := os.Open(target)
	return file, info.Size(), err
}

func isScene(path string) bool { return strings.EqualFold(filepath.Ext(path), contract.InputExtension) }

// send puts a file to a signed link and closes it. It reports what a repeat can help
// with: no connection, 429, a server error. Any other refusal of the file is recorded
// by the service, whose next answer about the upload has it.
func (b *bridge) send(ctx context.Context, address, name string, file *os.File, size int64) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, address, file) // the transport closes the file
	if err != nil {
		return errors.Join(redact.URLs(err), file.Close())
	}
	r.GetBody = func() (io.ReadCloser, error) { return os.Open(file.Name()) }
	r.ContentLength = size
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	res, err := b.links.Do(r)
	if err != nil {
		return fault.New(fault.Unavailable, "The file could not be sent: %v.", redact.URLs(err))
	}
	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500 {
		return errors.Join(fault.New(fault.Unavailable, "The file could not be sent: the service answered %d.", res.StatusCode), res.Body.Close())
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // the service returns it with the upload
	return res.Body.Close()
}

// download is svc_download, with save_as. Every call asks the service for a new link
// first; the transfer keeps the link that it began with, which stays valid for an
// hour. The agent repeats the same call until the file is saved.
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
	s := b.begin(key, func(ctx context.Context) (string, error) { return "", b.save(ctx, name, address, sum) })
	if !s.ended() {
		const action = "The ZIP is being fetched. Call svc_download again with the same arguments in a moment."
		return withMembers(link, action, map[string]any{"suggested_action": action, "next_tool": tool, "next_arguments": arguments, "poll_after_seconds": 2}), nil
	}
	b.forget(key)
	if s.err != nil {
		return nil, s.err
	}
	path := filepath.Join(b.folder.Name(), name)
	action := "The ZIP is saved and its SHA-256 is right. Get the receipt next, with svc_receipt."
	return withMembers(link, fmt.Sprintf("Saved %s, SHA-256 %s.\n%s", path, sum, action), map[string]any{"suggested_action": action, "saved_to": path}), nil
}

// save fetches a ZIP into the folder. The file appears complete or not at all, and
// never replaces another one: it is written under a temporary name and then linked,
// which, unlike a rename, fails when the name is taken. A file that already has the
// right bytes is a success, so a repeated call does no harm.
func (b *bridge) save(ctx context.Context, name, address, sum string) (err error) {
	folder := b.folder
	if old, err := folder.Open(name); err == nil {
		had, err := digest.Of(old)
		if err = errors.Join(err, old.Close()); err == nil && had != sum {
			err = fmt.Errorf("%s already exists and is another file; choose another name", name)
		}
		return err
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := name + ".part"
	_ = folder.Remove(part) // of a transfer that the end of a process cut off
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
	if err := folder.Link(part, name); err != nil { // fails rather than replace a file
		return err
	}
	return folder.Remove(part)
}

// fetch copies what the link returns and checks its SHA-256. Every error has the code
// unavailable: a new call gets a new link and may succeed.
func (b *bridge) fetch(ctx context.Context, address string, to io.Writer, sum string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return redact.URLs(err)
	}
	res, err := b.links.Do(r)
	if err != nil {
		return fault.New(fault.Unavailable, "The ZIP could not be fetched: %v.", redact.URLs(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fault.New(fault.Unavailable, "The ZIP could not be fetched: the service answered %d.", res.StatusCode)
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(to, hash), res.Body); err != nil {
		return fault.New(fault.Unavailable, "The download of the ZIP was interrupted: %v.", err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return fault.New(fault.Unavailable, "The downloaded ZIP has the SHA-256 %s, not %s.", got, sum)
	}
	return nil
}
