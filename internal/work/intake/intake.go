// Package intake receives a .blend. It limits, hashes, stores and inspects the file
// in one pass, and answers with a locked quote.
//
// What always holds: a file is never in memory as a whole. A refused or broken upload
// leaves nothing stored. An acknowledged upload is durable, and its quote is locked
// in the same transaction. Intake spends no money.
//
// Package blendfile knows the file format, inspection what a file means for an order, quote
// the price, project the files of an upload, and job starts jobs. Start reading at Intake.Receive.
package intake

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/sharing"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// Intake receives uploads. Every field is required except Book, Unstarted, Unpaid, Reuse, Memory and Ledger. Make one for each
// process: it counts what arrives. Safe for concurrent use.
type Intake struct {
	DB       *db.DB
	Blobs    blob.Store
	Envelope quote.Envelope // bound on a frame's work
	// Book has the terms that quotes and upload links get; nil means contract.Published.
	Book contract.Book
	// FrameOutputs is how many files a frame may have besides its picture.
	FrameOutputs int
	// FrameTime is how long a worker may render a frame. Callers see it with the price.
	FrameTime time.Duration
	// Unstarted bounds the bytes that a workspace stores and that no job pays for: uploads,
	// and rows about them. Equal bytes of files count once. 0 means contract.UnstartedStorage. Several processes hold it
	// together for what is stored, each alone for what arrives.
	Unstarted int64
	// Unpaid bounds what all workspaces store together that never had a credit or a payment;
	// 0 means no bound. Each process reads the sum now and then, so several can exceed it by
	// what they admit meanwhile.
	Unpaid int64
	// ProjectSize bounds the bytes of all files of a project together. 0 means
	// contract.ProjectSize.
	ProjectSize int64
	// Reuse finds frames that need not be rendered again; nil finds none.
	Reuse Comparer
	// Memory is the memory that inspections share; nil bounds each alone.
	Memory *memory.Budget
	// Ledger is charged what fetched files cost; nil records nothing.
	Ledger *ratelimit.Ledger
	// Guard decides which addresses may be fetched; Fetcher fetches them within
	// FetchLimits. Only awaited uploads use them.
	Guard   *outbound.Guard
	Fetcher *http.Client

	arrivals arrivals
	unpaid   unpaid
	once     sync.Once
	pools    pools
}

// pools are what all workspaces use together in a process.
type pools struct{ projects, fetches sharing.Places }

// Of MostFetches at once, and of the projects that are inspected at once, a workspace has
// its share: slow hosts and large projects of one keep nobody else waiting.
const (
	MostFetches  = 8
	fetchShare   = 2
	projectShare = 2
)

// places returns the pools, with their sizes.
func (in *Intake) places() *pools {
	in.once.Do(func() {
		in.pools.projects.Most, in.pools.projects.Share = maxProjects, projectShare
		in.pools.fetches.Most, in.pools.fetches.Share = MostFetches, fetchShare
	})
	return &in.pools
}

// terms are those that new quotes and upload links get.
func (in *Intake) terms() contract.Terms {
	if in.Book == nil {
		return contract.Published().Current()
	}
	return in.Book.Current()
}

// File is a file that arrives.
type File struct {
	Name string
	Body io.Reader
	// Announced is how many bytes will come at least, as far as the sender has said;
	// 0 when it has not.
	Announced int64
	// SHA256 is the hash that the sender claims for the bytes, in lower-case hex; ""
	// if it claims none. Content that the workspace has is then not written again
	// and costs no storage. The caller compares it with Received.SHA256.
	SHA256 string
	// Later says that settings may follow (Received.Choose), without which the file perhaps
	// cannot be rendered.
	Later bool
}

// Received is a complete file that can be rendered. End it with Quote or Abort, on
// every path: until then its blob is open. Not safe for concurrent use.
type Received struct {
	*draft
	uploadID string
	manifest project.Manifest
	filename string // of the main file, as are hash and size
	sha256   string
	size     int64
	scene    quote.Scene // of the file as it is
	later    bool        // Choose decides whether it can be rendered
	refused  error       // why not, as it is; nil where it can
	choice   quote.Choice
	// again reads the file once more, for other settings.
	again func(context.Context, settings.Settings) (quote.Scene, error)
}

// Inspection is the answer of inspect: what the file asks for and what it would cost.
type Inspection struct {
	UploadID  string
	Quote     quote.Quote
	Scene     quote.Scene
	FrameTime time.Duration // that a frame may take
}

// Receive reads one file and inspects it on the way, and afterwards what is packed in it. It
// stores no row: a crash before Quote leaves at most a blob that the sweep finds. Errors: upload_too_large,
// storage_limit_reached, unsupported_file, file_damaged, file_too_new, no_scene,
// engine_not_supported, no_camera, picture_too_small, invalid_request when the body breaks off,
// unavailable when others hold Memory, and the body's own.
func (in *Intake) Receive(ctx context.Context, workspaceID string, f File) (*Received, error) {
	return in.receive(ctx, workspaceID, id.New(id.Upload), f)
}

// receive is Receive for an id that exists already. Several files may arrive for one
// id at once: each has its own blob, and the first to commit gets the id.
func (in *Intake) receive(ctx context.Context, workspaceID, uploadID string, f File) (*Received, error) {
	name, err := CleanName(f.Name)
	if err != nil {
		return nil, sizeFirst(f.Body, err)
	}
	d, c, err := in.beginOne(ctx, workspaceID, f.SHA256, f.Announced, false)
	if err != nil {
		return nil, err
	}
	r := &Received{draft: d, uploadID: uploadID, filename: name, later: f.Later}
	if err := r.inspect(ctx, c, f.Body); err != nil {
		r.Abort()
		return nil, err
	}
	return r, nil
}

// key is where a workspace has content of this hash; "" where it has none.
func (in *Intake) key(ctx context.Context, workspaceID, sha256 string) (key string, err error) {
	err = in.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = project.Key(ctx, tx, workspaceID, sha256)
		return err
	})
	return key, err
}

// knows reports whether a workspace has content of this hash.
func (in *Intake) knows(ctx context.Context, workspaceID, sha256 string) (bool, error) {
	key, err := in.key(ctx, workspaceID, sha256)
	return key != "", err
}

// inspect makes the single pass: body -> limit -> hash and blob -> blendfile. The limit
// comes first and blendfile last, so that no byte beyond the limit is hashed, stored or
// parsed.
func (r *Received) inspect(ctx context.Context, c *content, body io.Reader) error {
	// The reader counts down from the limit, so a body without a length is bounded too.
	source := c.source(ctx, body, contract.MaxUploadBytes, TooLarge)
	var facts *blendfile.Facts
	var err error
	ratelimit.Work(ctx, func() {
		if facts, err = blendfile.Inspect(source, blendfile.Options{Memory: r.in.Memory}); err != nil {
			// What is refused is not kept, and takes no room.
			source.blob, source.take = io.Discard, func(int) error { return nil }
		}
		// The facts, or what is wrong with them, may be known before the file ends. A file
		// that is too large is refused for that, whatever it contains, and a caller that
		// sends a whole file before it reads the answer gets one.
		_, _ = io.Copy(io.Discard, source) // an error is source.err
	})
	if source.err != nil {
		return source.err // the cause, whatever blendfile made of it
	}
	if err != nil {
		return inspection.Refusal(err)
	}
	c.read(source)
	r.size, r.sha256 = c.size, c.sha256
	r.manifest = project.SingleFile(r.filename, r.sha256, r.size)
	of := opener{filename: r.filename, open: func() (io.ReadCloser, error) { return c.open(ctx, r.workspaceID) }}
	r.again = func(ctx context.Context, s settings.Settings) (quote.Scene, error) {
		return r.in.sceneOfFile(ctx, of, s)
	}
	if err := r.renderable(ctx, facts); err != nil {
		return err
	}
	if err := r.complete(ctx, c, facts); err != nil {
		return err
	}
	r.scene = inspection.SceneOf(facts, r.filename)
	return nil
}

// renderable is Renderable for the farm as it is. Where settings may follow, what they can
// change waits for Choose.
func (r *Received) renderable(ctx context.Context, facts *blendfile.Facts) error {
	err := r.in.renderable(ctx, r.workspaceID, facts)
	if r.later && (fault.Is(err, fault.NoCamera) || fault.Is(err, fault.PictureTooSmall) || fault.Is(err, fault.EngineNotSupported) || fault.Is(err, fault.ViewPathUnsafe)) {
		r.refused, err = err, nil
	}
	return err
}

// renderableFor is renderable for the farm of a workspace.
func (in *Intake) renderableFor(workspaceID string) func(context.Context, *blendfile.Facts) error {
	return func(ctx context.Context, facts *blendfile.Facts) error { return in.renderable(ctx, workspaceID, facts) }
}

func (in *Intake) renderable(ctx context.Context, workspaceID string, facts *blendfile.Facts) error {
	var farm quote.Farm
	err := in.DB.Read(ctx, func(tx *db.Tx) (err error) {
		farm, err = in.farmOf(ctx, tx, workspaceID)
		return err
	})
	if err != nil {
		return err
	}
	return inspection.Renderable(facts, farm)
}

// sizeFirst reads a file that is refused for err, and keeps nothing of it. A file that
// is too large gets that error instead.
func sizeFirst(body io.Reader, err error) error {
	n, _ := io.Copy(io.Discard, io.LimitReader(body, contract.MaxUploadBytes+1)) // a body that breaks off has no reader
	if n > contract.MaxUploadBytes {
		return TooLarge()
	}
	return err
}

// Filename is the cleaned file name.
func (r *Received) Filename() string { return r.filename }

// SHA256 is the hash of the file's bytes, in lower-case hex.
func (r *Received) SHA256() string { return r.sha256 }

// Size is the number of bytes of the file, 1 to contract.MaxUploadBytes.
func (r *Received) Size() int64 { return r.size }

// Abort discards the file. After Quote it does nothing, so it can be deferred.
func (r *Received) Abort() { r.abort() }

// capped passes on at most left bytes, and hashes and stores them on the way. After the
// first error it always returns that error, so that no reader continues after a gap.
type capped struct {
	body     io.Reader
	left     int64
	tooLarge func() error // of a body with more
	size     int64
	sum      hash.Hash
	take     func(n int) error // asks for room, before the bytes are written
	blob     io.Writer
	err      error // why reading stopped before the end
}

func (c *capped) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.body.Read(p)
	// More than the limit was read: the surplus is neither hashed nor stored.
	if int64(n) > c.left {
		c.err = c.tooLarge()
		return 0, c.err
	}
	if c.err = c.take(n); c.err != nil {
		return 0, c.err
	}
	c.left -= int64(n)
	c.size += int64(n)
	c.sum.Write(p[:n]) // never fails
	if _, werr := c.blob.Write(p[:n]); werr != nil {
		c.err = fmt.Errorf("store upload: %w", werr)
		return 0, c.err
	}
	if err != nil && err != io.EOF {
		c.err = fault.New(fault.InvalidRequest, "The upload was interrupted after %d bytes.", c.size).Wrap(err)
		// A body that knows its own reason, such as a fetched one, keeps it.
		if f, ok := errors.AsType[*fault.Error](err); ok {
			c.err = f
		}
		return n, c.err
	}
	return n, err
}

// readAll reads a body that is only hashed and stored.
func readAll(ctx context.Context, source *capped) (err error) {
	ratelimit.Work(ctx, func() { _, err = io.Copy(io.Discard, source) })
	return err
}

// TooLarge is the error of a file above the limit of contract.MaxUploadBytes (spec 4.1
// rule 3). The doors return it too, when a request's own length is enough to refuse it.
func TooLarge() error {
	return fault.New(fault.UploadTooLarge, "The file is larger than %d bytes.", contract.MaxUploadBytes)
}

// maxNameBytes is the limit of common file systems for one name, in bytes.
const maxNameBytes = 255

// CleanName returns the last element of a caller's file name, without blanks before it.
// The name appears in receipts and becomes a file on a worker, so it never contains a
// folder or an invisible character. It ends with .blend in any case and has at most 255
// bytes. Bytes that are not UTF-8 are read as ISO-8859-1. Error: unsupported_file.
func CleanName(filename string) (string, error) {
	if !utf8.ValidString(filename) {
		filename = fromLatin1(filename)
	}
	name := strings.ReplaceAll(filename, `\`, "/")
	name = strings.TrimLeft(name[strings.LastIndex(name, "/")+1:], " ") // path.Base would take a.blend/ for a.blend
	for _, r := range name {
		if plaintext.Hidden(r) || r == unicode.ReplacementChar {
			return "", fault.New(fault.UnsupportedFile, "The file's name contains an invisible or invalid character: %s.", plaintext.Line(name)).
				WithAction("Rename the file and upload it again.")
		}
	}
	// A name that is nothing but the extension would give a hidden file.
	if !strings.HasSuffix(strings.ToLower(name), contract.InputExtension) || len(name) == len(contract.InputExtension) || len(name) > maxNameBytes {
		return "", fault.New(fault.UnsupportedFile, "The file's name must end with %s and have at most %d bytes; it is %q.",
			contract.InputExtension, maxNameBytes, name)
	}
	return name, nil
}
