package browser_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// A frame in a format that no browser shows has a sentence and a link to its file instead of a
// picture.
func TestAFrameThatNoBrowserShowsLeadsToItsFile(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		svc.Worker(&otherPainter{as: asDPX})
		p := svc.Console(svc.Caller(story.Credit))
		begun, err := p.Take(p.QuoteOf(sceneOf(t, dpx), 2))
		if err != nil {
			t.Fatal(err)
		}
		job := p.Await(begun.JobID, client.StatusCompleted)
		p.Open("/console")
		p.Until("the job's picture names the format", `document.querySelector(".thumb img").naturalWidth > 0`)
		p.Open("/console/jobs/" + job.JobID)
		p.Until("a place without a picture for each frame", `document.querySelectorAll("#frames .grid a .blank").length === 2`)
		p.Says("No contact sheet and no animation: dpx files have no preview.")
		p.Until("no overview is offered", `!document.querySelector("#overviews a[href$='/sheet'], #overviews a[href$='/loop']")`)
		p.Run(`document.querySelector("#frames .grid a").click()`)
		p.Says("Browsers cannot show dpx files.")
		p.Until("a link to the file", `document.querySelector(".notice a[download]").getAttribute("href").endsWith("/frames/1/file?save")`)
		p.Run(`document.querySelector("[rel=next]").click()`)
		p.Until("the next frame", `document.querySelector("h1").textContent === "Frame 2"`)
		for _, said := range p.Said {
			t.Errorf("the browser says %q", said)
		}
	})
}

// otherPainter paints frames, and has as write each in another format.
type otherPainter struct {
	story.Painter
	as func(blender.Frame) (blender.Frame, error)
}

func (p *otherPainter) Start(ctx context.Context, options blender.Options) (worker.Session, error) {
	s, err := p.Painter.Start(ctx, options)
	return otherSession{s, p.as}, err
}

type otherSession struct {
	worker.Session
	as func(blender.Frame) (blender.Frame, error)
}

func (o otherSession) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return o.other(o.Session.Render(ctx, frame, progress))
}

func (o otherSession) RenderFresh(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return o.other(o.Session.RenderFresh(ctx, frame, progress))
}

func (o otherSession) other(f blender.Frame, err error) (blender.Frame, error) {
	if err != nil {
		return f, err
	}
	return o.as(f)
}

// A shared page says so too, and leads to the file where its link allows downloads.
func TestASharedFrameWithoutAPreviewLeadsToItsFile(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		svc.Worker(&otherPainter{as: asDPX})
		c := svc.Caller(story.Credit)
		begun, err := c.Take(c.QuoteOf(sceneOf(t, dpx), 2))
		if err != nil {
			t.Fatal(err)
		}
		job := c.Await(begun.JobID, client.StatusCompleted)
		visitor := svc.Console(svc.Caller(0))
		link := func(terms string) (path string) {
			t.Helper()
			var made shared
			ask := story.Request(t, http.MethodPost, svc.URL+"/v1/renders/"+job.JobID+"/share", c.Account.Secret, terms)
			if status := story.Send(t, ask, &made); status != http.StatusOK {
				t.Fatalf("sharing answers %d", status)
			}
			return strings.TrimPrefix(made.ShareURL, svc.URL)
		}
		visitor.Open(link(`{"download":true}`))
		visitor.Says("There is no preview of dpx files.")
		visitor.Until("no empty picture", `document.querySelectorAll("main img, .stage").length === 0 && document.querySelectorAll("#frames .grid a .blank").length === 2`)
		visitor.Until("a link to the file", `document.querySelector(".notice a[download]").getAttribute("href").endsWith("/frames/1/file")`)
		visitor.Run(`document.querySelector("[rel=next]").click()`)
		visitor.Until("the next frame and its file", `document.querySelector("h2").textContent === "Frame 2" && document.querySelector(".notice a[download]").getAttribute("href").endsWith("/frames/2/file")`)
		visitor.Open(link(`{"download":false}`))
		visitor.Says("Ask the person who sent you this link for the file.")
		visitor.Until("no link to a file", `document.querySelector("main a[download]") === null`)
		for _, said := range visitor.Said {
			t.Errorf("the browser says %q", said)
		}
	})
}

// asDPX writes a frame as a grey one of 8 bits, of which each value is its number.
func asDPX(f blender.Frame) (blender.Frame, error) {
	const start = 2048
	file := make([]byte, start+(3*f.Width+3)/4*4*f.Height)
	be := binary.BigEndian
	copy(file, "SDPX")
	be.PutUint32(file[4:], start)
	be.PutUint32(file[16:], uint32(len(file)))
	be.PutUint16(file[770:], 1) // picture
	be.PutUint32(file[772:], uint32(f.Width))
	be.PutUint32(file[776:], uint32(f.Height))
	file[800], file[803] = 50, 8 // colours of 8 bits
	for i := range file[start:] {
		file[start+i] = byte(f.Number)
	}
	f.Path = strings.TrimSuffix(f.Path, ".png") + ".dpx"
	f.Format = "DPX"
	f.PixelSHA256, f.Defects = fmt.Sprintf("%064x", f.Number), &pixels.Defects{}
	return f, os.WriteFile(f.Path, file, 0o600)
}
