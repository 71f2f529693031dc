package receipt

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"

	"svc.example/internal/ground/digest"
	"svc.example/internal/render/framename"
)

// consistentOutputs checks the outputs of a frame, and adds their names to those of the frames
// before it: the ZIP holds each name once.
func (f Frame) consistentOutputs(names map[string]bool) error {
	for _, o := range f.Outputs {
		if framename.Path(o.Name) != o.Name || names[o.Name] {
			return fmt.Errorf("frame %d has an output of the unusable name %q", f.Frame, o.Name)
		}
		if !digest.Is(o.SHA256) || o.SizeBytes < 1 {
			return fmt.Errorf("the output %q of frame %d has no proper hash or size", o.Name, f.Frame)
		}
		names[o.Name] = true
	}
	return nil
}

// sameFile reports whether two outputs have the same bytes. Their names may differ: each is the only
// one of its job.
func (o Output) sameFile(p Output) bool { return o.SHA256 == p.SHA256 && o.SizeBytes == p.SizeBytes }

// outputCount is the number of outputs of all frames.
func (r Receipt) outputCount() (n int) {
	for _, f := range r.Frames {
		n += len(f.Outputs)
	}
	return n
}

// checkOutputs adds the check "outputs" for a receipt that lists any.
func (r *Report) checkOutputs(frames []Frame, entries map[string]*zip.File) {
	var wrong []string
	total := 0
	for _, f := range frames {
		for _, o := range f.Outputs {
			total++
			entry := entries[OutputEntry(o.Name)]
			if err := o.isIn(entry); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %v", entry.Name, err))
			}
		}
	}
	switch {
	case total == 0:
	case len(wrong) > 0:
		r.add("outputs", Failed, "%d of %d differ from the receipt: %s", len(wrong), total, someOf(wrong))
	default:
		r.add("outputs", OK, "%d of %d have the receipt's size and SHA-256", total, total)
	}
}

// isIn compares an output with its entry.
func (o Output) isIn(entry *zip.File) error {
	if size := int64(entry.UncompressedSize64); size != o.SizeBytes {
		return fmt.Errorf("it has %d bytes, not %d", size, o.SizeBytes)
	}
	raw, err := entry.OpenRaw()
	if err != nil {
		return err
	}
	sum, err := digest.Of(io.LimitReader(raw, o.SizeBytes+1))
	if err == nil && sum != o.SHA256 {
		err = errors.New("its SHA-256 is " + sum)
	}
	return err
}
