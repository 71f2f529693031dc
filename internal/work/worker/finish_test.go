package worker_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"svc.example/internal/render/pixels/pngrows"
)

// TestAPictureIsPackedAsItsSceneAsks: what Blender leaves unpacked is delivered packed, with
// the same pixels, and nothing of the packing is left.
func TestAPictureIsPackedAsItsSceneAsks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(3), newPainter()
		p.level = 9
		b := newBench(t, s, p)
		stop := b.run()
		b.untilDelivered(3)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.jobs[0].frames {
			plain, err := painted(f.number, 8)
			if err == nil {
				plain, err = unpacked(plain)
			}
			var packed bytes.Buffer
			if err == nil {
				err = pngrows.Compress(&packed, bytes.NewReader(plain), 9, 1)
			}
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(packed.Bytes())
			if f.done.SHA256 != hex.EncodeToString(sum[:]) || f.done.PixelSHA256 != pixelsOf(t, f.number) || f.done.SizeBytes != int64(packed.Len()) {
				t.Errorf("frame %d: %+v", f.number, f.done)
			}
		}
		left, err := os.ReadDir(b.config.WorkDir + "/outbox")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if strings.Contains(e.Name(), "packed") {
				t.Errorf("%s is left", e.Name())
			}
		}
	})
}

// TestADamagedPictureThatIsToBePackedFails as one that is not.
func TestADamagedPictureThatIsToBePackedFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(1), newPainter()
		p.level, p.cut = 5, true
		b := newBench(t, s, p)
		stop := b.run()
		b.until(func() bool { return len(s.fails) == 1 })
		if err := stop(); err != nil || s.fails[0].Code != "frame_check_failed" {
			t.Errorf("%v, %+v", err, s.fails)
		}
	})
}
