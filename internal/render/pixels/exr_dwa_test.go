package pixels_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/pixels"
)

// A picture that Blender wrote in DWA is shown as the one that it wrote without compression, but for
// what DWA loses. Its alpha loses nothing.
func TestDWAIsShownAsThePictureThatItWas(t *testing.T) {
	t.Parallel()
	files, _ := blenders(t)
	for _, kind := range []string{"open_exr_rgb_16_", "open_exr_rgba_32_"} {
		plain := files[kind+"none.exr"]
		for _, name := range []string{kind + "dwaa.exr", kind + "dwab.exr"} {
			for _, channel := range []string{"", "R", "G", "B"} {
				look := pixels.Look{Channel: channel, Transform: pixels.Raw}
				want, err := pixels.View(bytes.NewReader(plain), look)
				if err != nil {
					t.Fatal(err)
				}
				got, err := pixels.View(bytes.NewReader(files[name]), look)
				if err != nil || got.Rect != want.Rect {
					t.Fatalf("%s: %v, %v", name, got.Rect, err)
				}
				most, sum := 0, 0
				for i, luma := range want.Y {
					off := max(int(luma), int(got.Y[i])) - min(int(luma), int(got.Y[i]))
					most, sum = max(most, off), sum+off
				}
				if mean := float64(sum) / float64(len(want.Y)); most > 4 || mean > 1 {
					t.Errorf("%s, channel %q: off by %d at most and by %.2f in the mean", name, channel, most, mean)
				}
			}
			for _, at := range [][2]int{{0, 0}, {32, 0}, {7, 31}, {8, 32}, {32, 34}} {
				alpha := func(file []byte) (values []pixels.Value) {
					values, err := pixels.ValuesAt(bytes.NewReader(file), "", at[0], at[1])
					if err != nil {
						t.Fatal(err)
					}
					return slices.DeleteFunc(values, func(v pixels.Value) bool { return v.Channel != "A" })
				}
				if got, want := alpha(files[name]), alpha(plain); !slices.Equal(got, want) {
					t.Errorf("%s: the alpha at %v is %v, want %v", name, at, got, want)
				}
			}
			if small, err := pixels.Thumbnail(bytes.NewReader(files[name]), 16); err != nil || small.Rect.Dy() != 16 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A picture in DWA that is damaged anywhere has a thumbnail or an error.
func TestDamageOfDWAIsAnErrorAtMost(t *testing.T) {
	t.Parallel()
	files, _ := blenders(t)
	for name, file := range files {
		if !strings.Contains(name, "dwa") {
			continue
		}
		for at := 0; at < len(file); at += 5 {
			damaged := bytes.Clone(file)
			damaged[at] ^= 0x81
			small, err := pixels.Thumbnail(bytes.NewReader(damaged), 16)
			if (err == nil && small.Rect.Empty()) || (errors.Is(err, pixels.ErrTooLarge) && at > 400) {
				t.Fatalf("%s damaged at %d: %v", name, at, err)
			}
		}
	}
}
