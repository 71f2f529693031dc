package receipt

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"svc.example/internal/ground/strictjson"
	"svc.example/internal/render/pixels"
)

const (
	maxManifest = 16 << 20 // bytes; 10000 frames need about 4 MiB
	maxNamed    = 5        // frames that a failed check names
)

// checkContents inspects the ZIP even when its hash is wrong, so that the report shows
// what was changed. It adds "contents", and only if that passes "frames", "pixels" and
// "manifest": with other entries than the receipt's there is nothing to compare.
func (r *Report) checkContents(receipt Receipt, artifact Artifact) {
	archive, err := zip.NewReader(artifact, artifact.Size())
	if err != nil {
		r.add("contents", Failed, "it cannot be read as a ZIP: %v", err)
		return
	}
	// zip.NewReader reads the directory at the end only. Data between the entries is
	// covered by the artifact's hash alone.
	entries, err := listEntries(receipt, archive.File)
	if err != nil {
		r.add("contents", Failed, "%v", err)
		return
	}
	held := counted(int64(receipt.FrameCount), "frame")
	if n := receipt.outputCount(); n > 0 {
		held += ", " + counted(int64(n), "output")
	}
	r.add("contents", OK, "%s, %s, %s and nothing else", held, ManifestEntry, RenderLogEntry)
	pictures := readPictures(receipt.Frames, entries)
	r.checkFrames(pictures)
	r.checkPixels(receipt.Frames, pictures)
	r.checkOutputs(receipt.Frames, entries)
	if err := compareManifest(receipt, entries[ManifestEntry], pictures); err != nil {
		r.add("manifest", Failed, "%v", err)
		return
	}
	r.add("manifest", OK, "%s agrees with the receipt", ManifestEntry)
}

// listEntries returns the ZIP's entries by name. It refuses a ZIP whose entries are not
// exactly those of the receipt. Entries must be stored, so that no small file unpacks
// to a large one and that the bytes read are the bytes hashed.
func listEntries(receipt Receipt, files []*zip.File) (map[string]*zip.File, error) {
	entries := map[string]*zip.File{ManifestEntry: nil, RenderLogEntry: nil}
	for _, frame := range receipt.Frames {
		entries[FrameEntry(frame.File)] = nil
		for _, output := range frame.Outputs {
			entries[OutputEntry(output.Name)] = nil
		}
	}
	for _, file := range files {
		known, wanted := entries[file.Name]
		switch {
		case !wanted:
			return nil, fmt.Errorf("it holds %q, which the receipt does not name", file.Name)
		case known != nil:
			return nil, fmt.Errorf("it holds %q twice", file.Name)
		case file.Method != zip.Store:
			return nil, fmt.Errorf("%q is compressed by method %d instead of stored", file.Name, file.Method)
		}
		entries[file.Name] = file
	}
	for name, file := range entries {
		if file == nil {
			return nil, fmt.Errorf("%q is missing", name)
		}
	}
	return entries, nil
}

// picture is a frame as found in the ZIP.
type picture struct {
	name       string
	wrong      error // its bytes differ from the receipt
	found      pixels.Picture
	unreadable error // Go cannot decode its bytes
}

// readPictures reads every frame once, with as many readers as processors: decoding
// takes longer than reading.
func readPictures(frames []Frame, entries map[string]*zip.File) []picture {
	pictures := make([]picture, len(frames))
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for i, frame := range frames {
		readers.Go(func() error {
			pictures[i] = readPicture(frame, entries[FrameEntry(frame.File)])
			return nil
		})
	}
	_ = readers.Wait() // the errors are in the pictures
	return pictures
}

// readPicture reads a frame once: the hash and the decoder see the same bytes. The
// bytes after the picture's end are hashed too, so nothing hides there. The size in
// the directory is compared first, so that a false one costs no reading.
func readPicture(frame Frame, entry *zip.File) picture {
	p := picture{name: entry.Name}
	if size := int64(entry.UncompressedSize64); size != frame.SizeBytes {
		p.wrong = fmt.Errorf("it has %d bytes, not %d", size, frame.SizeBytes)
		return p
	}
	raw, err := entry.OpenRaw()
	if err != nil {
		p.wrong = err
		return p
	}
	hash := sha256.New()
	hashed := io.TeeReader(raw, hash)
	p.found, p.unreadable = pixels.Read(hashed)
	if _, err := io.Copy(io.Discard, hashed); err != nil {
		p.wrong = err
	} else if sum := hex.EncodeToString(hash.Sum(nil)); sum != frame.SHA256 {
		p.wrong = errors.New("its SHA-256 is " + sum)
	}
	return p
}

// checkFrames reports the frames whose bytes differ from the receipt. It names at most
// maxNamed of them, so that the report stays readable.
func (r *Report) checkFrames(pictures []picture) {
	var wrong []string
	for _, p := range pictures {
		if p.wrong != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", p.name, p.wrong))
		}
	}
	if len(wrong) > 0 {
		r.add("frames", Failed, "%d of %d differ from the receipt: %s", len(wrong), len(pictures), someOf(wrong))
		return
	}
	r.add("frames", OK, "%d of %d have the receipt's size and SHA-256", len(pictures), len(pictures))
}

// checkPixels compares the pictures whose pixel hash does not depend on Blender. It
// counts the others as not checked instead of passing them.
func (r *Report) checkPixels(frames []Frame, pictures []picture) {
	var wrong []string
	same, foreign := 0, 0
	for i, p := range pictures {
		switch {
		case p.wrong != nil:
			continue // checkFrames reports it
		case errors.Is(p.unreadable, pixels.ErrUnsupported):
			foreign++
		case p.unreadable != nil:
			wrong = append(wrong, fmt.Sprintf("%s: %v", p.name, p.unreadable))
		case p.found.Has(frames[i].PixelSHA256):
			same++
		case p.found.Comparable:
			wrong = append(wrong, p.name)
		default:
			foreign++
		}
	}
	switch {
	case len(wrong) > 0:
		r.add("pixels", Failed, "%d of %d differ from the receipt: %s", len(wrong), len(pictures), someOf(wrong))
	case same == 0:
		r.add("pixels", Skipped, "no frame could be compared: %d are in a format that only Blender decodes", foreign)
	case foreign > 0:
		r.add("pixels", OK, "%d of %d decode to the receipt's pixel hash; %d are in a format that only Blender decodes", same, len(pictures), foreign)
	default:
		r.add("pixels", OK, "%d of %d decode to the receipt's pixel hash", same, len(pictures))
	}
}

// someOf joins the first maxNamed findings; "…" marks that there are more.
func someOf(names []string) string {
	if len(names) > maxNamed {
		return strings.Join(names[:maxNamed], "; ") + "; …"
	}
	return strings.Join(names, "; ")
}

// compareManifest compares the manifest with the receipt, and its picture sizes with
// the decoded pictures. The manifest is unsigned: agreement only means that a reader
// with only the ZIP reads the same facts.
func compareManifest(receipt Receipt, entry *zip.File, pictures []picture) error {
	raw, err := entry.OpenRaw()
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", ManifestEntry, err)
	}
	text, err := io.ReadAll(io.LimitReader(raw, maxManifest))
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", ManifestEntry, err)
	}
	var found Manifest
	if err := strictjson.Decode(text, &found); err != nil {
		return fmt.Errorf("%s does not have the expected form: %w", ManifestEntry, err)
	}
	want := manifestOf(receipt)
	if len(found.Frames) != len(want.Frames) {
		return fmt.Errorf("%s lists %d frames, the receipt %d", ManifestEntry, len(found.Frames), len(want.Frames))
	}
	for i, p := range pictures {
		// The receipt has no sizes. For a picture that Go cannot decode the manifest's
		// size is used.
		want.Frames[i].Width, want.Frames[i].Height = found.Frames[i].Width, found.Frames[i].Height
		if p.found.Width > 0 { // otherwise only the manifest knows the size
			want.Frames[i].Width, want.Frames[i].Height = p.found.Width, p.found.Height
		}
		if !reflect.DeepEqual(found.Frames[i], want.Frames[i]) {
			return fmt.Errorf("%s disagrees with the receipt or the picture about frame %d", ManifestEntry, want.Frames[i].Frame)
		}
	}
	if !reflect.DeepEqual(found, want) {
		return fmt.Errorf("%s disagrees with the receipt about the job", ManifestEntry)
	}
	return nil
}

// manifestOf returns the manifest that fits a receipt, without the sizes in pixels: the
// receipt does not contain them.
func manifestOf(r Receipt) Manifest {
	m := Manifest{JobID: r.JobID, FrameStart: r.FrameStart, FrameEnd: r.FrameEnd, FrameStep: r.FrameStep,
		FrameCount: r.FrameCount, FrameList: r.FrameList, Frames: make([]ManifestFrame, len(r.Frames)), Renderer: r.Renderer, Input: r.Input.File}
	for i, f := range r.Frames {
		m.Frames[i] = ManifestFrame{Frame: f.Frame, File: f.File, SHA256: f.SHA256, PixelSHA256: f.PixelSHA256,
			SizeBytes: f.SizeBytes, RenderSeconds: f.RenderSeconds, Outputs: f.Outputs}
	}
	return m
}
