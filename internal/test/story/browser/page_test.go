package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/receipt"
)

// verdict opens a proof page as a phone does and gives what it concludes.
func verdict(ctx context.Context, t *testing.T, address string) (state, words string) {
	t.Helper()
	err := chromedp.Do(ctx,
		chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile),
		chromedp.Navigate(address),
		chromedp.WaitVisible(chromedp.CSS(`#verdict:not([data-state=waiting])`)))
	if err != nil {
		t.Fatalf("open %s: %v", address, err)
	}
	return story.Look[string](ctx, t, "verdict.dataset.state"), story.Look[string](ctx, t, "verdict.innerText")
}

// screenshot keeps a picture of the open page for inspection.
func screenshot(ctx context.Context, t *testing.T) {
	t.Helper()
	folder := os.Getenv("SVC_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, strings.ReplaceAll(t.Name(), "/", "-")+".png"), picture, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestProofPageVerifiesInTheVisitorsBrowser(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	svc.Completed(c)
	svc.Completed(c)
	job := svc.Completed(c)
	p := c.Proven(job)
	path := "/proof/" + p.Proof.ReceiptID
	ctx := story.Browse(t)

	zip := t.TempDir() + "/render.zip"
	if _, err := c.Download(story.Patient(t), job.JobID, zip, nil); err != nil {
		t.Fatal(err)
	}
	state, words := verdict(ctx, t, svc.URL+path)
	if state != "verified" || !strings.Contains(words, "number 2 of that log") {
		t.Errorf("the page says %s: %s", state, words)
	}
	if width := story.Look[int](ctx, t, "document.documentElement.scrollWidth"); width > 390 {
		t.Errorf("the page is %d pixels wide on a phone of 390", width)
	}
	err := chromedp.Do(ctx,
		chromedp.SetUploadFiles(chromedp.CSS("#zip"), []string{zip}),
		chromedp.WaitVisible(chromedp.CSS("#zip-verdict.good, #zip-verdict.bad")))
	if err != nil {
		t.Fatal(err)
	}
	if compared := story.Look[string](ctx, t, `document.getElementById("zip-verdict").innerText`); !strings.Contains(compared, "is the ZIP") {
		t.Errorf("of the ZIP: %s", compared)
	}
	screenshot(ctx, t)

	// Every value is there, written from the signed bytes.
	text := story.Look[string](ctx, t, "document.body.innerText")
	for _, value := range []string{job.JobID, p.Proof.ReceiptID, p.Proof.ArtifactSHA256, "2 frames, rendered on ", "$0.02 (2 cents)", "frame_0001.png"} {
		if !strings.Contains(text, value) {
			t.Errorf("the page does not have %q: %s", value, text)
		}
	}
	if title := story.Look[string](ctx, t, "document.title"); !strings.Contains(title, job.JobID) {
		t.Errorf("the title is %q", title)
	}

	// A dishonest server in between changes one thing each.
	for name, change := range map[string]struct{ old, new, words string }{
		"payload":        {`"payload":"`, `"payload":"AAAA`, "signature does not match"},
		"signature":      {`"sig":"`, `"sig":"AAAA`, "signature does not match"},
		"published key":  {`"key_id":"`, `"key_id":"0`, "does not match its id"},
		"end of the key": {`"end_log_size":null`, `"end_log_size":2`, "after the end of its key"},
		"checkpoint":     {`/log\n3\n`, `/log\n4\n`, "not signed by a published key"},
		"path":           {p.Proof.InclusionProof[0], "AAAA" + p.Proof.InclusionProof[0][4:], "does not lead to the root"},
		"index":          {`"log_index":2,"inclusion_proof"`, `"log_index":1,"inclusion_proof"`, "another leaf"},
		"form":           {`"keys":[`, `"keys":`, "JSON"},
	} {
		state, words := verdict(ctx, t, changedPage(t, svc.URL, change.old, change.new)+path)
		if state != "failed" || !strings.Contains(words, change.words) {
			t.Errorf("changed %s: wanted %q, the page says %s: %s", name, change.words, state, words)
		}
		if left := story.Look[string](ctx, t, "document.title + document.getElementById('content').innerText"); strings.Contains(left, job.JobID) || strings.Contains(left, "Paid") || strings.Contains(left, "✓") {
			t.Errorf("changed %s: the page still shows %s", name, left)
		}
	}
	// Text that an attacker puts into the page is not shown next to what is
	// verified.
	for old, added := range map[string]string{`<div id="receipt">`: `<div id="receipt">paid 99 USD`, `<ul id="checks">`: `<ul id="checks"><li>paid 99 USD</li>`, `<h1 id="name">`: `<h1 id="name">paid 99 USD`} {
		state, _ := verdict(ctx, t, changedPage(t, svc.URL, old, added)+path)
		if text := story.Look[string](ctx, t, "document.body.innerText"); state != "verified" || strings.Contains(text, "99 USD") {
			t.Errorf("text in %s: %s: %s", old, state, text)
		}
	}
}

// changedPage is the address of a server that passes a service's pages on with one change
// in each proof page.
func changedPage(t *testing.T, service, old, changed string) string {
	t.Helper()
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := story.Get(t, http.MethodGet, service+r.URL.Path, http.Header{"Accept": {"text/html"}})
		w.Header().Set("Content-Type", from.Header.Get("Content-Type"))
		w.Header().Set("Content-Security-Policy", from.Header.Get("Content-Security-Policy"))
		if !bytes.Contains(from.Body, []byte(old)) && strings.HasPrefix(r.URL.Path, "/proof/") {
			t.Errorf("the page does not hold %q", old)
		}
		_, _ = w.Write(bytes.Replace(from.Body, []byte(old), []byte(changed), 1))
	}))
	t.Cleanup(liar.Close)
	return liar.URL
}

func TestAProofPageSaysThatPaintedFramesWereNotRendered(t *testing.T) {
	t.Parallel()
	job, err := receipttest.Complete(1)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signingkey.New(strings.NewReader(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	index := int64(0)
	job.Receipt.LogIndex, job.Receipt.Renderer.ID = &index, contract.SyntheticRenderer
	envelope, err := receipt.Sign(job.Receipt, key)
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := receipttest.Leaves(envelope, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := receipttest.Prove(leaves, 0, key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(map[string]any{
		"envelope": envelope, "log_index": 0, "inclusion_proof": proof.InclusionProof, "checkpoint": proof.Checkpoint,
		"keys": []any{map[string]any{"key_id": key.Public().ID(), "public_key_pem": string(public)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	path := "/proof/" + c.Proven(svc.Completed(c)).Proof.ReceiptID
	const begins = `<script type="application/json" id="proof">`
	ctx := story.Browse(t)
	state, _ := verdict(ctx, t, changedPage(t, svc.URL, begins, begins+string(content)+"</script>"+`<script type="application/json">`)+path)
	text := story.Look[string](ctx, t, "document.body.innerText")
	if state != "verified" || !strings.Contains(text, "1 frame, NOT rendered but painted by a "+contract.SyntheticApplication+", $0.01") || strings.Contains(text, "rendered on") {
		t.Errorf("%s: %s", state, text)
	}
}

func TestASavedProofPageVerifiesWithoutANetwork(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	svc.Completed(c)
	p := c.Proven(svc.Completed(c))
	ctx := story.Browse(t)
	answered := story.Get(t, http.MethodGet, svc.URL+"/proof/"+p.Proof.ReceiptID+"?copy", http.Header{"Accept": {"text/html"}})
	if kept := answered.Header.Get("Content-Disposition"); answered.Status != http.StatusOK || !strings.HasPrefix(kept, "attachment; ") {
		t.Fatalf("the copy: %d, %q", answered.Status, kept)
	}
	folder := t.TempDir()
	open := func(name, text string) (state, words string) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return verdict(ctx, t, "file://"+path)
	}
	const price = "$0.02 (2 cents)"
	if state, words := open("saved.html", string(answered.Body)); state != "verified" || !strings.Contains(story.Look[string](ctx, t, "document.body.innerText"), price) {
		t.Errorf("the saved page says %s: %s", state, words)
	}
	// What a browser saves of the open page has the values in it. One of them is changed.
	again := story.Look[string](ctx, t, "document.documentElement.outerHTML")
	if state, _ := open("changed.html", strings.ReplaceAll(again, price, "$9.00 (900 cents)")); state != "verified" || !strings.Contains(story.Look[string](ctx, t, "document.body.innerText"), price) {
		t.Errorf("a changed text is shown: %s: %s", state, story.Look[string](ctx, t, "document.body.innerText"))
	}
	damaged := strings.Replace(string(answered.Body), `"payload":"`, `"payload":"AAAA`, 1)
	if state, words := open("damaged.html", damaged); state != "failed" || !strings.Contains(words, "signature does not match") {
		t.Errorf("a damaged copy says %s: %s", state, words)
	}
}

func TestAProofPageVerifiesInABrowserWithoutEd25519AndSaysSo(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	svc.Completed(c)
	path := "/proof/" + c.Proven(svc.Completed(c)).Proof.ReceiptID
	const said = "Computed by this page: the browser has no cryptography for it here"
	ctx := story.Browse(t)
	if _, words := verdict(ctx, t, svc.URL+path); !strings.Contains(words, "Computed by this browser's own cryptography") || strings.Contains(words, said) {
		t.Errorf("with Ed25519 it says %s", words)
	}
	for name, script := range map[string]string{
		"over http":        "Object.defineProperty(crypto, 'subtle', { value: undefined, configurable: true })",
		"without Ed25519":  "crypto.subtle.importKey = async () => { throw new DOMException('', 'NotSupportedError') }",
		"with a false one": "crypto.subtle.digest = async () => { throw new Error('no') }",
	} {
		ctx := story.Browse(t)
		_, err := chromedp.Run(ctx, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
			return err
		}))
		if err != nil {
			t.Fatal(err)
		}
		if state, words := verdict(ctx, t, svc.URL+path); state != "verified" || !strings.Contains(words, said) {
			t.Errorf("%s: %s: %s", name, state, words)
		}
		for old, changed := range map[string]string{`"payload":"`: `"payload":"AAAA`, `/log\n2\n`: `/log\n3\n`} {
			if state, words := verdict(ctx, t, changedPage(t, svc.URL, old, changed)+path); state != "failed" {
				t.Errorf("%s, %s changed: %s: %s", name, old, state, words)
			}
		}
	}
}
