package intake_test

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/quote"
)

// withPackedLibrary is a scene with a library packed in it, which needs an image of its own.
func withPackedLibrary(t *testing.T) []byte {
	t.Helper()
	file, err := os.ReadFile("../../render/scenefiles/testdata/packed/scene.blend")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWhatAPackedLibraryLacksIsToldBeforeThePrice(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h, disk := bounded(t, url, 0)
		file := withPackedLibrary(t)
		want := []quote.MissingFile{{Kind: "image", Path: "//t.png", Owner: "t", UsedBy: "material t", From: "src/m.blend"}}
		// Sent, sent again, and named as content that the workspace has.
		for _, sum := range []string{"", "", sumOf(file)} {
			i, err := h.receiveAs(intake.File{Name: "scene.blend", Body: bytes.NewReader(file), SHA256: sum}, nil)
			if err != nil || !slices.Equal(i.Scene.MissingFiles, want) || !h.hasFile(i) {
				t.Errorf("%v: missing %+v, want %+v", err, i.Scene.MissingFiles, want)
			}
			if !slices.ContainsFunc(i.Quote.Warnings, func(w quote.Warning) bool { return w.Code == quote.WarnMissingFiles }) {
				t.Errorf("no warning of missing files in %+v", i.Quote.Warnings)
			}
			if disk.now != int64(len(file)) {
				t.Errorf("%d bytes are on disk, want %d", disk.now, len(file))
			}
		}
	})
}

// Its blob is committed before the price, to be read.
func TestAFileWithPackedLibrariesThatIsNotQuotedLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h, disk := bounded(t, url, 0)
		file := withPackedLibrary(t)
		received, err := h.Receive(t.Context(), workspace, intake.File{Name: "scene.blend", Body: bytes.NewReader(file)})
		if err != nil {
			t.Fatal(err)
		}
		received.Abort()
		received.Abort()
		if received, err = h.Receive(t.Context(), workspace, intake.File{Name: "scene.blend", Body: bytes.NewReader(file)}); err != nil {
			t.Fatal(err)
		}
		backwards := quote.RequestedFrames{Start: new(5), End: new(2)}
		if _, err := received.Quote(t.Context(), backwards, nil); !fault.Is(err, fault.InvalidFrameRange) {
			t.Errorf("a range that ends before it begins: %v", err)
		}
		if blobs := h.blobs(); len(blobs) > 0 || disk.now != 0 {
			t.Errorf("%v are left, %d bytes", blobs, disk.now)
		}
	})
}

// The bytes are judged by their own hash, whatever hash the sender names: the caller refuses
// them.
func TestOtherBytesThanTheNamedOnesAreNotLookedFor(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h, disk := bounded(t, url, 0)
		if _, err := h.receive(); err != nil {
			t.Fatal(err)
		}
		before := disk.now
		file := withPackedLibrary(t)
		received, err := h.Receive(t.Context(), workspace, intake.File{Name: "scene.blend", Body: bytes.NewReader(file), SHA256: sumOf(scene(t))})
		if err != nil || received.SHA256() != sumOf(file) {
			t.Fatalf("%v", err)
		}
		received.Abort()
		if disk.now != before {
			t.Errorf("%d bytes are on disk, %d before", disk.now, before)
		}
	})
}
