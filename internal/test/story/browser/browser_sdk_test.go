package browser_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/internal/ground/demo"
	"svc.example/internal/test/story"
)

// browserProgram is a page of another site that renders by the TypeScript SDK. The address
// has the service and the key after its #.
const browserProgram = `<!doctype html><meta charset="utf-8"><title>A page with the SDK</title>
<script type="module">
import { ApiError, Client, LEGAL_V1 } from "/lib/index.js";
const told = { frames: [] };
try {
  const [server, key] = location.hash.slice(1).split(",");
  const svc = new Client(server, key);
  const scene = await (await fetch("/scene.blend")).blob();
  const quote = await svc.inspect(new File([scene], "shot 010.blend"), { frames: "1-2" });
  told.price = quote.price_cents;
  const look = await svc.preview(quote, { frame: 1 });
  told.look = (await svc.previewImage(look))[0];
  const job = await svc.start(quote, { legalAcceptance: LEGAL_V1 });
  for await (const event of svc.follow(job.job_id)) if (event.type === "frame") told.frames.push(event.data.frame);
  const zip = await svc.download(job.job_id);
  told.bytes = zip.size;
  const { checks } = await svc.verify(job.job_id, zip);
  told.checks = checks.filter((check) => check.status === "ok").map((check) => check.name);
  told.refused = await svc.job("JOB-none").catch((error) => error instanceof ApiError && error.requestId !== "" && error.code);
} catch (error) {
  told.error = String(error.stack ?? error);
}
const end = document.createElement("pre");
end.id = "told";
end.textContent = JSON.stringify(told);
document.body.append(end);
</script>`

// TestTheTypeScriptSDKRendersAndVerifiesInABrowser runs it in a real Chromium, on a page of
// another origin than the service.
func TestTheTypeScriptSDKRendersAndVerifiesInABrowser(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c := svc.Caller(story.Credit)
		mux := http.NewServeMux()
		mux.Handle("GET /lib/", http.FileServer(http.Dir("../../../../sdk/typescript")))
		mux.HandleFunc("GET /scene.blend", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(demo.Scene()) })
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(browserProgram)) })
		site := httptest.NewServer(mux)
		t.Cleanup(site.Close)

		ctx := story.Browse(t)
		if err := chromedp.Do(ctx, chromedp.Navigate(site.URL+"/#"+svc.URL+","+c.Agent.Secret), chromedp.WaitVisible(chromedp.ID("told"))); err != nil {
			t.Fatal(err)
		}
		var told struct {
			Error   string
			Price   int
			Look    int
			Frames  []int
			Bytes   int
			Checks  []string
			Refused string
		}
		text := story.Look[string](ctx, t, "told.textContent")
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			t.Fatal(err)
		}
		slices.Sort(told.Frames)
		if told.Error != "" || told.Price != 2 || told.Look != 0xff || !slices.Equal(told.Frames, []int{1, 2}) || told.Bytes == 0 || told.Refused != "render_not_found" {
			t.Errorf("the page shows %s", text)
		}
		for _, check := range []string{"signature", "statement", "members", "artifact", "contents", "frames", "manifest", "log"} {
			if !slices.Contains(told.Checks, check) {
				t.Errorf("the check %s was not made: %v", check, told.Checks)
			}
		}
	})
}
