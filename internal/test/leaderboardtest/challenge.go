package leaderboardtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
)

// Picture paints noise of the size of a scene's pictures, as PNG. Equal seeds give equal
// pictures; those of two seeds differ by far more than any tolerance.
func Picture(seed uint64) []byte {
	noise := rand.New(rand.NewPCG(seed, 1))
	img := image.NewNRGBA(image.Rect(0, 0, 480, 270))
	for i := range img.Pix {
		img.Pix[i] = byte(noise.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&file, img); err != nil {
		panic(fmt.Sprint("a picture in memory: ", err))
	}
	return file.Bytes()
}

// Register adds a worker of a machine that says it renders with Blender.
func (f *Fleet) Register(ctx context.Context, m Machine, device, name string) (workerID string, err error) {
	workerID = id.New(id.Node)
	return workerID, f.Board.DB.Write(ctx, func(tx *db.Tx) error {
		return dispatch.AddWorker(ctx, tx, dispatch.Worker{
			WorkerID: workerID, KeyID: m.Node, Name: "fleet", BlenderVersion: contract.BlenderVersion, Device: device, DeviceName: name, Renderer: contract.RendererID,
		})
	})
}

// Challenged makes of a receipt one that was rendered, says so, and answers a challenge that
// is drawn for it with a picture.
func (f *Fleet) Challenged(ctx context.Context, m Machine, r benchmark.Receipt, picture []byte) (s leaderboard.Submission, err error) {
	s = leaderboard.Submission{
		NodeKeyID: m.Node, Frame: picture,
		Worker: benchmark.Worker{Device: r.RenderDevice, DeviceName: r.DeviceName(), BlenderVersion: r.BlenderVersion},
	}
	if s.WorkerID, err = f.Register(ctx, m, r.RenderDevice, r.DeviceName()); err != nil {
		return s, err
	}
	drawn, err := f.Board.Draw(ctx, m.Node, s.WorkerID, "")
	if err != nil {
		return s, err
	}
	r.Synthetic, r.Challenge = false, Answer(drawn.Challenge, picture)
	return s, f.Seal(&s, r, m)
}

// Answer names a picture as the answer to a challenge.
func Answer(c benchmark.Challenge, picture []byte) *benchmark.Answer {
	sum := sha256.Sum256(picture)
	a := benchmark.Answer{Challenge: c, FrameSHA256: hex.EncodeToString(sum[:])}
	if img, err := png.Decode(bytes.NewReader(picture)); err == nil {
		a.PixelSHA256 = pixels.Of(img).SHA256
	} else {
		a.PixelSHA256 = a.FrameSHA256 // it is no picture, which is for the board to see
	}
	return &a
}
