package preview_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/preview"
)

func TestAPictureThatIsNoneFailsItsAttempt(t *testing.T) {
	good := func(t *testing.T) []byte { return painted(t, 32, 24, nil) }
	for name, spoil := range map[string]func(t *testing.T, p *preview.Picture){
		"other bytes":          func(_ *testing.T, p *preview.Picture) { p.Content = append(bytes.Clone(p.Content), 0) },
		"a cut file":           func(t *testing.T, p *preview.Picture) { content(p, good(t)[:len(good(t))/2]) },
		"no picture":           func(_ *testing.T, p *preview.Picture) { content(p, []byte("picture")) },
		"too large":            func(t *testing.T, p *preview.Picture) { content(p, painted(t, 641, 1, nil)) },
		"a JPEG":               func(t *testing.T, p *preview.Picture) { content(p, jpegOf(t, good(t))) },
		"another size":         func(_ *testing.T, p *preview.Picture) { p.Width++ },
		"other pixels":         func(_ *testing.T, p *preview.Picture) { p.PixelSHA256 = strings.Repeat("1", 64) },
		"another device":       func(_ *testing.T, p *preview.Picture) { p.Registered = "CPU" },
		"no samples":           func(_ *testing.T, p *preview.Picture) { p.Full.LeastSamples = 0 },
		"a frame of no pixels": func(_ *testing.T, p *preview.Picture) { p.Full.Width = 0 },
		"samples before it":    func(_ *testing.T, p *preview.Picture) { p.Full.Sampling = time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w world) {
				workspace := w.Workspace(t)
				upload := w.NewUpload(t, workspace, 1)
				w.ordered(workspace, upload, 0)
				for range 2 {
					sent := delivery(t, w.claim(w.Worker(t)), good(t))
					spoil(t, &sent)
					if err := w.Accept(t.Context(), sent); !fault.Is(err, fault.FrameRejected) {
						t.Fatalf("the picture is taken: %v", err)
					}
					w.Advance(2 * time.Second) // the pause before the next attempt
				}
				if v := w.find(workspace, upload); v.Status != preview.Failed || v.Failure.Code != fault.FrameCheckFailed || v.Failure.SuggestedAction == "" {
					t.Errorf("after two of them: %+v, %+v", v, v.Failure)
				}
			})
		})
	}
}

// content replaces a picture's bytes, and says so.
func content(p *preview.Picture, bytes []byte) {
	sum := sha256.Sum256(bytes)
	p.Content, p.SHA256 = bytes, hex.EncodeToString(sum[:])
}

func jpegOf(t *testing.T, content []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWhatThePictureShowsIsSaid(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		for code, one := range map[string]color.Color{
			framecheck.FindingBlack:   color.NRGBA{1, 0, 2, 255},
			framecheck.FindingUniform: color.NRGBA{40, 50, 60, 255}, framecheck.FindingPink: color.NRGBA{255, 0, 255, 255},
		} {
			workspace := w.Workspace(t)
			upload := w.NewUpload(t, workspace, 1)
			w.ordered(workspace, upload, 0)
			if err := w.Accept(t.Context(), delivery(t, w.claim(w.Worker(t)), painted(t, 16, 16, one))); err != nil {
				t.Fatal(err)
			}
			v := w.find(workspace, upload)
			if len(v.Findings) != 1 || string(v.Findings[0].Code) != code || v.Findings[0].Message == "" || v.Findings[0].SuggestedAction == "" {
				t.Errorf("%s: the findings are %+v", code, v.Findings)
			}
		}
	})
}
