package browser_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/pixelstest"
	"svc.example/internal/test/story"
)

// OpenEXR is shown with all its pixels, as light as its viewer chooses.
func TestAnOpenEXRFrameIsShownWholeAndAtAnyExposure(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, anOpenEXRFrameIsShown)
}

func anOpenEXRFrameIsShown(t *testing.T, database string) {
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: database, Log: story.LogOf(t)})
	svc.Worker(&otherPainter{as: asEXR})
	p := svc.Console(svc.Caller(story.Credit))
	begun, err := p.Take(p.QuoteOf(exrScene(t), 2))
	if err != nil {
		t.Fatal(err)
	}
	job := p.Await(begun.JobID, client.StatusCompleted)
	p.Open("/console/jobs/" + job.JobID + "/frames/1")
	light := func(of string) string { // the mean of the middle row, when the picture has come
		return fmt.Sprintf(`(async () => {
			const img = document.querySelector("#picture");
			if (!img.src.includes(%q)) return NaN;
			await img.decode();
			const canvas = Object.assign(document.createElement("canvas"), { width: img.naturalWidth, height: img.naturalHeight });
			const context = canvas.getContext("2d");
			context.drawImage(img, 0, 0);
			const row = context.getImageData(0, canvas.height / 2, canvas.width, 1).data;
			return row.filter((_, i) => i %% 4 === 0).reduce((n, v) => n + v, 0) / canvas.width;
		})()`, of)
	}
	const eighth, quarter = 99.0, 137.0 // of light, as sRGB codes it
	between := func(of string, low, high float64) string {
		return fmt.Sprintf("%s.then((v) => v > %g && v < %g)", light(of), low, high)
	}
	p.Until("the whole picture, as it is", between("/view?", eighth-4, eighth+4)+` && document.querySelector("#picture").naturalWidth === 480`)
	p.Says("not the scene's own view transform")
	p.Run(`(() => { const f = document.querySelector("[name=exposure]"); f.value = "1"; f.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	p.Until("the picture one stop lighter", between("exposure=1", quarter-4, quarter+4)+` && /exposure=1/.test(location.search)`)
	p.Run(`(() => { const f = document.querySelector("[name=transform]"); f.value = "raw"; f.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	p.Until("its light as it is", between("transform=raw", 60, 68)) // a quarter
	p.Run(`(() => {
		const picture = document.querySelector("#picture"), { left, top } = picture.getBoundingClientRect();
		picture.dispatchEvent(new PointerEvent("pointermove", { clientX: left + 10.5, clientY: top + 20.5, bubbles: true }));
	})()`)
	p.Until("the values under the pointer, and those of the file", `/^x 10, y 20: R 6\d G 6\d B 6\d · in the file: Y 0\.126 Z 0\.5$/.test(document.querySelector("[data-pixel]").textContent)`)
	p.Run(`(() => { const f = document.querySelector("[name=channel]"); f.value = "Z"; f.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	p.Until("a channel as grey", between("channel=Z", 250, 256)) // a half, one stop lighter
	p.Run(`(() => { const f = document.querySelector("[name=channel]"); f.value = ""; f.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	p.Run(`(() => { const f = document.querySelector("[name=transform]"); f.value = "standard"; f.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	p.Until("a screen's light", between("transform=standard", quarter-4, quarter+4))
	p.Run(`document.querySelector("[data-zoom]").click()`)
	p.Until("its actual pixels", `document.querySelector("#picture").getBoundingClientRect().width * devicePixelRatio === document.querySelector("#picture").naturalWidth`)
	p.Run(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}))`)
	p.Until("the next frame, as light", `document.querySelector("h1").textContent === "Frame 2" && `+between("/frames/2/view?", quarter-4, quarter+4))
	for _, said := range p.Said {
		t.Errorf("the browser says %q", said)
	}
}

// Blender's numbers of formats.
const (
	png     = 17
	openEXR = 23
	dpx     = 27
)

// exrScene is the demo scene with OpenEXR as its format.
func exrScene(t *testing.T) []byte {
	t.Helper()
	return sceneOf(t, openEXR)
}

// sceneOf is the demo scene with another format, by Blender's number.
func sceneOf(t *testing.T, number byte) []byte {
	t.Helper()
	scene := apptest.PlainScene(t)
	name := bytes.Index(scene, []byte("SCDemo\x00"))
	format := bytes.Index(scene[max(0, name):], []byte{png, 2, 24, 0, 90, 15}) // with depth, planes, flag, quality and compression
	if name < 0 || format < 0 {
		t.Fatal("the scene's format is not where it was")
	}
	scene[name+format] = number
	return scene
}

// asEXR writes a frame as OpenEXR: an eighth of light everywhere, half a metre away.
func asEXR(f blender.Frame) (blender.Frame, error) {
	var out bytes.Buffer
	le := binary.LittleEndian
	out.Write(pixelstest.EXRHeaderOf(f.Width, f.Height, []string{"Y", "Z"}, pixelstest.Float, 0))
	out.Write(make([]byte, 8*f.Height))
	for y := range f.Height {
		out.Write(le.AppendUint32(le.AppendUint32(nil, uint32(y)), uint32(2*4*f.Width)))
		for x := range f.Width {
			out.Write(le.AppendUint32(nil, math.Float32bits(0.125+float32((x+y+f.Number)%2)/1000)))
		}
		for range f.Width {
			out.Write(le.AppendUint32(nil, math.Float32bits(0.5)))
		}
	}
	f.Path = strings.TrimSuffix(f.Path, ".png") + ".exr"
	f.Format = "OPEN_EXR"
	return f, os.WriteFile(f.Path, out.Bytes(), 0o600)
}
