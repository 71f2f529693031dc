package api_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
)

// formPart is a part of a form, written byte by byte: libraries would not write it so.
type formPart struct {
	disposition string
	content     string
}

func formField(name, value string) formPart { return formPart{`form-data; name="` + name + `"`, value} }

func file(parameters string) formPart {
	return formPart{"form-data" + parameters, string(demo.Scene())}
}

// scene is the part that every good upload has.
func scene() formPart { return file(`; name="file"; filename="scene.blend"`) }

func rawForm(parts ...formPart) body {
	var b bytes.Buffer
	for _, p := range parts {
		fmt.Fprintf(&b, "--b\r\nContent-Disposition: %s\r\n\r\n%s\r\n", p.disposition, p.content)
	}
	b.WriteString("--b--\r\n")
	return body{"multipart/form-data; boundary=b", b.Bytes()}
}

// TestAFormIsTakenWholeOrRefusedByName sends what forms of strange clients have been seen
// to contain. Nothing is guessed: what is repeated, empty, compressed or cut off is refused,
// and the refusal names it (decisions 25).
func TestAFormIsTakenWholeOrRefusedByName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		as := func(kind string, b body) body { return body{kind, b.data} }
		hook := func(url, secret string) body {
			return rawForm(scene(), formField("webhook_url", url), formField("webhook_secret", secret))
		}
		const inspect, create, uploads = "/node/v1/uploads/inspect", "/v1/renders", "/v1/uploads"
		for name, c := range map[string]struct {
			path   string
			body   body
			status int
			code   fault.Code
			says   string
		}{
			"multipart/mixed":          {inspect, as("multipart/mixed; boundary=b", rawForm(scene())), 415, fault.UnsupportedMedia, "multipart/form-data"},
			"multipart/related":        {create, as("multipart/related; boundary=b", rawForm(scene())), 415, fault.UnsupportedMedia, "multipart/form-data"},
			"no boundary":              {uploads, as("multipart/form-data", rawForm(scene())), 400, fault.InvalidRequest, "boundary"},
			"a file without file name": {uploads, rawForm(file(`; name="file"`)), 400, fault.InvalidRequest, "file name"},
			"a file without a name":    {uploads, rawForm(file(`; filename="scene.blend"`)), 400, fault.InvalidRequest, "without a name"},
			"two files":                {inspect, rawForm(scene(), scene()), 400, fault.FieldRepeated, "file"},
			"two frame_end":            {inspect, rawForm(formField("frame_end", "1"), formField("frame_end", "9"), scene()), 400, fault.FieldRepeated, "frame_end"},
			"frame_start behind":       {create, rawForm(formField("frame_start", "1"), scene(), formField("frame_start", "1")), 400, fault.FieldRepeated, "frame_start"},
			"two webhook_url":          {create, rawForm(formField("webhook_url", deadReceiver), formField("webhook_url", deadReceiver), scene()), 400, fault.FieldRepeated, "webhook_url"},
			"an empty frame":           {create, rawForm(formField("frame_start", ""), scene()), 400, fault.InvalidRequest, "frame_start"},
			"an empty renderer":        {create, rawForm(formField("renderer", ""), scene()), 400, fault.UnsupportedRenderer, "renderer"},
			"renderer at inspect":      {inspect, rawForm(formField("renderer", "octane"), scene()), 400, fault.UnsupportedRenderer, "octane"},
			"renderer at uploads":      {uploads, rawForm(formField("renderer", "octane"), scene()), 400, fault.UnsupportedRenderer, "octane"},
			"an empty URL":             {create, rawForm(formField("webhook_url", ""), scene()), 400, fault.InvalidWebhookURL, "empty"},
			"an empty secret":          {create, hook("https://8.8.8.8/", ""), 400, fault.WebhookSecretShort, "empty"},
			"a long URL":               {create, hook("https://8.8.8.8/"+strings.Repeat("ü", 2033), strings.Repeat("s", 16)), 400, fault.InvalidWebhookURL, "2048 characters"},
			"an empty URL in JSON":     {create, jsonBody(`{"upload_id":"` + s.upload + `","webhook_url":""}`), 400, fault.InvalidWebhookURL, "empty"},
			"an empty secret in JSON":  {create, jsonBody(`{"upload_id":"` + s.upload + `","webhook_url":"https://8.8.8.8/","webhook_secret":""}`), 400, fault.WebhookSecretShort, "empty"},
			"a null URL in JSON":       {create, jsonBody(`{"upload_id":"` + s.upload + `","webhook_url":null}`), 400, fault.InvalidRequest, "webhook_url"},
			"two upload_id in JSON":    {create, jsonBody(`{"upload_id":"` + s.upload + `","upload_id":"` + s.upload + `"}`), 400, fault.InvalidRequest, "upload_id is there more than once"},
			"start, an empty URL":      {"/node/v1/uploads/" + s.upload + "/start", s.startWith(`"webhook_url":""`), 400, fault.InvalidWebhookURL, ""},
			"start, a null URL":        {"/node/v1/uploads/" + s.upload + "/start", s.startWith(`"webhook_url":null`), 400, fault.InvalidWebhookURL, ""},
			"start, an empty secret":   {"/node/v1/uploads/" + s.upload + "/start", s.startWith(`"webhook_url":"https://8.8.8.8/","webhook_secret":""`), 400, fault.WebhookSecretShort, ""},
			"quote, two frame_end":     {"/node/v1/uploads/" + s.upload + "/quote", jsonBody(`{"frame_start":1,"frame_end":1,"frame_end":3}`), 400, fault.InvalidRequest, "frame_end"},
			"quote, a null step":       {"/node/v1/uploads/" + s.upload + "/quote", jsonBody(`{"frame_start":1,"frame_end":1,"frame_step":null}`), 400, fault.InvalidRequest, "frame_step"},
			"preflight, a null frame":  {create + "/preflight", jsonBody(`{"filename":"a.blend","frame_start":null}`), 400, fault.InvalidRequest, "frame_start"},
			"preflight, a null end":    {create + "/preflight", jsonBody(`{"filename":"a.blend","frame_end":null}`), 400, fault.InvalidRequest, "frame_end"},
			"preflight, no renderer":   {create + "/preflight", jsonBody(`{"filename":"a.blend","renderer":""}`), 400, fault.UnsupportedRenderer, ""},
			"preflight, null renderer": {create + "/preflight", jsonBody(`{"filename":"a.blend","renderer":null}`), 400, fault.UnsupportedRenderer, ""},
			"preflight, a blank":       {create + "/preflight", jsonBody(`{"filename":"a.blend "}`), 400, fault.UnsupportedFile, ".blend"},
			"preflight, a line end":    {create + "/preflight", jsonBody(`{"filename":"a.blend\n"}`), 400, fault.UnsupportedFile, `\n`},
		} {
			key := s.account
			if strings.HasPrefix(c.path, "/node/") {
				key = s.agent
			}
			a := s.call("POST", c.path, key, c.body)
			if message := fmt.Sprint(a.body); a.status != c.status || a.code() != c.code || !strings.Contains(message, c.says) {
				t.Errorf("%s: %d %s, want %d %s that says %q", name, a.status, message, c.status, c.code, c.says)
			}
		}
		packed := map[string]string{"Content-Encoding": "gzip"}
		if a := s.callWith("POST", inspect, s.agent, packed, rawForm(scene())); a.status != 415 || a.code() != fault.EncodingNotSupported {
			t.Errorf("a compressed body: %d %s", a.status, a.code())
		}
		if a := s.callWith("POST", inspect, s.agent, map[string]string{"Content-Encoding": "identity"}, rawForm(scene())); a.status != 200 {
			t.Errorf("an identity body: %d %v", a.status, a.body)
		}
		group := map[string]string{"Idempotency-Key": "one", "X-Svc-Renderer": "blender"}
		if a := s.callWith("POST", create, s.account, group, jsonBody(`{"upload_id":"`+s.upload+`"}`)); a.status != 400 || a.code() != fault.IdempotencyHeadersIncomplete {
			t.Errorf("a lone X-Svc header with JSON: %d %s", a.status, a.code())
		}
		if available, reserved := s.wallet(); available != 100 || reserved != 0 {
			t.Errorf("the refusals left %v and %v reserved", available, reserved)
		}
		long := "https://8.8.8.8/" + strings.Repeat("ü", 2032)
		a := s.call("POST", create, s.account, hook(long, strings.Repeat("ü", 16)))
		if configured, _ := a.body["webhook_configured"].(bool); a.status != 200 || !configured {
			t.Errorf("2048 characters: %d %v", a.status, a.body)
		}
	})
}

// TestTheNineHeadersCountForTheJSONFormToo sends the whole group with an upload's id.
func TestTheNineHeadersCountForTheJSONFormToo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		one := s.call("POST", "/v1/uploads", s.account, rawForm(scene(), formField("frame_start", "1"), formField("frame_end", "2")))
		named := jsonBody(`{"upload_id":"` + one.text("upload_id") + `"}`)
		good := group("named", 1, 2, 2)
		for name, value := range map[string]string{"X-Svc-Frame-End": "3", "X-Svc-Filename": "other.blend", "X-Svc-Size-Bytes": "7"} {
			wrong := maps.Clone(good)
			wrong[name] = value
			refingerprint(wrong)
			if a := s.callWith("POST", "/v1/renders", s.account, wrong, named); a.status != 400 {
				t.Errorf("another %s: %d %v", name, a.status, a.body)
			}
		}
		first := s.callWith("POST", "/v1/renders", s.account, good, named)
		again := s.callWith("POST", "/v1/renders", s.account, good, named)
		if first.status != 200 || again.status != 200 || first.text("job_id") != again.text("job_id") || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("the group with JSON: %d %v, then %d", first.status, first.body, again.status)
		}
	})
}

// TestAFileKeepsTheNameThatItsSenderMeant uploads a file under names as clients write them.
func TestAFileKeepsTheNameThatItsSenderMeant(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		for parameters, want := range map[string]string{
			`; filename="scene.blend"`:                                        "scene.blend",
			`; filename="=?utf-8?B?U3rDpG5lLmJsZW5k?="`:                       "Szäne.blend",
			`; filename="=?iso-8859-1?Q?Caf=E9.blend?="`:                      "Café.blend",
			`; filename*=UTF-8''caf%C3%A9.blend`:                              "café.blend",
			`; filename="x.blend"; filename*=UTF-8''%E5%A0%B4%E6%99%AF.blend`: "場景.blend",
			`; filename*=ISO-8859-1'de'Gr%FC%DFe.blend`:                       "Grüße.blend",
			"; filename=\"Gr\xfc\xdfe.blend\"":                                "Grüße.blend",
			`; filename="Grüße.blend"`:                                        "Grüße.blend",
			`; filename="the %22best%22 one.blend"`:                           `the "best" one.blend`,
			`; filename="C:\scenes\scene.blend"`:                              "scene.blend",
			`; filename="../../etc/scene.blend"`:                              "scene.blend",
			"; filename=\"a\u202ednelb.blend\"":                               "",
			`; filename="two%0Alines.blend"`:                                  "",
			`; filename*=UTF-8''a%00b.blend`:                                  "",
			"; filename=\"wide\u200bless.blend\"":                             "",
		} {
			a := s.post("/node/v1/uploads/inspect", rawForm(file(`; name="file"`+parameters)))
			switch got, _ := a.body["filename"].(string); {
			case want == "" && (a.status != http.StatusBadRequest || a.code() != fault.UnsupportedFile):
				t.Errorf("%q: %d %v", parameters, a.status, a.body)
			case want != got:
				t.Errorf("%q is taken for %q, want %q", parameters, got, want)
			}
		}
	})
}

// TestAKeysNameIsVisible: it appears in lists, mails and logs.
func TestAKeysNameIsVisible(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		b := s.signedIn(s.owner)
		for _, name := range []string{`a\u0007b`, `a\nb`, `a\u202eb`, `a\u200bb`, `\u0085`} {
			for _, keys := range []string{"/v1/api-keys", "/v1/agent-keys"} {
				if a := b.do("POST", keys, jsonBody(`{"name":"`+name+`"}`)); a.status != 400 || a.code() != fault.InvalidKeyName {
					t.Errorf("%s %s: %d %v", keys, name, a.status, a.body)
				}
			}
		}
	})
}

// TestABodyThatEndsEarlyIsToldSo: the closing boundary alone does not make a body whole.
func TestABodyThatEndsEarlyIsToldSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.URL(t, "sqlite"))
	for id, content := range map[string]body{
		"inspectUpload": rawForm(scene()), "createUpload": rawForm(scene()), "createRender": rawForm(scene()),
		"quoteUpload": jsonBody(`{"frame_start":1,"frame_end":1}`), "preflightRender": jsonBody(`{"filename":"scene.blend"}`),
	} {
		for _, op := range w.operations() {
			if op.id != id {
				continue
			}
			announced := fmt.Sprint("Content-Length: ", len(content.data)+7)
			res, text := w.sendRaw(op, op.takes[0], content.kind, [2]string{announced, string(content.data)})
			if res.StatusCode != 400 || !strings.Contains(string(text), string(fault.BodyTruncated)) {
				t.Errorf("%s: %d %s", id, res.StatusCode, text)
			}
		}
	}
}

// TestTheSameJSONInAnotherOrderIsTheSameRequest: an idempotency key names what is asked,
// not how a library writes it.
func TestTheSameJSONInAnotherOrderIsTheSameRequest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		path, once := "/node/v1/uploads/"+s.upload+"/quote", map[string]string{"Idempotency-Key": url.PathEscape(s.upload)}
		first := s.callWith("POST", path, s.agent, once, jsonBody(`{"frame_start":1,"frame_end":2}`))
		again := s.callWith("POST", path, s.agent, once, jsonBody("{\n  \"frame_end\": 2,\n  \"frame_start\": 1\n}\n"))
		if first.status != 200 || again.header.Get("Idempotency-Replayed") != "true" || first.text("quote_id") != again.text("quote_id") {
			t.Errorf("%d, then %d %v", first.status, again.status, again.body)
		}
		other := s.callWith("POST", path, s.agent, once, jsonBody(`{"frame_end":1,"frame_start":1}`))
		if other.status != 409 || other.code() != fault.IdempotencyKeyReused {
			t.Errorf("other frames: %d %s", other.status, other.code())
		}
	})
}
