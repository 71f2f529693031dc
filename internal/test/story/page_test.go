package story_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/internal/app"
	"svc.example/internal/test/await"
)

// browse gives a context of a real Chromium. A machine without one fails the
// test: scripts/install-tools chromium.
func browse(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, // it runs as root here, on pages of our own
		chromedp.UserDataDir(t.TempDir()))
	whole, cancel := context.WithTimeout(t.Context(), 4*await.Patience) // many pages
	t.Cleanup(cancel)
	allocated, stop := chromedp.NewExecAllocator(whole, options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(allocated)
	t.Cleanup(closeTab)
	return ctx
}

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
	return look[string](ctx, t, "verdict.dataset.state"), look[string](ctx, t, "verdict.innerText")
}

// look gives the value of an expression on the open page.
func look[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// screenshot keeps a picture of the open page for who wants to look at it.
func screenshot(ctx context.Context, t *testing.T) {
	t.Helper()
	folder := os.Getenv("SVC_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "proof-page.png"), picture, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestProofPageVerifiesInTheVisitorsBrowser(t *testing.T) {
	t.Parallel()
	svc := start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Log: logOf(t)})
	c := svc.caller(credit)
	svc.completed(c)
	svc.completed(c)
	job := svc.completed(c)
	p := c.proven(job)
	path := "/proof/" + p.proof.ReceiptID
	ctx := browse(t)

	zip := t.TempDir() + "/render.zip"
	if _, err := c.Download(patient(t), job.JobID, zip, nil); err != nil {
		t.Fatal(err)
	}
	state, words := verdict(ctx, t, svc.url+path)
	if state != "verified" || !strings.Contains(words, "number 2 of that log") {
		t.Errorf("the page says %s: %s", state, words)
	}
	if width := look[int](ctx, t, "document.documentElement.scrollWidth"); width > 390 {
		t.Errorf("the page is %d pixels wide on a phone of 390", width)
	}
	err := chromedp.Do(ctx,
		chromedp.SetUploadFiles(chromedp.CSS("#zip"), []string{zip}),
		chromedp.WaitVisible(chromedp.CSS("#zip-verdict.good, #zip-verdict.bad")))
	if err != nil {
		t.Fatal(err)
	}
	if compared := look[string](ctx, t, `document.getElementById("zip-verdict").innerText`); !strings.Contains(compared, "is the ZIP") {
		t.Errorf("of the ZIP: %s", compared)
	}
	screenshot(ctx, t)

	// A dishonest server in between changes one thing each.
	for name, change := range map[string]struct{ old, new, words string }{
		"shown price":   {`<span data-is="charged_cents">2`, `<span data-is="charged_cents">1`, "charged_cents that differs"},
		"shown hash":    {`<code data-is="artifact.sha256">`, `<code data-is="artifact.sha256">0`, "artifact.sha256 that differs"},
		"signature":     {`"sig":"`, `"sig":"AAAA`, "signature does not match"},
		"published key": {`"key_id":"`, `"key_id":"0`, "does not match its id"},
		"checkpoint":    {`/log\n3\n`, `/log\n4\n`, "not signed by a published key"},
		"path":          {p.proof.InclusionProof[0], "AAAA" + p.proof.InclusionProof[0][4:], "does not lead to the root"},
		"index":         {`"log_index":2,"inclusion_proof"`, `"log_index":1,"inclusion_proof"`, "another leaf"},
	} {
		liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			page := get(t, http.MethodGet, svc.url+r.URL.Path, http.Header{"Accept": {"text/html"}})
			w.Header().Set("Content-Type", page.header.Get("Content-Type"))
			w.Header().Set("Content-Security-Policy", page.header.Get("Content-Security-Policy"))
			if !bytes.Contains(page.body, []byte(change.old)) && strings.HasPrefix(r.URL.Path, "/proof/") {
				t.Errorf("%s: the page does not hold %q", name, change.old)
			}
			_, _ = w.Write(bytes.Replace(page.body, []byte(change.old), []byte(change.new), 1))
		}))
		state, words := verdict(ctx, t, liar.URL+path)
		liar.Close()
		if state != "failed" || !strings.Contains(words, change.words) {
			t.Errorf("changed %s: wanted %q, the page says %s: %s", name, change.words, state, words)
		}
	}
}
