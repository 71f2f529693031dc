package web_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"path"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/links"
	"svc.example/internal/render/settings"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/ociotest"
)

// An artist sees that the upload has an OpenColorIO configuration, chooses it, and orders the frames
// in its colours. One that cannot be read is refused before the price.
func TestAnArtistChoosesTheColoursOfAProject(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 100)
		if page := p.upload(demo.Filename, demo.Scene()).want(t, http.StatusOK); bytes.Contains([]byte(page.text), []byte("OpenColorIO")) {
			t.Error("a file without a configuration has the field")
		}
		files := ociotest.Files()
		files["shot/broken.ocio"] = "ocio_profile_version: ["
		files[demo.Filename] = string(demo.Scene())
		var archive bytes.Buffer
		z := zip.NewWriter(&archive)
		for name, text := range files {
			f, err := z.Create(name)
			if err == nil {
				_, err = f.Write([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		priced := p.upload("project.zip", archive.Bytes()).want(t, http.StatusOK, "Your files include configurations")
		tab, _ := browse(t)
		p.in(tab)
		until := func(what, expression string) {
			t.Helper()
			if _, err := chromedp.Run(tab, chromedp.Poll[bool](expression)); err != nil {
				t.Fatalf("%s: %v: %s", what, err, look[string](tab, t, "document.querySelector('main').innerText"))
			}
		}
		choose := func(config string) {
			look[bool](tab, t, fmt.Sprintf(`(() => { const s = document.querySelector("[name=ocio]"); s.value = %q; return s.dispatchEvent(new Event("input", { bubbles: true })); })()`, config))
		}
		if err := chromedp.Do(tab, chromedp.Navigate(w.URL+priced.path)); err != nil {
			t.Fatal(err)
		}
		until("the configurations", fmt.Sprintf(`[...document.querySelectorAll("[name=ocio] option")].map(o => o.textContent).join() === "Blender’s own,%s,shot/broken.ocio"`, ociotest.Config))
		choose("shot/broken.ocio")
		until("why it is refused", `document.querySelector("#price").textContent.includes("not valid YAML") && document.querySelector("#price button.big").disabled`)
		choose(ociotest.Config)
		until("its price, and how the colours are made", `document.querySelector("#price [name=quote_id]") && !document.querySelector("#price button.big").disabled && document.querySelector("#colours").textContent.includes("view Filmic")`)
		if err := chromedp.Do(tab, chromedp.Click(chromedp.CSS("#price [name=terms]")), chromedp.Click(chromedp.CSS("#price button.big")), chromedp.WaitVisible(chromedp.CSS("#live"))); err != nil {
			t.Fatal(err)
		}
		o, err := w.App.Jobs(links.Links{}).Get(t.Context(), p.ID, path.Base(look[string](tab, t, "location.pathname")))
		if want := (settings.Settings{OCIO: ociotest.Config}); err != nil || o.Settings != want {
			t.Errorf("the job has %+v, %v", o.Settings, err)
		}
	})
}
