package receipt_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

// reencoded is a picture written again without loss, with other bytes: with a palette,
// which holds the same colours, and less compression.
func reencoded(t *testing.T, picture []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	other := image.NewPaletted(img.Bounds(), nil)
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := color.NRGBAModel.Convert(img.At(x, y))
			if !slices.Contains(other.Palette, c) {
				other.Palette = append(other.Palette, c)
			}
			other.SetColorIndex(x, y, uint8(slices.Index(other.Palette, c)))
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&out, other); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(out.Bytes(), picture) {
		t.Fatal("the picture has the same bytes")
	}
	return out.Bytes()
}

// changed is a picture with one other value in one pixel.
func changed(t *testing.T, picture []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	img.(*image.NRGBA).Pix[5] ^= 1
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestLooseFramesAreKnownByTheirPixels(t *testing.T) {
	t.Parallel()
	job, _, keys := complete(t, 3)
	envelope := sign(t, job.Receipt)
	p := job.Pictures
	file := func(data []byte) *fstest.MapFile { return &fstest.MapFile{Data: data} }
	for name, c := range map[string]struct {
		files  fstest.MapFS
		status receipt.Status
		words  string
	}{
		"as delivered":           {fstest.MapFS{"frame_0001.png": file(p[0]), "frame_0002.png": file(p[1]), "frame_0003.png": file(p[2])}, receipt.OK, "3 of 3 frames are here"},
		"re-encoded":             {fstest.MapFS{"frame_0001.png": file(reencoded(t, p[0])), "best.png": file(reencoded(t, p[2]))}, receipt.OK, "2 of 3 frames are here, 2 files by pixels alone"},
		"in folders, with notes": {fstest.MapFS{"a/b/one.png": file(p[1]), "a/notes.txt": file([]byte("a note"))}, receipt.OK, "1 of 3 frames is here; NOT compared: 1 file of another kind"},
		"one pixel changed":      {fstest.MapFS{"frame_0001.png": file(p[0]), "frame_0002.png": file(changed(t, p[1]))}, receipt.Failed, "frame_0002.png: it is none of the frames"},
		"swapped":                {fstest.MapFS{"frame_0001.png": file(p[1])}, receipt.Failed, "frame_0001.png: it is frame 2"},
		"swapped and re-encoded": {fstest.MapFS{"frame_0003.png": file(reencoded(t, p[0]))}, receipt.Failed, "frame_0003.png: it is frame 1"},
		"cut":                    {fstest.MapFS{"x.png": file(p[0][:len(p[0])-20])}, receipt.Failed, "x.png: "},
		"text under its name":    {fstest.MapFS{"frame_0001.png": file([]byte("no picture at all"))}, receipt.Failed, "frame_0001.png: "},
		"notes alone":            {fstest.MapFS{"notes.txt": file([]byte("a note"))}, receipt.Skipped, "no file in the folder is a picture"},
		"nothing":                {fstest.MapFS{}, receipt.Skipped, "no file in the folder is a picture"},
	} {
		report := receipt.Verify(envelope, keys, nil)
		report.InPictures(c.files)
		last := report.Checks[len(report.Checks)-1]
		if last.Name != "pictures" || last.Status != c.status || !strings.Contains(last.Text, c.words) {
			t.Errorf("%s: %+v", name, last)
		}
		if err := report.Err(); (c.status == receipt.Failed) != errors.Is(err, receipt.ErrBadArtifact) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What lies below outputs/ is compared by name, and other files are outputs by their bytes. The ZIP
// has nothing to add only where frames and outputs are all there.
func TestLooseOutputsAreThoseOfTheReceipt(t *testing.T) {
	t.Parallel()
	job, _, keys := complete(t, 2)
	p := job.Pictures
	job.AddOutput(0, "passes/a 1.exr", "one")
	job.AddOutput(1, "same.png", string(p[1])) // a node may write what the frame shows
	envelope := sign(t, job.Receipt)
	with := func(more map[string]string) fstest.MapFS {
		files := fstest.MapFS{"frame_0001.png": {Data: p[0]}, "frame_0002.png": {Data: p[1]}, "notes.txt": {Data: []byte("a note")}}
		for name, content := range more {
			files[name] = &fstest.MapFile{Data: []byte(content)}
		}
		return files
	}
	const all = "2 of 2 frames are here; 2 of 2 outputs are here"
	for name, c := range map[string]struct {
		files  fstest.MapFS
		status receipt.Status
		words  string
		whole  bool
	}{
		"all":                {with(map[string]string{"outputs/passes/a 1.exr": "one", "outputs/same.png": string(p[1])}), receipt.OK, all, true},
		"none":               {with(nil), receipt.OK, "2 of 2 frames are here; 0 of 2 outputs are here", false},
		"one":                {with(map[string]string{"outputs/same.png": string(p[1])}), receipt.OK, "1 of 2 outputs is here", false},
		"changed":            {with(map[string]string{"outputs/passes/a 1.exr": "onf"}), receipt.Failed, "outputs/passes/a 1.exr: it is not the output", false},
		"swapped":            {with(map[string]string{"outputs/same.png": "one"}), receipt.Failed, "outputs/same.png: it is not the output", false},
		"another frame":      {with(map[string]string{"outputs/same.png": string(p[0])}), receipt.Failed, "outputs/same.png: it is not the output", false},
		"a picture of none":  {with(map[string]string{"outputs/passes/new.png": string(changed(t, p[0]))}), receipt.Failed, "it is none of the frames", false},
		"without the frames": {fstest.MapFS{"x/outputs/passes/a 1.exr": {Data: []byte("one")}}, receipt.OK, "0 of 2 frames are here; 1 of 2 outputs is here", false},
		"elsewhere":          {with(map[string]string{"comp/a.exr": "one", "comp/outputs/outputs/same.png": string(p[1])}), receipt.OK, all, true},
	} {
		report := receipt.Verify(envelope, keys, nil)
		report.InPictures(c.files)
		last := report.Checks[len(report.Checks)-1]
		if last.Name != "pictures" || last.Status != c.status || !strings.Contains(last.Text, c.words) {
			t.Errorf("%s: %+v", name, last)
		}
		if whole := !slices.Contains(report.NotChecked(), "artifact"); whole != c.whole {
			t.Errorf("%s: the ZIP has nothing to add is %t, want %t", name, whole, c.whole)
		}
		if here := receipt.FramesIn(c.files, job.Receipt); here != nil {
			named := receipt.Verify(envelope, keys, nil)
			named.InPictures(here)
			if text := named.Checks[len(named.Checks)-1].Text; strings.Contains(text, "NOT compared") || c.whole && name == "all" && !strings.Contains(text, all) {
				t.Errorf("%s, by names: %s", name, text)
			}
		}
	}
}

// withFrameSet is a receipt of n frames with a tree over them.
func withFrameSet(t *testing.T, n int) (job receipttest.Job, envelope json.RawMessage, keys []signingkey.Public) {
	t.Helper()
	job, _, keys = complete(t, n)
	var err error
	if job.Receipt, err = receipt.WithFrameSet(job.Receipt, testKey(t, "a")); err != nil {
		t.Fatal(err)
	}
	return job, sign(t, job.Receipt), keys
}

func TestOneFrameIsShownWithoutTheOthers(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 9; n++ {
		job, envelope, keys := withFrameSet(t, n)
		report := receipt.Verify(envelope, keys, bytes.NewReader(job.ZIP))
		if err := report.Err(); err != nil {
			t.Fatalf("a receipt with a tree of %d frames: %v", n, err)
		}
		for i := range n {
			proof, err := receipt.ProveFrame(*report.Receipt, i+1)
			if err != nil {
				t.Fatal(err)
			}
			document, err := json.MarshalIndent(proof, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			for j, f := range job.Receipt.Frames {
				if j != i && (strings.Contains(string(document), f.PixelSHA256) || strings.Contains(string(document), f.SHA256)) {
					t.Errorf("the proof of frame %d of %d shows frame %d", i+1, n, j+1)
				}
			}
			for j, picture := range job.Pictures {
				found, shown := receipt.VerifyFrame(document, keys, nil, fstest.MapFS{"x.png": {Data: reencoded(t, picture)}})
				if (found.Err() == nil) != (i == j) || !reflect.DeepEqual(shown.Frame, job.Receipt.Frames[i]) {
					t.Errorf("frame %d of %d, with the picture of %d: %v", i+1, n, j+1, found.Checks)
				}
			}
		}
	}
}

func TestAChangedProofOfAFrameIsRefused(t *testing.T) {
	t.Parallel()
	job, envelope, keys := withFrameSet(t, 5)
	proof, err := receipt.ProveFrame(job.Receipt, 3)
	if err != nil {
		t.Fatal(err)
	}
	other, err := receipt.ProveFrame(job.Receipt, 4)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *receipt.FrameProof){
		"number":  func(p *receipt.FrameProof) { p.Frame.Frame = 4 },
		"pixels":  func(p *receipt.FrameProof) { p.Frame.PixelSHA256 = other.Frame.PixelSHA256 },
		"seconds": func(p *receipt.FrameProof) { p.Frame.RenderSeconds++ },
		"place":   func(p *receipt.FrameProof) { p.Index = 3 },
		"behind":  func(p *receipt.FrameProof) { p.Index = 5 },
		"path":    func(p *receipt.FrameProof) { p.Path = other.Path },
		"no path": func(p *receipt.FrameProof) { p.Path = nil },
		"frame":   func(p *receipt.FrameProof) { p.Frame = other.Frame },
		"receipt": func(p *receipt.FrameProof) { p.FrameSet = envelope },
	} {
		p := proof
		change(&p)
		document, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if report, _ := receipt.VerifyFrame(document, keys, nil, nil); !errors.Is(report.Err(), receipt.ErrBadSignature) {
			t.Errorf("changed %s: %v", name, report.Checks)
		}
	}
	document, err := json.Marshal(proof)
	if err != nil {
		t.Fatal(err)
	}
	if report, _ := receipt.VerifyFrame(document, []signingkey.Public{testKey(t, "b").Public()}, nil, nil); !errors.Is(report.Err(), receipt.ErrBadSignature) {
		t.Errorf("another key: %v", report.Checks)
	}
	for reason, good := range map[string]bool{"superseded": true, "compromised": false} {
		history := endedAt(t, 5, reason)
		if report, _ := receipt.VerifyFrame(document, history.Keys(), history, nil); (report.Err() == nil) != good {
			t.Errorf("a key that was %s: %v", reason, report.Checks)
		}
	}
}

func TestATreeOverOtherFramesMakesAReceiptBad(t *testing.T) {
	t.Parallel()
	job, _, keys := complete(t, 3)
	another, _, _ := withFrameSet(t, 4)
	for name, set := range map[string]json.RawMessage{"of another receipt": another.Receipt.FrameSet, "that is none": json.RawMessage(`{"root":1}`)} {
		r := job.Receipt
		r.FrameSet = set
		if report := receipt.Verify(sign(t, r), keys, nil); !errors.Is(report.Err(), receipt.ErrBadSignature) {
			t.Errorf("a tree %s: %v", name, report.Checks)
		}
	}
	// Receipts of earlier versions have none, and stay good.
	if report := receipt.Verify(sign(t, job.Receipt), keys, nil); report.Err() != nil {
		t.Error(report.Err())
	}
	if _, err := receipt.ProveFrame(job.Receipt, 1); !errors.Is(err, receipt.ErrNoFrameSet) {
		t.Errorf("a frame of a receipt without a tree: %v", err)
	}
}
