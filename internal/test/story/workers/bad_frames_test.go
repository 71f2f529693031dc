package workers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/pixelstest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// defect spoils a rendered frame, as a broken worker does.
type defect func(f *blender.Frame) error

// defects are all kinds of bad frames.
func defects() map[string]defect {
	repaint := func(colour func(x, y int) byte, colours color.Palette) defect {
		return func(f *blender.Frame) error {
			picture, err := synthetic.Draw(image.Pt(story.PictureWidth, story.PictureHeight), colour, colours)
			if err != nil {
				return err
			}
			return os.WriteFile(f.Path, picture, 0o600)
		}
	}
	black, pink := color.NRGBA{A: 255}, color.NRGBA{R: 255, B: 255, A: 255}
	checks := color.Palette{black, pink, color.NRGBA{R: 90, G: 120, B: 30, A: 255}}
	return map[string]defect{
		"black": repaint(func(int, int) byte { return 0 }, checks),
		"half": repaint(func(x, y int) byte {
			if y < story.PictureHeight/2 {
				return byte(x%2) * 2
			}
			return 0
		}, checks),
		"pink": repaint(func(x, y int) byte {
			if y%3 == 0 && x > 9 {
				return 1
			}
			return byte(x%2) * 2
		}, checks),
		"cut":        func(f *blender.Frame) error { return os.Truncate(f.Path, 700) },
		"no picture": func(f *blender.Frame) error { return os.Truncate(f.Path, 0) },
		"wrong size": func(f *blender.Frame) error { f.Width, f.Height = f.Width/2, f.Height/2; return nil },
		"CPU":        func(f *blender.Frame) error { f.Device = "CPU"; return nil },
		"no numbers": func(f *blender.Frame) error {
			f.Path = strings.TrimSuffix(f.Path, ".png") + ".exr"
			return os.WriteFile(f.Path, notANumber(f.Width, f.Height), 0o600)
		},
		"out of GPU memory": func(f *blender.Frame) error {
			f.Log += "\nCUDA error: Out of memory in cuMemAlloc(&device_pointer, size)"
			return nil
		},
	}
}

// notANumber is an uncompressed OpenEXR picture that holds one NaN.
func notANumber(width, height int) []byte {
	var out bytes.Buffer
	le := binary.LittleEndian
	out.Write(pixelstest.EXRHeader(width, height, "G", pixelstest.Float, 0))
	out.Write(make([]byte, 8*height))
	for y := range height {
		out.Write(le.AppendUint32(le.AppendUint32(nil, uint32(y)), uint32(4*width)))
		row := make([]byte, 4*width)
		for x := range width {
			le.PutUint32(row[4*x:], math.Float32bits(float32(x)))
		}
		if y == height/2 {
			le.PutUint32(row, math.Float32bits(float32(math.NaN())))
		}
		out.Write(row)
	}
	return out.Bytes()
}

// defectiveRenderer is a painter that spoils frames: those that chosen picks.
type defectiveRenderer struct {
	story.Painter
	defect defect
	chosen func(frame int) bool
}

func (p *defectiveRenderer) Start(ctx context.Context, options blender.Options) (worker.Session, error) {
	s, err := p.Painter.Start(ctx, options)
	return &defectiveSession{s, p}, err
}

type defectiveSession struct {
	worker.Session
	*defectiveRenderer
}

func (e *defectiveSession) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return e.spoil(e.Session.Render(ctx, frame, progress))
}

func (e *defectiveSession) RenderFresh(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return e.spoil(e.Session.RenderFresh(ctx, frame, progress))
}

func (e *defectiveSession) spoil(f blender.Frame, err error) (blender.Frame, error) {
	if err != nil || !e.chosen(f.Number) {
		return f, err
	}
	return f, e.defect(&f)
}

func TestBadFramesAreCaughtAndRenderedAgainByAGoodWorker(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		for name, defect := range defects() {
			t.Run(name, func(t *testing.T) {
				svc := svc.With(t)
				c := svc.Caller(story.Credit)
				// The good worker is there, but holds back until the other has spoilt its
				// first frame.
				g := story.BarrierAt(1)
				good := &story.Painter{Before: g.Pass}
				var once sync.Once
				bad := &defectiveRenderer{defect: defect, chosen: func(int) (first bool) {
					once.Do(func() { first = true })
					if first {
						g.Open()
					}
					return first
				}}
				svc.Worker(good)
				job := c.StartFrames(5)
				if _, err := g.Await(story.Patient(t)); err != nil {
					t.Fatal(err)
				}
				svc.Worker(bad)
				c.Fetch(c.Await(job.JobID, client.StatusCompleted), 5) // every picture is a painter's
				if failed := svc.FailedTries(job.JobID); failed != 1 {
					t.Errorf("the log shows %d failed attempts, want the bad one", failed)
				}
				svc.SettledOnce(c, 5)
			})
		}
	})
}

func TestWithABadWorkerOnlyTheJobFailsAndCostsNothing(t *testing.T) {
	codes := map[string]string{
		"cut": "frame_check_failed", "no picture": "frame_check_failed", "wrong size": "frame_check_failed",
		"no numbers": "frame_check_failed", "CPU": "gpu_unavailable", "out of GPU memory": "out_of_memory",
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		key := svc.NodeKey() // one for all, so that no job waits for the key of an earlier worker
		for name, code := range codes {
			t.Run(name, func(t *testing.T) {
				svc := svc.With(t)
				c := svc.Caller(story.Credit)
				bad := &defectiveRenderer{defect: defects()[name], chosen: func(frame int) bool { return frame == 2 }}
				svc.Worker(bad, svc.WithKey(key, name))
				job := c.Await(c.StartFrames(3).JobID, client.StatusFailed)
				if job.Failure == nil || job.Failure.Code != code {
					t.Errorf("the job failed with %+v, want %s", job.Failure, code)
				}
				svc.WantMoney(c.Workspace, story.Credit, wallet.Credited, wallet.Reserved, wallet.Released)
			})
		}
	})
}

// A black or a pink picture may be what the scene shows. If no other worker can
// confirm, it is delivered, and the finding appears wherever frames are listed.
func TestAFrameThatNobodyElseCanJudgeIsDeliveredAndReported(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		for _, finding := range []string{framecheck.FindingBlack, framecheck.FindingPink} {
			t.Run(finding, func(t *testing.T) { wantFoundAndDelivered(t, story.Start(t, config), finding) })
		}
	})
}

func wantFoundAndDelivered(t *testing.T, svc *story.Service, finding string) {
	c := svc.Caller(story.Credit)
	p := &defectiveRenderer{defect: defects()[finding], chosen: func(frame int) bool { return frame == 2 }}
	svc.Worker(p)
	job := c.Await(c.StartFrames(3).JobID, client.StatusCompleted)
	receipt, err := c.Receipt(story.Patient(t), job.JobID)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{
		"the receipt": string(receipt.Members), "the log": c.Texts(job.JobID)["render-log.txt"], "the list of frames": svc.Frames(job.JobID)[1].Finding,
	} {
		if !strings.Contains(text, finding) {
			t.Errorf("%s does not say that a frame is %s:\n%s", where, finding, text)
		}
	}
	if got := len(p.Frames()); got != 4 {
		t.Errorf("%d frames were painted, want the %s one twice", got, finding)
	}
	svc.SettledOnce(c, 3)
}

// A worker may lie: the service does not believe what it can check itself.
func TestTheServiceChecksFramesByItself(t *testing.T) {
	lies := map[string]func(r *farmapi.FrameResult, picture []byte) []byte{
		"cut, rightly described": func(r *farmapi.FrameResult, picture []byte) []byte { return describe(r, picture[:len(picture)/2]) },
		"other bytes":            func(_ *farmapi.FrameResult, picture []byte) []byte { picture[len(picture)-20] ^= 1; return picture },
		"other pixels":           func(r *farmapi.FrameResult, picture []byte) []byte { r.PixelSHA256 = r.SHA256; return picture },
		"half the size":          func(r *farmapi.FrameResult, picture []byte) []byte { r.Width /= 2; return picture },
		"no picture":             func(r *farmapi.FrameResult, _ []byte) []byte { return describe(r, []byte("not a picture at all")) },
		"another format": func(r *farmapi.FrameResult, _ []byte) []byte {
			r.File = "frame_0001.tga"
			return describe(r, []byte("what only Blender reads"))
		},
		"rendered on the CPU": func(r *farmapi.FrameResult, picture []byte) []byte { r.Device = "CPU"; return picture },
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		honest := svc.ManualWorker()
		for name, lie := range lies {
			c, liar := svc.Caller(story.Credit), svc.ManualWorker()
			job := c.StartFrames(1)
			got, err := liar.LeaseOne(t.Context())
			if err != nil || len(got.Leases) != 1 {
				t.Fatalf("%s: leased %+v, %v", name, got, err)
			}
			result, picture := liar.Result(t, got)
			picture = lie(&result, picture)
			refusal, refused := errors.AsType[*farmapi.Error](liar.Deliver(t.Context(), result, bytes.NewReader(picture)))
			if !refused || refusal.Code != "frame_rejected" {
				t.Fatalf("%s was answered with %v, want frame_rejected", name, refusal)
			}
			pass(time.Minute) // longer than the pause before another try
			again, err := honest.Lease(t.Context(), farmapi.LeaseRequest{WorkerID: honest.ID, Max: 1, WaitSeconds: 20})
			if err != nil || len(again.Leases) != 1 || again.Leases[0].Attempt != 2 {
				t.Fatalf("%s: the other worker leased %+v, %v", name, again, err)
			}
			if err := honest.DeliverResult(t, again); err != nil {
				t.Fatal(err)
			}
			c.Fetch(c.Await(job.JobID, client.StatusCompleted), 1)
			svc.SettledOnce(c, 1)
		}
	})
}

// describe makes a result fit other bytes.
func describe(r *farmapi.FrameResult, picture []byte) []byte {
	sum := sha256.Sum256(picture)
	r.SHA256, r.SizeBytes = hex.EncodeToString(sum[:]), int64(len(picture))
	return picture
}
