package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/text/unicode/norm"

	"svc.example/internal/ground/contract"
)

// Codes of refusals that sending a project handles itself.
const (
	partsMissing = "parts_missing"
	hashMismatch = "content_hash_mismatch"
)

// partsAtOnce is how many parts are sent, and how many files are hashed, at once.
const partsAtOnce = 4

// Project is a scene with its files, as [ListProject] found them. Its hashes are of the
// bytes that the files had then.
type Project struct {
	Main  string // path of the .blend to render, one of Files
	Files []ProjectFile

	tree fs.FS
	at   map[string]string // where in tree the file of a path is
}

// ProjectFile is one file of a project.
type ProjectFile struct {
	Path      string // relative, with "/" between folders, in UTF-8 NFC
	SizeBytes int64
	SHA256    string   // of the whole file
	Parts     []string // SHA-256 of each part of 32 MiB, the last one shorter; none of a file of 0 bytes
}

// ListProject reads the files of a project and hashes them. tree has them, and must not be
// changed before [Client.InspectProject] has ended: a file that is, is an error there. What
// tree opens must be an [io.ReaderAt], as files of [os.DirFS] and of [os.Root.FS] are. paths
// are those of all files, main among them. progress, if not nil, is called with the bytes
// read so far, by one goroutine at a time. Errors are those of the tree, and ctx's.
func ListProject(ctx context.Context, tree fs.FS, main string, paths []string, progress func(read int64)) (*Project, error) {
	p := &Project{Main: norm.NFC.String(main), Files: make([]ProjectFile, len(paths)), tree: tree, at: map[string]string{}}
	read := counter{told: progress}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(partsAtOnce)
	for i, path := range paths {
		p.Files[i].Path = norm.NFC.String(path)
		p.at[p.Files[i].Path] = path
		all.Go(func() error { return p.Files[i].hash(ctx, tree, path, &read) })
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(p.Files, func(a, b ProjectFile) int { return strings.Compare(a.Path, b.Path) })
	if !slices.ContainsFunc(p.Files, func(f ProjectFile) bool { return f.Path == p.Main }) {
		return nil, fmt.Errorf("list the project: its files do not have %s among them", main)
	}
	return p, nil
}

// hash reads a file to its end. Bytes of the first part are hashed once, for the part and for
// the file: most files have no other.
func (f *ProjectFile) hash(ctx context.Context, tree fs.FS, path string, read *counter) error {
	file, err := tree.Open(path)
	if err != nil {
		return fmt.Errorf("read a file of the project: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	part, inPart := sha256.New(), int64(0)
	var whole hash.Hash // nil within the first part
	buffer := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := file.Read(buffer[:min(int64(len(buffer)), contract.MaxPartBytes-inPart)])
		part.Write(buffer[:n])
		if whole != nil {
			whole.Write(buffer[:n])
		}
		f.SizeBytes, inPart = f.SizeBytes+int64(n), inPart+int64(n)
		read.add(int64(n))
		if inPart == contract.MaxPartBytes || errors.Is(err, io.EOF) && inPart > 0 {
			f.Parts = append(f.Parts, hexOf(part))
			if whole == nil {
				clone, err := part.(hash.Cloner).Clone()
				if err != nil {
					return fmt.Errorf("hash a file of the project: %w", err)
				}
				whole = clone
			}
			part.Reset()
			inPart = 0
		}
		if errors.Is(err, io.EOF) {
			if whole == nil { // it is empty
				whole = part
			}
			f.SHA256 = hexOf(whole)
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a file of the project: %w", err)
		}
	}
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// MainFile returns the .blend to render.
func (p *Project) MainFile() ProjectFile {
	return p.Files[slices.IndexFunc(p.Files, func(f ProjectFile) bool { return f.Path == p.Main })]
}

// SizeBytes is the size of all files together.
func (p *Project) SizeBytes() (sum int64) {
	for _, f := range p.Files {
		sum += f.SizeBytes
	}
	return sum
}

// SHA256 is the hash of the project as a receipt states it: of the lines "SHA256  path",
// sorted by path, that sha256sum prints.
func (p *Project) SHA256() string {
	sum := sha256.New()
	for _, f := range p.Files {
		fmt.Fprintf(sum, "%s  %s\n", f.SHA256, f.Path)
	}
	return hexOf(sum)
}

// ProjectRequest prices a project.
type ProjectRequest struct {
	Project *Project // required
	// Frames selects the frames, such as 3,7-9 or 10-100x5; see [Frames] for numbers. ""
	// takes FrameStart, FrameEnd and FrameStep, of which nil is that of the main file's
	// active scene.
	Frames                          string
	FrameStart, FrameEnd, FrameStep *int
	Settings                        Settings // what else differs from the file
	// Reuse takes over frames that an earlier job of the workspace rendered and whose pictures
	// are the same. They cost nothing; Quote.ReusedFrames lists them.
	Reuse bool
	// Progress, if not nil, is called with the bytes sent so far of those that are
	// missing on the service, by one goroutine at a time. It is not called if the
	// service has everything.
	Progress func(sent, total int64)
}

// InspectProject uploads the parts of a project that are missing on the service, several
// parts at once, and returns a locked quote for its main file. It spends nothing. The same
// call again continues where an earlier one ended, however it ended: what has arrived is
// not uploaded again. Errors: a *ChangedError, *Error with invalid_project_path,
// upload_too_large, storage_limit_reached, and those of Inspect about the main file. It
// takes an agent key.
func (c *Client) InspectProject(ctx context.Context, r ProjectRequest) (*Quote, error) {
	listing, err := jsonBody(r.listing())
	if err != nil {
		return nil, err
	}
	// A part can go while others are sent: it was there for a day, and its time is over.
	for rounds := 1; ; rounds++ {
		var quote Quote
		err := c.do(ctx, call{method: http.MethodPost, path: "/node/v1/projects", body: listing, heavy: true}, &quote)
		if err == nil {
			return &quote, nil
		}
		refused, _ := errors.AsType[*Error](err)
		if refused == nil || refused.Code != partsMissing || rounds == 5 {
			return nil, err
		}
		var detail struct{ Missing []string }
		if json.Unmarshal(refused.Detail, &detail) != nil || len(detail.Missing) == 0 {
			return nil, err
		}
		if err := c.sendParts(ctx, r.Project, detail.Missing, r.Progress); err != nil {
			return nil, err
		}
	}
}

// listing is the request's body.
func (r ProjectRequest) listing() any {
	type file struct {
		Path      string   `json:"path"`
		SizeBytes int64    `json:"size_bytes"`
		Parts     []string `json:"parts"`
	}
	l := struct {
		Main       string `json:"main"`
		Files      []file `json:"files"`
		Frames     string `json:"frames,omitempty"`
		FrameStart *int   `json:"frame_start,omitempty"`
		FrameEnd   *int   `json:"frame_end,omitempty"`
		FrameStep  *int   `json:"frame_step,omitempty"`
		Settings
		Reuse bool `json:"reuse,omitempty"`
	}{Main: r.Project.Main, Frames: r.Frames, Settings: r.Settings, Reuse: r.Reuse}
	if r.Frames == "" {
		l.FrameStart, l.FrameEnd, l.FrameStep = r.FrameStart, r.FrameEnd, r.FrameStep
	}
	for _, f := range r.Project.Files {
		l.Files = append(l.Files, file{f.Path, f.SizeBytes, append([]string{}, f.Parts...)})
	}
	return l
}

// sentPart is where the bytes of a part are.
type sentPart struct {
	path   string // in the tree
	from   int64
	size   int64
	sha256 string
}

// parts finds parts by their hashes, each once. The service can only name what was listed.
func (p *Project) parts(sums []string) (found []sentPart, total int64, err error) {
	wanted := map[string]bool{}
	for _, sum := range sums {
		wanted[sum] = true
	}
	for _, f := range p.Files {
		for i, sum := range f.Parts {
			if !wanted[sum] {
				continue
			}
			delete(wanted, sum)
			from := int64(i) * contract.MaxPartBytes
			part := sentPart{path: p.at[f.Path], from: from, size: min(contract.MaxPartBytes, f.SizeBytes-from), sha256: sum}
			found, total = append(found, part), total+part.size
		}
	}
	if len(wanted) > 0 {
		return nil, 0, fmt.Errorf("the service asks for %d parts that the project does not have", len(wanted))
	}
	return found, total, nil
}

// sendParts sends parts of a project, partsAtOnce of them at a time.
func (c *Client) sendParts(ctx context.Context, p *Project, sums []string, progress func(sent, total int64)) error {
	parts, total, err := p.parts(sums)
	if err != nil {
		return err
	}
	sent := counter{told: func(n int64) {
		if progress != nil {
			progress(n, total)
		}
	}}
	sent.add(0)
	told := *c
	if on := c.retry.on; on != nil {
		told.retry.on = func(r Retry) {
			sent.lock.Lock() // a progress bar and a line about a failure are drawn at one place
			defer sent.lock.Unlock()
			on(r)
		}
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(partsAtOnce)
	for _, part := range parts {
		all.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return told.sendPart(ctx, p.tree, part, &sent)
		})
	}
	return all.Wait()
}

// sendPart sends a part, again after failures that pass.
func (c *Client) sendPart(ctx context.Context, tree fs.FS, part sentPart, sent *counter) error {
	counted := int64(0) // of the last try
	open := func() (body, error) {
		sent.add(-counted)
		counted = 0
		file, err := tree.Open(part.path)
		if err != nil {
			return body{}, &unreadable{fmt.Errorf("read a file of the project: %w", err)}
		}
		at, ok := file.(io.ReaderAt)
		if !ok {
			_ = file.Close()
			return body{}, &unreadable{fmt.Errorf("read a file of the project: %s cannot be read from its middle", part.path)}
		}
		from := &countedFile{from: io.NewSectionReader(at, part.from, part.size), total: part.size, progress: func(n, _ int64) {
			sent.add(n - counted)
			counted = n
		}}
		return body{&partBody{closableBody{from: from}, file}, "application/octet-stream", part.size}, nil
	}
	var answer struct{}
	err := c.do(ctx, call{method: http.MethodPut, path: "/node/v1/parts/" + part.sha256, body: open}, &answer)
	refused, _ := errors.AsType[*Error](err)
	if refused != nil && refused.Code == hashMismatch || errors.Is(err, errShorter) || errors.Is(err, fs.ErrNotExist) {
		return &ChangedError{Path: part.path, cause: err}
	}
	return err
}

// partBody is the body of a part, with the file that it is read from.
type partBody struct {
	closableBody
	file io.Closer
}

func (b *partBody) Close() error { return errors.Join(b.closableBody.Close(), b.file.Close()) }

// ChangedError is a file that was changed between its listing and its sending.
type ChangedError struct {
	Path  string // in the tree of the project
	cause error
}

func (e *ChangedError) Error() string {
	return e.Path + " was changed while the project was sent. Send it again when nothing writes to it"
}

// Unwrap returns how that showed.
func (e *ChangedError) Unwrap() error { return e.cause }

// counter adds what several goroutines do, and reports the sum.
type counter struct {
	lock sync.Mutex
	sum  int64
	told func(sum int64) // nil for none
}

func (c *counter) add(n int64) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.sum += n
	if c.told != nil {
		c.told(c.sum)
	}
}
