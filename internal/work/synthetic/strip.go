package synthetic

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels/exr"
	"svc.example/internal/render/strips"
)

// greys is how many palette indexes a strip can show, each as its own grey.
const greys = 255

// RenderStrip implements worker.Stripper: it writes the palette indexes of some rows, as greys, to
// an OpenEXR file, after the share of the frame's time that the rows are.
func (s *session) RenderStrip(ctx context.Context, frame int, strip strips.Strip, progress func(float64)) (blender.Frame, error) {
	began, from, to := time.Now(), strip.Held.From, strip.Held.To
	fault, err := s.spend(ctx, float64(to-from)/float64(s.size.Y), progress)
	if err != nil {
		return blender.Frame{}, err
	}
	f := s.rendered(frame, "exr", to-from, began)
	out, err := os.Create(f.Path)
	if err == nil {
		err = errors.Join(s.paintRows(out, from, to, fault), out.Close())
	}
	if err != nil {
		return blender.Frame{}, fmt.Errorf("write a strip of frame %d: %w", frame, err)
	}
	return f, nil
}

func (s *session) paintRows(out *os.File, from, to int, fault Fault) error {
	like, err := exr.NewReader(bytes.NewReader(exrHead(s.size.X, to-from)), strips.MaxMemory)
	if err != nil {
		return err
	}
	w, err := exr.NewWriter(out, like, to-from)
	if err != nil {
		return err
	}
	for y := from; y < to; y++ {
		row := make([]byte, 0, like.RowBytes)
		for x := range s.size.X {
			index := weave(x, y)
			if fault == Wrong {
				index ^= 1
			}
			row = binary.LittleEndian.AppendUint32(row, math.Float32bits(float32(index)/greys))
		}
		if err := w.Row(row); err != nil {
			return err
		}
	}
	return w.Close()
}

// Finish implements worker.Stripper: it joins strips, and gives their indexes the frame's colours.
func (s *session) Finish(_ context.Context, frame int, parts []strips.Strip, _ func(float64)) (blender.Frame, error) {
	began := time.Now()
	joined := filepath.Join(s.out, fmt.Sprintf("joined_%04d.exr", frame))
	if err := strips.Join(joined, parts); err != nil {
		return blender.Frame{}, &blender.Error{Code: blender.FrameCheckFailed, Message: "the strips cannot be joined: " + err.Error()}
	}
	defer os.Remove(joined)
	content, err := s.colour(frame, joined)
	if err != nil {
		return blender.Frame{}, fmt.Errorf("finish frame %d: %w", frame, err)
	}
	return s.write(frame, content, began)
}

// Undivided implements worker.Stripper: every picture may be cut.
func (s *session) Undivided(context.Context) (string, error) { return "", nil }

func (s *session) colour(frame int, joined string) ([]byte, error) {
	in, err := os.Open(joined)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	picture, err := exr.NewReader(in, strips.MaxMemory)
	if err != nil {
		return nil, err
	}
	indexes := make([]byte, s.size.X*s.size.Y)
	err = picture.Rows(0, s.size.Y, func(y int, values []byte) error {
		for x := range s.size.X {
			grey := math.Float32frombits(binary.LittleEndian.Uint32(values[4*x:]))
			indexes[y*s.size.X+x] = byte(math.Round(float64(grey) * greys))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return Draw(s.size, func(x, y int) byte { return indexes[y*s.size.X+x] }, coloursOf(frame))
}

// exrHead is the header of an OpenEXR file of greys.
func exrHead(width, height int) []byte {
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	one := number(0x3f800000)
	window := bytes.Join([][]byte{number(0), number(0), number(uint32(width - 1)), number(uint32(height - 1))}, nil)
	channel := bytes.Join([][]byte{[]byte("Y\x00"), number(2), number(0), number(1), number(1), {0}}, nil)
	head := bytes.NewBuffer([]byte{0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0})
	for _, a := range []struct {
		name, kind string
		value      []byte
	}{
		{"channels", "chlist", channel}, {"compression", "compression", []byte{0}}, {"dataWindow", "box2i", window}, {"displayWindow", "box2i", window},
		{"lineOrder", "lineOrder", []byte{0}}, {"pixelAspectRatio", "float", one}, {"screenWindowCenter", "v2f", make([]byte, 8)}, {"screenWindowWidth", "float", one},
	} {
		head.WriteString(a.name + "\x00" + a.kind + "\x00")
		head.Write(number(uint32(len(a.value))))
		head.Write(a.value)
	}
	head.WriteByte(0)
	return head.Bytes()
}
