package records

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bufferSize is what is read at a time from the packed and the unpacked stream.
const bufferSize = 64 << 10

// source counts the packed bytes and remembers an error of the reader below it,
// so that a broken connection is never taken for a damaged file.
type source struct {
	r   io.Reader
	n   int64
	eof bool
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	if n > 0 && err == io.EOF {
		err = nil // the next call returns it, so that eof says that nothing is left to read
	}
	s.eof = s.eof || err == io.EOF
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// unpacked counts the bytes that come out of the decoder and stops at the limits:
// exactly at MaxUnpacked; at MaxRatio within a buffer, since the decoder may be
// that far ahead of the source. Without it a small upload could keep the server
// unpacking for hours.
type unpacked struct {
	r   io.Reader
	src *source
	o   Options
	n   int64
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.n += int64(n)
	if beyond := u.n - u.o.MaxUnpacked; beyond > 0 {
		return max(0, n-int(beyond)), &TooLargeError{What: "unpacked bytes", Limit: u.o.MaxUnpacked}
	}
	if u.n > RatioFloor && float64(u.n) > u.o.MaxRatio*float64(u.src.n) {
		return 0, &TooLargeError{What: "times its packed size", Limit: int64(u.o.MaxRatio)}
	}
	return n, err
}

// stream is the unpacked file, read forward, with the position in it.
type stream struct {
	src         *source
	un          *unpacked
	br          *bufio.Reader
	zstd        *zstd.Decoder
	compression string
	pos         int64 // bytes of the unpacked stream taken so far
}

// openStream recognises how r is packed and starts to unpack it. The caller closes
// the stream. zstd decodes in one goroutine, so that many inspections at once stay
// within their memory.
func openStream(r io.Reader, o Options) (*stream, error) {
	s := &stream{src: &source{r: r}, compression: "none"}
	raw := bufio.NewReaderSize(s.src, bufferSize)
	first, err := raw.Peek(sniffLength)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the file's first bytes: %w", err)
	}
	s.un = &unpacked{r: raw, src: s.src, o: o}
	switch {
	case isGzip(first):
		s.compression = "gzip"
		if s.un.r, err = gzip.NewReader(raw); err != nil {
			return nil, s.fault(err, "", "the gzip header")
		}
	case isZstd(first):
		s.compression = "zstd"
		if s.zstd, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(o.MaxWindow))); err != nil {
			return nil, fmt.Errorf("start the zstd decoder: %w", err)
		}
		s.un.r = s.zstd
	case isCutMagic(first):
		return nil, &TruncatedError{What: "its first four bytes"}
	default:
		if err := looksLikeBlend(first); err != nil {
			return nil, err
		}
	}
	s.br = bufio.NewReaderSize(s.un, bufferSize)
	return s, nil
}

// close ends the zstd decoder and its goroutines; the others need no end.
func (s *stream) close() {
	if s.zstd != nil {
		s.zstd.Close()
	}
}

// full fills p. Its error is raw: see fault.
func (s *stream) full(p []byte) error {
	n, err := io.ReadFull(s.br, p)
	s.pos += int64(n)
	return err
}

// skip passes over n bytes. Its error is raw: see fault.
func (s *stream) skip(n int64) error {
	for n > 0 {
		step := min(n, 1<<30)
		done, err := s.br.Discard(int(step))
		s.pos += int64(done)
		if err != nil {
			return err
		}
		n -= step
	}
	return nil
}

// drain reads what follows the end mark. The facts are complete, so nothing
// found there spoils them; only the source's own failure counts.
func (s *stream) drain() error {
	buffer := make([]byte, bufferSize)
	for {
		n, err := s.br.Read(buffer)
		s.pos += int64(n)
		if err != nil {
			break
		}
	}
	// The decoder may have stopped before the source's end, at bytes that belong to
	// no packed frame.
	if s.src.err == nil {
		_, _ = io.CopyBuffer(io.Discard, s.src, buffer) // src.err keeps the failure
	}
	if s.src.err != nil {
		return fmt.Errorf("read the rest of the file: %w", s.src.err)
	}
	return nil
}

// fault turns an error of the stream into one that says what it means. The source's
// own failure comes first: whatever the decoder made of it is a consequence.
func (s *stream) fault(err error, block, what string) error {
	var large *TooLargeError
	switch {
	case s.src.err != nil:
		return fmt.Errorf("read the file, in %s: %w", what, s.src.err)
	case errors.As(err, &large):
		return large
	case s.ended(err):
		return &TruncatedError{Offset: s.pos, What: what}
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return &TooLargeError{What: "bytes of zstd window", Limit: s.un.o.MaxWindow}
	}
	return &DamagedError{Offset: s.pos, Block: block, What: "the " + s.compression + " stream does not unpack", Err: err}
}

// ended distinguishes the end of the stream from a failure. Decoders also report an
// end when what they read makes no sense; the source has not ended then.
func (s *stream) ended(err error) bool {
	return s.src.eof && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
}
