package contentkey

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile"
)

// Key says which picture a frame is. Frames of equal keys are equal.
type Key [sha256.Size]byte

// String is the key in hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ErrNoScene reports that a .blend has no scene that could be rendered.
var ErrNoScene = errors.New("the file has no scene")

// Scene is what the frames of a .blend's active scene come from.
type Scene struct {
	// Whole says why each frame counts everything, such as "it uses a particle system"; "" where
	// frames count apart from each other.
	Whole string

	together Key
	bytes    []byte         // a hash of the file, where all of it counts: see watched
	named    map[string]Key // each data-block, and each file as "file PATH"
	files    []string       // those of named
	curves   []curve
	shutter  float64
	linking  *linking       // nil where the scene uses no library
	linked   map[string]Key // libraries of which only what the scene uses counts, by their paths
}

// Read reads a .blend, which open opens, several times. Errors are those of blendfile.Open,
// and ErrNoScene.
func Read(open func() (io.ReadCloser, error), o blendfile.Options) (*Scene, error) {
	addr, err := activeScene(open, o)
	if err != nil {
		return nil, err
	}
	f, err := read(open, o)
	if err != nil {
		return nil, err
	}
	head := f.at(addr, nowhere)
	if head == nowhere || !f.isHead(head) {
		return nil, ErrNoScene
	}
	w := f.reach(head)
	w.unlinkUnread()
	w = f.reach(head)
	s := w.scene()
	if err := f.tooLong(); err != nil {
		return nil, err
	}
	if w.watched() {
		if s.bytes, err = bytesOf(open); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// bytesOf hashes a file as it is.
func bytesOf(open func() (io.ReadCloser, error)) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, fmt.Errorf("open the .blend: %w", err)
	}
	defer func() { _ = r.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return nil, fmt.Errorf("read the .blend: %w", err)
	}
	return h.Sum(nil), nil
}

// activeScene is the address of the scene that is rendered.
func activeScene(open func() (io.ReadCloser, error), o blendfile.Options) (uint64, error) {
	r, err := open()
	if err != nil {
		return 0, fmt.Errorf("open the .blend: %w", err)
	}
	defer func() { _ = r.Close() }()
	opened, err := blendfile.Open(r, o)
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	addr, ok := opened.ActiveScene()
	if !ok {
		return 0, ErrNoScene
	}
	return addr, nil
}

// scene puts together what counts.
func (w *reached) scene() *Scene {
	s := &Scene{Whole: w.whole(), shutter: w.shutter()}
	d := &digest{reached: w, animation: w.animate(), mentioned: w.paths(), viewport: w.viewportSettings()}
	s.curves = d.animation.curves
	local := s.Whole == ""
	own := &way{local: local, matrices: !local || d.animation.circle, spans: !local || w.stamped()}
	uses, known := w.uses()
	if len(uses) == 0 && known {
		s.named = d.all(own)
		s.together = own.key()
		return s
	}
	own.names = true
	moving, everything := &way{local: local, matrices: true, spans: own.spans, names: true}, &way{matrices: true, spans: true, names: true}
	s.named = d.all(own, moving, everything)
	s.linking = &linking{uses: uses, whole: s.Whole, own: own.key(), moving: moving.key()}
	s.linking.unclear = !known || s.Whole == sceneIsLinked || w.overrides(w.order[0]) || w.scripts() || w.watched()
	s.together, s.Whole = everything.key(), cmp.Or(s.Whole, "it uses linked data")
	return s
}

// paths are all paths of curves and drivers, and the texts that may be such.
func (w *reached) paths() string {
	var all strings.Builder
	for _, b := range w.order {
		if t, ok := w.textAt(b); ok && w.blocks[b].index == rawData {
			all.WriteString(t)
			all.WriteByte(0)
		}
	}
	return all.String()
}

// AddFile adds a file that the scene reads, by the path that the .blend has of it and a hash
// of its content, or a word for why there is none.
func (s *Scene) AddFile(path, content string) {
	name := "file " + path
	sum := sha256.Sum256([]byte(content))
	if before, twice := s.named[name]; twice {
		sum = sha256.Sum256(append(before[:], sum[:]...))
	} else {
		s.files = append(s.files, name)
	}
	s.named[name] = sum
}

// Keys are those of frames, in their order.
func (s *Scene) Keys(frames []int) []Key {
	static := sha256.New()
	static.Write(s.together[:])
	static.Write(s.bytes)
	for _, name := range slices.Sorted(slices.Values(s.files)) {
		k := s.named[name]
		_, _ = fmt.Fprintf(static, "%q %x\n", name, k[:])
	}
	for _, path := range slices.Sorted(maps.Keys(s.linked)) {
		k := s.linked[path]
		_, _ = fmt.Fprintf(static, "library %q %x\n", path, k[:])
	}
	base := static.Sum(nil)
	keys := make([]Key, len(frames))
	h := sha256.New()
	var b []byte
	for i, frame := range frames {
		h.Reset()
		b = binary.LittleEndian.AppendUint64(append(b[:0], base...), uint64(int64(frame)))
		for j := range s.curves {
			if s.Whole != "" {
				break // their keys count in all frames
			}
			if b = s.curves[j].append(append(b, 0), float64(frame)-s.shutter, float64(frame)+s.shutter); len(b) > 1<<15 {
				h.Write(b)
				b = b[:0]
			}
		}
		h.Write(b)
		h.Sum(keys[i][:0])
	}
	return keys
}

// nameOf is the name of a data-block with its code, and its library if it is in one.
func (f *file) nameOf(owner int32) string {
	o := &f.owners[owner]
	name := cmp.Or(o.name, o.code)
	if lib := f.pointer(o.first, "id.lib"); lib != nowhere {
		return name + " of " + f.owners[f.blocks[lib].owner].name
	}
	if lib := f.pointer(o.first, "lib"); lib != nowhere {
		return name + " of " + f.owners[f.blocks[lib].owner].name
	}
	return name
}
