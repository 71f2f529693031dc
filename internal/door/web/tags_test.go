package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
)

// order starts a render of a file by the forms of its page, and returns the job's path.
func (p *person) order(filename, tags string) (path string) {
	p.t.Helper()
	priced := p.upload(filename, demo.Scene())
	quoteID := regexp.MustCompile(`QTE-[0-9a-f]{32}`).FindString(priced.text)
	begun := p.submit(priced.path+"/start", "quote_id", quoteID, "terms", contract.LegalAcceptance, "tags", tags)
	begun.want(p.t, http.StatusOK, "Details")
	return begun.path
}

// TestAPersonTagsFindsAndActsOnManyJobsWithoutScript: the address of the list has the whole
// filter, markup in tags is text, and another workspace's jobs are neither shown nor changed.
func TestAPersonTagsFindsAndActsOnManyJobsWithoutScript(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p, other := personOf(t, w, 100), personOf(t, w, 100)
		hero, plain, foreign := p.order("Hero.blend", " Client A,<b>shot</b>, "), p.order("plain.blend", ""), other.order("Hero.blend", "client a")
		id := func(path string) string { return strings.TrimPrefix(path, "/console/jobs/") }
		filtered := "/console?" + url.Values{"q": {"HERO client"}, "tag": {"Client  a"}, "status": {"queued"}, "from": {"2001-01-01"}, "person": {p.Email}, "frames": {"1"}}.Encode()
		got := p.open(filtered)
		got.want(t, http.StatusOK, hero, "&lt;b&gt;shot&lt;/b&gt;", `href="/console?tag=client&#43;a"`, `value="2001-01-01"`)
		got.lacks(t, plain, foreign, "<b>shot")
		p.open("/console").want(t, http.StatusOK, hero, plain)
		p.open("/console?tag=nobody").want(t, http.StatusOK, "No job matches these filters.", "Show all jobs")
		p.open("/console?q=%25").want(t, http.StatusOK, "No job matches “%”.")
		p.open("/console?person=nobody").want(t, http.StatusOK, "No job matches these filters.")
		p.open("/console?frames=7777").want(t, http.StatusOK, "No job matches these filters.")
		p.open("/console?frames=many").want(t, http.StatusBadRequest, "frames cannot be read", "is not a frame (7)")
		p.open("/console?from=yesterday").want(t, http.StatusBadRequest, "must be a day")
		p.open("/console?q=a+b+c+d+e").want(t, http.StatusBadRequest, "at most 4 words")

		p.submit(plain+"/tags", "tags", "final, b, a, B").want(t, http.StatusOK, `value="a, b, final"`)
		p.submit(plain+"/tags", "tags", strings.Repeat("a", 33)).want(t, http.StatusBadRequest, "at most 32 characters")
		p.submit("/console/jobs", "do", "tag", "tags", "night", "job", id(hero), "job", id(plain)).want(t, http.StatusOK, hero, plain, ">night</a>")
		full := p.submit("/console/jobs", "do", "tag", "tags", "1,2,3,4,5,6,7", "job", id(hero), "job", id(plain))
		full.want(t, http.StatusOK, "1 of 2 jobs was refused.", "must not be more than 10", ">7</a>")
		p.submit("/console/jobs", "do", "download", "job", id(hero)).want(t, http.StatusOK, "1 of 1 job was refused.")
		mixed := p.submit("/console/jobs?tag=night", "do", "cancel", "job", id(foreign), "job", id(plain), "job", id(plain), "job", "JOB-<i>")
		mixed.want(t, http.StatusOK, "2 of 3 jobs were refused.", "cancelled", id(foreign), "JOB-&lt;i&gt;", `href="/console?tag=night"`)
		mixed.lacks(t, "Hero.blend", "<i>")
		other.open(foreign).want(t, http.StatusOK, "queued")
		for _, wrong := range [][]string{{"do", "cancel"}, {"do", "erase", "job", id(hero)}, {"do", "tag", "job", id(hero)}, {"do", "tag", "tags", " , ", "job", id(hero)}} {
			p.submit("/console/jobs", wrong...).want(t, http.StatusBadRequest)
		}
		stranger := &person{t: t, base: p.base}
		if got := stranger.submit("/console/jobs", "do", "cancel", "job", id(hero)); got.status != http.StatusUnauthorized {
			t.Errorf("without a session: %d", got.status)
		}

		again := p.submit(plain+"/rerender", "frames", "1")
		again.want(t, http.StatusOK, `name="tags" value="a, b, final, night"`)
	})
}

// TestAPersonSavesAFilterOfJobsWithoutScript: the list offers it, only to them, until they delete
// it. A viewer may, markup in names is text, and what was refused says why.
func TestAPersonSavesAFilterOfJobsWithoutScript(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		owner := personOf(t, w, 100)
		hero, plain := owner.order("Hero.blend", "client a"), owner.order("plain.blend", "")
		viewer := joins(t, w, owner, identity.Viewer)
		filter := "?" + url.Values{"q": {"hero"}, "status": {"queued"}, "from": {"2001-01-01"}, "person": {owner.Email}, "frames": {"1"}}.Encode()
		viewer.open("/console").lacks(t, "Save filter", "Saved filters")
		form := viewer.open("/console" + filter)
		form.want(t, http.StatusOK, "Save filter")
		action := regexp.MustCompile(`action="(/console/filters[^"]*)"`).FindStringSubmatch(form.text)
		if action == nil {
			t.Fatalf("the list has no form that saves it: %s", form.text)
		}
		saved := viewer.submit(html.UnescapeString(action[1]), "name", " <b>Client</b>  A ")
		saved.want(t, http.StatusOK, hero, "&lt;b&gt;Client&lt;/b&gt; A</a>", `aria-current="page"`)
		saved.lacks(t, plain, "<b>Client", "Save filter")
		list := viewer.open("/console")
		list.want(t, http.StatusOK, hero, plain, `<a href="/console/filters">Saved filters</a>`)
		found := regexp.MustCompile(`<a href="(/console\?[^"]*)">&lt;b&gt;Client`).FindStringSubmatch(list.text)
		if found == nil {
			t.Fatalf("the list does not link the filter: %s", list.text)
		}
		again := viewer.open(html.UnescapeString(found[1]))
		again.want(t, http.StatusOK, hero, `value="2001-01-01"`, `value="`+owner.Email+`"`)
		again.lacks(t, plain)
		owner.open("/console").lacks(t, "Client")

		viewer.submit("/console/filters"+filter, "name", "<b>Client</b> A").want(t, http.StatusBadRequest, "belongs to another filter of yours")
		viewer.submit("/console/filters", "name", "all").want(t, http.StatusBadRequest, "The filter is empty.")
		viewer.submit("/console/filters?frames=many", "name", "wrong").want(t, http.StatusBadRequest, "cannot be read")
		page := viewer.open("/console/filters").want(t, http.StatusOK, "“hero”, queued, from 2001-01-01, started by "+owner.Email+", frames 1<")
		id := regexp.MustCompile(`FLT-[0-9a-f]{32}`).FindString(page.text)
		owner.submit("/console/filters/"+id, "do", "rename", "name", "mine").want(t, http.StatusNotFound, "no such saved filter")
		owner.submit("/console/filters/"+id, "do", "delete")
		viewer.submit("/console/filters/"+id, "do", "rename", "name", "").want(t, http.StatusBadRequest, "must not be empty", "&lt;b&gt;Client")
		viewer.submit("/console/filters/"+id, "do", "rename", "name", "Heroes").want(t, http.StatusOK, ">Heroes</a>")
		viewer.open("/console").want(t, http.StatusOK, ">Heroes</a>")
		for range 2 { // twice is no mistake
			viewer.submit("/console/filters/"+id, "do", "delete").want(t, http.StatusOK, "No saved filters yet.")
		}
		viewer.open("/console").lacks(t, "Saved filters")
	})
}

// lacks wants none of these texts on the page.
func (s seen) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(s.text, text) {
			t.Errorf("%s has %q", s.path, text)
		}
	}
}
