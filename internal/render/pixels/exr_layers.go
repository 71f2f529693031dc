package pixels

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"svc.example/internal/render/pixels/exr"
)

// Layer is a part of an OpenEXR picture, such as a pass of Blender's.
type Layer struct {
	Name     string   // such as "ViewLayer.Depth"; "" for channels that have none
	Channels []string // such as "R", "G", "B", "A", or "Z", in the order in which people name them
}

// Value is what a channel has at a pixel.
type Value struct {
	Channel string
	Value   float32
}

// Layers lists the layers of an OpenEXR picture, of which View shows the first where none is
// chosen. It reads the header alone. Errors: ErrUnsupported (also for all other formats, and for
// OpenEXR without a view), and those of a header that is damaged.
func Layers(r io.Reader) ([]Layer, error) {
	f, err := openView(r)
	if err != nil {
		return nil, err
	}
	var all []Layer
	for _, l := range layersOf(f) {
		all = append(all, l.Layer)
	}
	return all, nil
}

// ValuesAt reads what a layer of an OpenEXR picture has at a pixel, counted from the top left: as
// it is in the file, before any exposure and transform. Another name than those of Layers is the
// first one's. There is none outside the picture. It takes as much memory as View. Errors: those of
// Layers, ErrTooLarge, and those of a file that is damaged above the end of the pixel's chunk.
func ValuesAt(r io.Reader, layer string, x, y int) (values []Value, err error) {
	f, err := openView(r)
	if err != nil || x < 0 || y < 0 || x >= f.Width || y >= f.Height {
		return nil, err
	}
	if f.ViewMemory() > viewMost {
		return nil, fmt.Errorf("an OpenEXR chunk has %d bytes: %w", f.ChunkBytes(), ErrTooLarge)
	}
	l := layerNamed(f, layer)
	err = f.Row(y, func(row []byte) {
		for i, c := range l.of {
			values = append(values, Value{l.Channels[i], c.Of(row).At(x)})
		}
	})
	return values, err
}

// openView opens an OpenEXR picture that can be shown. Errors: ErrUnsupported, those of openEXR.
func openView(r io.Reader) (*exr.File, error) {
	in := bufio.NewReader(r) // the same, if r is one
	if head, err := in.Peek(len(exr.Magic)); err != nil || string(head) != exr.Magic {
		return nil, ErrUnsupported
	}
	f, err := openEXR(in)
	if err != nil {
		return nil, err
	}
	f.ShowDWA()
	return f, nil
}

// exrLayer is a layer with the channels in the file.
type exrLayer struct {
	Layer
	of []exr.Channel // as Channels
}

// channelOrder has the names of channels as people say them: colours, places, and those of
// cryptomattes.
const channelOrder = "RGBXYZWUVArgba"

// layersOf are those of the file: the one that a thumbnail shows, then the others by name.
func layersOf(f *exr.File) (all []exrLayer) {
	places := map[string]int{}
	for _, c := range f.Channels {
		name := strings.TrimSuffix(c.Layer(), ".")
		at, known := places[name]
		if !known {
			at, all = len(all), append(all, exrLayer{Layer: Layer{Name: name}})
			places[name] = at
		}
		all[at].of = append(all[at].of, c)
	}
	first := ""
	if rgb := newEXRDetector(f).rgb; rgb != nil {
		first = strings.TrimSuffix(rgb[0].Layer(), ".")
	}
	slices.SortStableFunc(all, func(a, b exrLayer) int {
		if (a.Name == first) != (b.Name == first) {
			return map[bool]int{true: -1, false: 1}[a.Name == first]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	for i := range all {
		l := &all[i]
		slices.SortStableFunc(l.of, func(a, b exr.Channel) int { return cmp.Compare(orderOf(a), orderOf(b)) })
		for _, c := range l.of {
			l.Channels = append(l.Channels, strings.TrimPrefix(c.Name, c.Layer()))
		}
	}
	return all
}

// orderOf is the place of a channel in its layer.
func orderOf(c exr.Channel) int {
	if at := strings.Index(channelOrder, strings.TrimPrefix(c.Name, c.Layer())); at >= 0 {
		return at
	}
	return len(channelOrder)
}

// layerNamed is the layer with a name; the first for any other.
func layerNamed(f *exr.File, name string) exrLayer {
	all := layersOf(f)
	return all[max(0, slices.IndexFunc(all, func(l exrLayer) bool { return l.Name == name }))]
}

// shown are the three channels that a screen shows as red, green and blue: the colours or the places
// of a layer; otherwise its first channel, or the chosen one, as grey.
func (l exrLayer) shown(channel string) []exr.Channel {
	one := slices.Index(l.Channels, channel)
	for _, names := range []string{"RGB", "rgb", "XYZ", "UVA"} {
		var three []exr.Channel
		for _, name := range names {
			if at := slices.Index(l.Channels, string(name)); at >= 0 {
				three = append(three, l.of[at])
			}
		}
		if len(three) == 3 && one < 0 {
			return three
		}
	}
	grey := l.of[max(0, one)]
	return []exr.Channel{grey, grey, grey}
}
