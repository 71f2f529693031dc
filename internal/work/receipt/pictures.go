package receipt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc.example/internal/render/pixels"
)

// InPictures adds the check "pictures": whether loose files in a folder, and in those below
// it, are frames of the receipt. A file is a frame when it has its bytes, or when it decodes
// to its pixels: a PNG that was re-encoded without loss still is. One that has the name of a
// frame must be that frame. The folder may hold any of the frames; where it has all of them, the
// missing ZIP is no longer a check that was not made. Files that are no pictures
// are counted and not judged. Outputs of the receipt are known by their bytes, and one with the name
// of an output, below outputs/, must be it. dir nil skips nothing: then the check is not there. Call it
// after a [Verify] with a receipt.
func (r *Report) InPictures(dir fs.FS) {
	if dir == nil {
		return
	}
	found := loose{named: map[string]Frame{}, files: map[string]bool{}, shown: map[string][]int{}, here: map[int]bool{}, outputs: outputsOf(*r.Receipt)}
	for _, f := range r.Receipt.Frames {
		found.named[stem(f.File)] = f
		found.files[f.SHA256] = true
		found.shown[f.PixelSHA256] = append(found.shown[f.PixelSHA256], f.Frame)
		found.shown[f.SHA256] = append(found.shown[f.SHA256], f.Frame)
	}
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return found.look(dir, name)
	})
	switch {
	case err != nil:
		r.add("pictures", Failed, "the folder cannot be read: %v", err)
	case len(found.wrong) > 0:
		r.add("pictures", Failed, "%d of %d are not as in the receipt: %s", len(found.wrong), found.judged, someOf(found.wrong))
	case found.judged == 0 && len(found.outputs.here) == 0:
		r.add("pictures", Skipped, "no file in the folder is a picture that can be compared; %d cannot", found.other)
	default:
		text := hereOf(len(found.here), len(r.Receipt.Frames), "frame")
		if alone := found.judged - found.bytes; alone > 0 {
			text += fmt.Sprintf(", %s by pixels alone", counted(int64(alone), "file"))
		}
		outputs := r.Receipt.outputCount()
		if outputs > 0 {
			text += "; " + hereOf(len(found.outputs.here), outputs, "output")
		}
		if found.other > 0 {
			text += fmt.Sprintf("; NOT compared: %s of another kind", counted(int64(found.other), "file"))
		}
		r.add("pictures", OK, "%s", text)
		if len(found.here) == len(r.Receipt.Frames) && len(found.outputs.here) == outputs { // then the ZIP has nothing to add
			r.Checks = slices.DeleteFunc(r.Checks, func(c Check) bool { return c.Name == "artifact" && c.Status == Skipped })
		}
	}
}

// hereOf says how many of a receipt's things a folder has.
func hereOf(here, total int, what string) string {
	are := "are"
	if here == 1 {
		are = "is"
	}
	return fmt.Sprintf("%d of %s %s here", here, counted(int64(total), what), are)
}

// FramesIn is a folder as far as files there have names of frames of the receipt, or of their
// outputs; nil where none has the name of a frame.
func FramesIn(dir fs.FS, r Receipt) fs.FS {
	var here []fs.DirEntry
	for _, frame := range r.Frames {
		if info, err := fs.Stat(dir, frame.File); err == nil {
			here = append(here, fs.FileInfoToDirEntry(info))
		}
	}
	for _, frame := range r.Frames {
		for _, o := range frame.Outputs {
			if info, err := fs.Stat(dir, OutputEntry(o.Name)); err == nil && len(here) > 0 {
				here = append(here, deepEntry{fs.FileInfoToDirEntry(info), OutputEntry(o.Name)})
			}
		}
	}
	if len(here) == 0 {
		return nil
	}
	return onlyFrames{dir, here}
}

// onlyFrames is a folder of which only some files are listed.
type onlyFrames struct {
	fs.FS
	listed []fs.DirEntry
}

// ReadDir implements fs.ReadDirFS.
func (f onlyFrames) ReadDir(string) ([]fs.DirEntry, error) { return f.listed, nil }

// deepEntry is a file of a folder below, with its path.
type deepEntry struct {
	fs.DirEntry
	path string
}

// Name implements fs.DirEntry.
func (e deepEntry) Name() string { return e.path }

// loose is the state of a look at loose files.
type loose struct {
	named  map[string]Frame // by the name without its extension
	files  map[string]bool  // SHA-256 of the files
	shown  map[string][]int // frames by the SHA-256 of their pixels, and of their files
	here   map[int]bool
	judged int
	bytes  int // of these, those with the very bytes
	other  int
	wrong  []string

	outputs looseOutputs
}

func stem(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

// look judges one file.
func (l *loose) look(dir fs.FS, name string) error {
	file, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		l.other++
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	hash := hex.EncodeToString(sum.Sum(nil))
	if is, why := l.outputs.look(name, hash, l.files[hash]); is {
		if why != "" {
			l.judged++
			l.wrong = append(l.wrong, name+": "+why)
		}
		return nil
	}
	same := l.files[hash]
	var picture pixels.Picture
	var unreadable error
	if !same { // only then do its pixels matter
		again, err := dir.Open(name)
		if err != nil {
			return err
		}
		picture, unreadable = pixels.Read(again)
		_ = again.Close() // it was only read
	}
	claimed, claims := l.named[stem(path.Base(name))]
	switch {
	case same:
		l.bytes++
	case (errors.Is(unreadable, pixels.ErrUnsupported) || (unreadable == nil && !picture.Comparable)) && !claims:
		l.other++
		return nil
	case unreadable != nil:
		l.judged++
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %v", name, unreadable))
		return nil
	case len(l.shown[picture.FloatSHA256]) > 0:
		hash = picture.FloatSHA256
	case picture.SHA256 != "":
		hash = picture.SHA256
	}
	l.judged++
	frames := l.shown[hash]
	switch {
	case len(frames) == 0:
		l.wrong = append(l.wrong, name+": it is none of the frames")
	case claims && claimed.PixelSHA256 != hash && claimed.SHA256 != hash:
		l.wrong = append(l.wrong, fmt.Sprintf("%s: it is frame %d", name, frames[0]))
	}
	for _, frame := range frames {
		l.here[frame] = true
	}
	return nil
}
