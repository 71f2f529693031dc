// Package delivery receives a worker's picture: it asks whether the worker may deliver it,
// stores and checks its bytes, and reports it to package frames.
//
// What always holds, in this order: the lease and the description are checked before a byte
// is read; the bytes are stored before the row, so that a row never names a file that is not
// there; format and size are checked before anything is decoded; and a picture is decoded
// only while it has its share of the decoding memory. Memory is bounded by
// pixels.DecodingMemory of the file's size, time by lookTime, and both end when the worker
// goes away.
//
// Package door/farm checks the description, and framecheck judges the picture. Start reading
// at Desk.Receive.
package delivery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"golang.org/x/sync/semaphore"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
)

const (
	// decodingBytes is the memory for decoding, over all deliveries of a process. A single
	// picture that needs more takes all of it.
	decodingBytes = 512 << 20
	// mostDecoding bounds the memory for one picture, however large its file is.
	mostDecoding = 2 << 30
	// thumbnailBytes is what a small picture takes at most (pixels.Thumbnail).
	thumbnailBytes = 32 << 20
)

// lookTime bounds how long a picture of so many bytes is read: at least ten seconds, and no
// slower than 8 MiB a second.
func lookTime(size int64) time.Duration {
	return 10*time.Second + time.Duration(size>>23)*time.Second
}

// Taker decides what becomes of pictures. frames.Frames is the usual one, which documents it.
type Taker interface {
	Admit(ctx context.Context, p frames.Picture) (scene framecheck.Scene, known bool, err error)
	Compares(p frames.Picture) bool
	Accept(ctx context.Context, p frames.Picture) (kept bool, err error)
	Refuse(ctx context.Context, ref lease.Ref, failure framecheck.Failure) error
}

// Desk takes pictures in. Its methods are safe for concurrent use.
type Desk struct {
	taker    Taker
	blobs    blob.Store
	decoding *semaphore.Weighted
}

// New makes the desk of a process.
func New(f *frames.Frames, blobs blob.Store) *Desk {
	return &Desk{taker: f, blobs: blobs, decoding: semaphore.NewWeighted(decodingBytes)}
}

// For is the same desk, with the same memory, for pictures that another taker decides on.
func (d *Desk) For(t Taker) *Desk { return &Desk{taker: t, blobs: d.blobs, decoding: d.decoding} }

// Hold waits for so many bytes of the decoding memory. The caller calls done when it is
// through with them. Errors: those of ctx.
func (d *Desk) Hold(ctx context.Context, bytes int64) (done func(), err error) {
	bytes = min(bytes, decodingBytes)
	if err := d.decoding.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { d.decoding.Release(bytes) }, nil
}

// Receive takes in a picture whose bytes are read from file, and then its outputs, each from
// what next returns. A repeated delivery succeeds and changes nothing. Errors: lease_lost,
// frame_rejected, and those of next.
func (d *Desk) Receive(ctx context.Context, p frames.Picture, file io.Reader, next func() (io.Reader, error)) error {
	return d.receive(ctx, p, false, func(p *frames.Picture) error {
		began := time.Now()
		err := d.store(ctx, *p, picture(*p), file)
		if err == nil {
			err = d.storeOutputs(ctx, *p, next)
		}
		if p.TellsTimes {
			p.Times.Transfer += time.Since(began).Seconds()
		}
		return err
	})
}

// ReceiveStaged is Receive of a picture that is in the store already; take gives it its key.
func (d *Desk) ReceiveStaged(ctx context.Context, p frames.Picture, take func() error) error {
	return d.receive(ctx, p, true, func(*frames.Picture) error { return take() })
}

// receive deletes the file again when the report is not accepted; but not when the outcome
// of the transaction is unknown (db.ErrUnknown), since the row may then exist. The hourly
// sweep removes what a crash leaves.
func (d *Desk) receive(ctx context.Context, p frames.Picture, staged bool, bring func(*frames.Picture) error) error {
	scene, known, err := d.taker.Admit(ctx, p)
	if err != nil || known {
		return err
	}
	kept := false
	defer func() {
		if !kept && !errors.Is(err, db.ErrUnknown) {
			d.remove(ctx, p)
		}
	}()
	if err := bring(&p); err != nil {
		return err
	}
	if err = d.look(ctx, &p, scene, staged); err == nil && p.Seen != nil && d.taker.Compares(p) {
		p.Small, err = d.small(ctx, p)
	}
	if err == nil {
		kept, err = d.taker.Accept(ctx, p)
	}
	return err
}

// remove deletes the files of a delivery. The sweep removes what a failed delete leaves.
func (d *Desk) remove(ctx context.Context, p frames.Picture) {
	ctx = context.WithoutCancel(ctx)
	_ = d.blobs.Delete(ctx, p.BlobKey)
	for _, o := range p.Outputs {
		_ = d.blobs.Delete(ctx, o.BlobKey)
	}
}

// described is a file of a delivery as its worker describes it.
type described struct {
	what, key, sha256 string
	size              int64
}

func picture(p frames.Picture) described {
	return described{"picture", p.BlobKey, p.SHA256, p.SizeBytes}
}

// storeOutputs writes the outputs of a picture. Their format is recognised by their first bytes;
// they are not decoded. Errors: those of store.
func (d *Desk) storeOutputs(ctx context.Context, p frames.Picture, next func() (io.Reader, error)) error {
	for _, o := range p.Outputs {
		file, err := next()
		if err != nil {
			return err
		}
		head := make([]byte, min(o.SizeBytes, pixels.HeadBytes))
		if _, err := io.ReadFull(file, head); err != nil {
			return fault.New(fault.FrameRejected, "The output %s ended early.", o.Name).Wrap(err)
		}
		if _, known := pixels.FormatOf(head); !known {
			return d.taker.Refuse(ctx, p.Lease, framecheck.Failure{Code: fault.FrameCheckFailed, Log: p.Log, Message: fmt.Sprintf("The output %s is no picture of a known format.", o.Name)})
		}
		if err := d.store(ctx, p, described{"output " + o.Name, o.BlobKey, o.SHA256, o.SizeBytes}, io.MultiReader(bytes.NewReader(head), file)); err != nil {
			return err
		}
	}
	return nil
}

// store writes the bytes of a file and checks their number and hash. It
// reads one byte more than described, to notice a file that is too long.
//
// Bytes that differ from their description end the attempt: the worker's disk
// or network is damaged, and another worker should render the frame. A
// connection that breaks off does not; the worker can send again. Errors:
// frame_rejected, lease_lost.
func (d *Desk) store(ctx context.Context, p frames.Picture, f described, file io.Reader) error {
	w, err := d.blobs.Create(ctx, f.key)
	if err != nil {
		return fmt.Errorf("store frame: %w", err)
	}
	defer w.Abort()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(file, f.size+1))
	if db.IsFull(err) {
		return fmt.Errorf("store frame: %w", err) // the worker keeps the picture and sends it again
	}
	if err != nil {
		return fault.New(fault.FrameRejected, "The %s ended early, after %d bytes.", f.what, n).Wrap(err)
	}
	if err := d.compare(ctx, p, f, n, hex.EncodeToString(sum.Sum(nil))); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return fmt.Errorf("store frame: %w", err)
	}
	return nil
}

// compare ends the attempt of a delivery of which a file's bytes are not as described. Errors:
// frame_rejected, lease_lost.
func (d *Desk) compare(ctx context.Context, p frames.Picture, f described, n int64, sum string) error {
	if n == f.size && sum == f.sha256 {
		return nil
	}
	return d.taker.Refuse(ctx, p.Lease, framecheck.Failure{Code: fault.FrameCheckFailed, Log: p.Log, Message: fmt.Sprintf(
		"The %s has %d bytes and the hash %s, not the described %d and %s.", f.what, n, sum, f.size, f.sha256)})
}

// look reads a stored picture, so that the frame check does not depend on the worker's
// claims, and sets Seen or Unreadable.
//
// A staged picture did not pass through this process, so the same read also compares its
// bytes with their description. Errors: those of compare.
func (d *Desk) look(ctx context.Context, p *frames.Picture, scene framecheck.Scene, staged bool) error {
	file, err := d.blobs.Open(ctx, p.BlobKey)
	if err != nil {
		return fmt.Errorf("open frame: %w", err)
	}
	defer func() { _ = file.Close() }()
	if !staged {
		return d.read(ctx, p, scene, file)
	}
	if file.Size() != p.SizeBytes {
		return d.compare(ctx, *p, picture(*p), file.Size(), "")
	}
	sum := sha256.New()
	bytes := io.TeeReader(file, sum)
	if err := d.read(ctx, p, scene, bytes); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, bytes); err != nil { // what a reader leaves
		return fmt.Errorf("read frame: %w", err)
	}
	return d.compare(ctx, *p, picture(*p), file.Size(), hex.EncodeToString(sum.Sum(nil)))
}

// read is look of bytes.
func (d *Desk) read(ctx context.Context, p *frames.Picture, scene framecheck.Scene, file io.Reader) error {
	r := &reading{Reader: file, ctx: ctx, size: p.SizeBytes}
	r.begin()
	var holds []func()
	defer func() {
		for _, done := range holds {
			done()
		}
	}()
	picture, err := pixels.ReadWithin(r, pixels.Limits{
		Memory: min(pixels.DecodingMemory(p.SizeBytes), mostDecoding), Size: p.SizeBytes,
		Claims: func(format string, width, height int) error {
			return framecheck.Claims(p.Picture, scene, format, width, height)
		},
		Takes: func(bytes int64) error {
			done, err := d.Hold(ctx, bytes)
			if err != nil {
				r.failed = err
				return err
			}
			holds = append(holds, done)
			r.begin()
			return nil
		},
	})
	switch {
	case r.failed != nil: // an outage of the store, or of the worker's connection, says nothing about the picture
		return fmt.Errorf("read frame: %w", r.failed)
	case err != nil:
		p.Unreadable = err.Error()
	default:
		p.Seen = &picture
	}
	return nil
}

// small makes a stored picture small; nil where that takes too much memory or the format
// shows no colours.
func (d *Desk) small(ctx context.Context, p frames.Picture) (*image.RGBA, error) {
	file, err := d.blobs.Open(ctx, p.BlobKey)
	if err != nil {
		return nil, fmt.Errorf("open frame: %w", err)
	}
	defer func() { _ = file.Close() }()
	done, err := d.Hold(ctx, thumbnailBytes)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &reading{Reader: file, ctx: ctx, size: p.SizeBytes}
	r.begin()
	small, err := pixels.Thumbnail(r, frames.SmallSide)
	if r.failed != nil {
		return nil, fmt.Errorf("read frame: %w", r.failed)
	}
	if err != nil {
		return nil, nil // it is sound, and cannot be compared
	}
	return small, nil
}

// errSlow is a picture that takes too long to read.
var errSlow = errors.New("it takes too long to decode")

// reading distinguishes a reader's failure from what a decoder makes of the bytes before it.
// It ends with its context, and after lookTime.
type reading struct {
	io.Reader
	ctx    context.Context
	size   int64
	until  time.Time
	failed error
}

// begin starts the time: the wait for memory does not count.
func (r *reading) begin() { r.until = time.Now().Add(lookTime(r.size)) }

func (r *reading) Read(p []byte) (int, error) {
	if r.failed = r.ctx.Err(); r.failed != nil {
		return 0, r.failed
	}
	if time.Now().After(r.until) {
		return 0, errSlow
	}
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.failed = err
	}
	return n, err
}
