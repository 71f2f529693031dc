package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// InspectRequest is a file to price. Filename and Body are required.
type InspectRequest struct {
	Filename string // as the receipt will name it; ends with ".blend"
	// Body is the file from its current position. If it is an io.Seeker, a broken
	// upload is repeated from there; otherwise it fails.
	Body io.Reader
	// Size is the number of bytes in Body. 0 means unknown, unless Body is an
	// io.Seeker, which knows it.
	Size int64
	// Frames selects the frames, such as 3,7-9 or 10-100x5; see [Frames] for numbers. ""
	// takes FrameStart, FrameEnd and FrameStep, of which nil is that of the active scene.
	Frames                          string
	FrameStart, FrameEnd, FrameStep *int
	Settings                        Settings // what else differs from the file
	// Reuse takes over frames that an earlier job of the workspace rendered and whose pictures
	// are the same. They cost nothing; Quote.ReusedFrames lists them.
	Reuse bool
	// Progress, if not nil, is called with the bytes sent so far. A repeated upload
	// starts again at 0. total is -1 while unknown.
	Progress func(sent, total int64)
}

// Inspect uploads a file and returns a locked quote. It spends nothing. A repeated
// upload makes another quote, which is free as well. Errors: *Error, whose code
// says what is wrong with the file (unsupported_file, file_damaged,
// upload_too_large and others). It takes an agent key, as Quote does.
func (c *Client) Inspect(ctx context.Context, r InspectRequest) (*Quote, error) {
	upload, err := newUpload(r)
	if err != nil {
		return nil, err
	}
	var quote Quote
	x := call{method: "POST", path: "/node/v1/uploads/inspect", body: upload.open, once: upload.seeker == nil, heavy: true}
	if err := c.do(ctx, x, &quote); err != nil {
		return nil, err
	}
	return &quote, nil
}

// Frames writes numbers as a list of frames.
func Frames(numbers ...int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}

// QuoteRequest is what is rendered of an inspected upload.
type QuoteRequest struct {
	Frames   string // such as 3,7-9 or 10-100x5; "" for the scene's own, if Settings or Reuse chooses something
	Settings Settings
	// Reuse takes over frames that an earlier job of the workspace rendered and whose pictures
	// are the same. They cost nothing; Quote.ReusedFrames lists them.
	Reuse bool
}

// framesBody is a request that has frames alone.
type framesBody struct {
	Frames string `json:"frames"`
}

// Quote returns a new locked quote for other frames of an inspected upload, such as 3,7-9
// or 10-100x5. It spends nothing. Errors: *Error with upload_not_found,
// invalid_frame_range.
func (c *Client) Quote(ctx context.Context, uploadID, frames string) (*Quote, error) {
	return c.QuoteWith(ctx, uploadID, QuoteRequest{Frames: frames})
}

// QuoteWith is Quote with settings. Errors: those of Quote, and *Error with invalid_settings
// for what the file does not have; its detail lists what it has.
func (c *Client) QuoteWith(ctx context.Context, uploadID string, r QuoteRequest) (*Quote, error) {
	body := struct {
		Frames string `json:"frames,omitempty"`
		Settings
		Reuse bool `json:"reuse,omitempty"`
	}{r.Frames, r.Settings, r.Reuse}
	var quote Quote
	if err := c.post(ctx, "/node/v1/uploads/"+url.PathEscape(uploadID)+"/quote", body, &quote); err != nil {
		return nil, err
	}
	return &quote, nil
}

// Rerender returns a locked quote for frames of an ended job once more, over the upload
// that it rendered. frames is a list such as 3,7-9. It spends nothing and changes nothing
// in that job: start the quote for the new one. Error: *Error with render_not_completed
// while the job runs, invalid_frame_range, upload_not_found when the upload is gone.
func (c *Client) Rerender(ctx context.Context, jobID, frames string) (*Quote, error) {
	var quote Quote
	if err := c.post(ctx, c.jobPath(jobID, "/rerender"), framesBody{frames}, &quote); err != nil {
		return nil, err
	}
	return &quote, nil
}

// UnmarshalJSON accepts each member at the top level or inside the quote member,
// since the service may send either (spec 2.11). A member at the top level counts
// over one inside.
func (q *Quote) UnmarshalJSON(text []byte) error {
	type plain Quote
	inner := struct {
		Quote *plain `json:"quote"`
	}{(*plain)(q)}
	if err := json.Unmarshal(text, &inner); err != nil {
		return err
	}
	return json.Unmarshal(text, (*plain)(q))
}

// upload builds the multipart body, again for each try where the source allows it.
// The parts around the file are made once, so that the length is known before the
// first byte.
type upload struct {
	source      io.Reader
	seeker      io.Seeker // nil where the source cannot be read twice
	from        int64
	size        int64 // of the source, -1 unknown
	head, tail  []byte
	contentType string
	progress    func(sent, total int64)
}

// newUpload measures the source and makes what goes around it.
func newUpload(r InspectRequest) (*upload, error) {
	u := &upload{source: r.Body, size: r.Size, progress: r.Progress}
	if u.progress == nil {
		u.progress = func(int64, int64) {}
	}
	if err := u.measure(); err != nil {
		return nil, fmt.Errorf("find the size of %s: %w", r.Filename, err)
	}
	var frame bytes.Buffer
	form := multipart.NewWriter(&frame)
	err := writeFrames(form, r)
	if err == nil {
		err = r.Settings.write(form)
	}
	if err == nil && r.Reuse {
		err = form.WriteField("reuse", "true")
	}
	if err == nil {
		_, err = form.CreateFormFile("file", r.Filename)
	}
	if err != nil {
		return nil, fmt.Errorf("form the upload: %w", err)
	}
	// The form writes its end into the same buffer, hence the copy of its
	// beginning.
	u.head = bytes.Clone(frame.Bytes())
	frame.Reset()
	if err := form.Close(); err != nil {
		return nil, fmt.Errorf("form the upload: %w", err)
	}
	u.tail = frame.Bytes()
	u.contentType = form.FormDataContentType()
	return u, nil
}

// writeFrames puts the frames before the file, so that the server knows them while
// it reads the scene.
func writeFrames(form *multipart.Writer, r InspectRequest) error {
	if r.Frames != "" {
		return form.WriteField("frames", r.Frames)
	}
	fields := []struct {
		name  string
		value *int
	}{{"frame_start", r.FrameStart}, {"frame_end", r.FrameEnd}, {"frame_step", r.FrameStep}}
	for _, field := range fields {
		if field.value == nil {
			continue
		}
		if err := form.WriteField(field.name, strconv.Itoa(*field.value)); err != nil {
			return err
		}
	}
	return nil
}

// measure determines from where the source can be read again, and how many bytes it
// has. It leaves a seekable source at its end; open goes back.
func (u *upload) measure() error {
	seeker, ok := u.source.(io.Seeker)
	if !ok {
		if u.size == 0 {
			u.size = -1
		}
		return nil
	}
	from, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	end, err := seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	u.seeker, u.from, u.size = seeker, from, end-from
	return nil
}

// open starts the body from its beginning, for one try.
func (u *upload) open() (body, error) {
	if u.seeker != nil {
		if _, err := u.seeker.Seek(u.from, io.SeekStart); err != nil {
			return body{}, &unreadable{fmt.Errorf("return to the start of the file: %w", err)}
		}
	}
	file := u.source
	length := int64(-1)
	if u.size >= 0 {
		// A file that grows meanwhile is cut at the announced length.
		file = io.LimitReader(file, u.size)
		length = int64(len(u.head)) + u.size + int64(len(u.tail))
	}
	u.progress(0, u.size)
	counted := &countedFile{from: file, total: u.size, progress: u.progress}
	all := io.MultiReader(bytes.NewReader(u.head), counted, bytes.NewReader(u.tail))
	return body{&closableBody{from: all}, u.contentType, length}, nil
}

// errShorter reports a file that has fewer bytes than were announced.
var errShorter = errors.New("the file ends")

// countedFile reports progress, and marks a failed read of the file as final:
// unlike a lost connection, repeating would not fix it. A file that became shorter
// would leave the announced length unfilled.
type countedFile struct {
	from        io.Reader
	sent, total int64
	progress    func(sent, total int64)
}

func (f *countedFile) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	if n > 0 {
		f.sent += int64(n)
		f.progress(f.sent, f.total)
	}
	if errors.Is(err, io.EOF) && f.total >= 0 && f.sent < f.total {
		err = fmt.Errorf("%w after %d of %d bytes", errShorter, f.sent, f.total)
	}
	if err != nil && err != io.EOF {
		err = &unreadable{fmt.Errorf("read the file to upload: %w", err)}
	}
	return n, err
}

// closableBody waits in Close for a running Read. The transport may still read
// after the answer came, and the next try must not share the file's position with
// it.
type closableBody struct {
	lock   sync.Mutex
	from   io.Reader
	closed bool
}

func (b *closableBody) Read(p []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.closed {
		return 0, errors.New("the upload was given up")
	}
	return b.from.Read(p)
}

func (b *closableBody) Close() error {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.closed = true
	return nil
}
