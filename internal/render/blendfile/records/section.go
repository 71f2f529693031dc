package records

import "io"

// Section reads a part of a .blend's unpacked bytes, such as a .blend that is packed in it.
// r is read forward, and left to the caller. Errors are those of Open.
func Section(r io.Reader, o Options, offset, size int64) (io.ReadCloser, error) {
	s, err := openStream(r, o.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := s.skip(offset); err != nil {
		s.close()
		return nil, s.fault(err, "", "a packed library")
	}
	return &section{io.LimitReader(s.br, size), s}, nil
}

// section is a part of a stream.
type section struct {
	io.Reader
	stream *stream
}

// Close ends the decoder.
func (s *section) Close() error {
	s.stream.close()
	return nil
}
