// Package reuse finds frames that an earlier job of the same workspace has rendered, so that
// nobody renders or pays for them again (decisions 29).
//
// What always holds: a frame is found only if everything that its picture comes from is the
// same: the content of the scene, the settings of the order, and the class of the worker.
// Nothing is found in another workspace, nor in a job whose files may be gone before the
// quote ends. In doubt nothing is found, and the frame is rendered. A class of workers of which
// a reused frame was rendered again and showed something else has none until an operator resets
// it (package recheck).
//
// Package source reads what pictures come from. The price is quote's, and frames takes them
// over. Start reading at Pictures, Find and Keep.
package reuse

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// generation is part of every key. Raise it when a new version of svc renders frames in
// another way than the version before: then none of the older ones is found.
const generation = "1"

// Pictures says what the pictures of an order's frames come from.
type Pictures struct {
	frames   map[int][sha256.Size]byte
	order    string
	earlier  *Earlier
	denoised bool // the scene is, where workers do that
}

// PicturesOf are the pictures of frames that come from content, by frame. order is what else
// of the order counts.
func PicturesOf(content map[int][sha256.Size]byte, order string) Pictures {
	return Pictures{frames: content, order: generation + "\n" + order}
}

// With adds what differs from an earlier job; nil for none.
func (p Pictures) With(e *Earlier) Pictures {
	p.earlier = e
	return p
}

// Never are the same pictures, of which Find finds none; why says that to people.
func (p Pictures) Never(why string) Pictures {
	p.frames = nil
	if p.earlier != nil {
		p.earlier = &Earlier{Changes: p.earlier.Changes, Unchanged: p.earlier.Unchanged, unusable: why}
	}
	return p
}

// Denoised are the same pictures of a scene that is denoised, where workers do that.
func (p Pictures) Denoised() Pictures {
	p.denoised = true
	return p
}

// Settings that workers change (blender.Opened). Each worker of a class changes those in alike in the
// same way, because the file, the order or its Blender asks for it; denoiseOff also depends on how the worker
// was started, which Find knows.
const (
	denoiseOff = "denoise_off"
	undenoised = "off" // the setting of a worker that changes it
)

var alike = []string{
	denoiseOff, "color_conversions_off", "movie_output_as_png", "output_colors_off", "persistent_data_off",
	"special_files_dropped", "stamp_names_off", "style_modules_off",
}

// Repeatable reports whether a frame, whose worker changed some settings, is what a worker of
// its class renders now.
func Repeatable(switched string) bool {
	for name := range strings.SplitSeq(switched, ",") {
		if name != "" && !slices.Contains(alike, name) {
			return false
		}
	}
	return true
}

// Class is what renders a frame: workers of one class paint the same pixels.
type Class struct {
	Renderer       string `json:"renderer"`
	Device         string `json:"device"`
	DeviceName     string `json:"device_name"`
	BlenderVersion string `json:"blender_version"`
	BuildHash      string `json:"build_hash"`
}

// keySize is how many bytes of a key are kept. A workspace that made two equal ones would
// harm only itself.
const keySize = 16

// key is the key of a frame by a class of workers; "" for a frame that was not read, or that is
// never found. noisy reports that its worker switched denoising off.
func (p Pictures) key(frame int, by Class, noisy bool) string {
	content, ok := p.frames[frame]
	if !ok {
		return ""
	}
	text := fmt.Appendf(nil, "%x\n%s\n%q", content[:], p.order, by)
	if noisy {
		text = fmt.Appendf(text, "\n%s", denoiseOff)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:keySize])
}
