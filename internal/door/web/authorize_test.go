package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/oauth"
)

const verifier = "a-verifier-of-the-command-line-with-forty-three-characters"

// questionOf is what a program on this computer asks whose answers go to redirect.
func questionOf(redirect string, more ...string) string {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {oauth.CommandLine}, "redirect_uri": {redirect}, "state": {"kept"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return "/oauth/authorize?" + q.Encode()
}

// listener is a program on this computer that waits for its answer.
func listener(t *testing.T) (address string, answers chan url.Values) {
	t.Helper()
	answers = make(chan url.Values, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			answers <- r.URL.Query()
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/", answers
}

// answer submits the form of a consent page with what it hides.
func (p *person) answer(page seen, fields ...string) seen {
	p.t.Helper()
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(page.text, -1) {
		fields = append(fields, m[1], strings.NewReplacer("&amp;", "&", "&#43;", "+").Replace(m[2]))
	}
	action := regexp.MustCompile(`action="(/oauth/[a-z/]+)"`).FindStringSubmatch(page.text)
	return p.submit(action[1], fields...)
}

// program sends a form as a program does, without a cookie.
func program(t *testing.T, base, path string, form url.Values) (int, map[string]any) {
	t.Helper()
	res, err := http.PostForm(base+path, form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Access-Control-Allow-Origin") != "*" && path != "/oauth/device" {
		t.Errorf("%s has the headers %v", path, res.Header)
	}
	var body map[string]any
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body
}

// call sends a request with a bearer token and returns its status and challenge.
func call(t *testing.T, method, address, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Header.Get("WWW-Authenticate")
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// letIn has a person let a program on this computer in and returns its tokens.
func (p *person) letIn(question func(redirect string) string, fields ...string) map[string]any {
	p.t.Helper()
	redirect, answers := listener(p.t)
	page := p.open(question(redirect)).want(p.t, http.StatusOK)
	p.answer(page, append([]string{"answer", "allow", "limit", "10", "days", "30"}, fields...)...).want(p.t, http.StatusOK)
	q := <-answers
	if q.Get("state") != "kept" || q.Get("iss") != p.base || q.Get("code") == "" {
		p.t.Fatalf("answered with %v", q)
	}
	status, tokens := program(p.t, p.base, "/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {oauth.CommandLine}, "code": {q.Get("code")}, "redirect_uri": {redirect}, "code_verifier": {verifier},
	})
	if status != http.StatusOK {
		p.t.Fatalf("no tokens: %v", tokens)
	}
	return tokens
}

func TestAProgramOnThisComputerIsLetInAndListedAndEnded(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 0)
		tokens := p.letIn(func(to string) string { return questionOf(to) }, "limit", "2.50")
		access := fmt.Sprint(tokens["access_token"])
		if status, _ := call(t, http.MethodPost, p.base+"/mcp", access, listTools); status != http.StatusOK {
			t.Errorf("the tools answer %d", status)
		}
		if status, _ := call(t, http.MethodGet, p.base+"/v1/wallet", access, ""); status != http.StatusUnauthorized {
			t.Errorf("a token for the tools at the API: %d", status)
		}
		page := p.open("/console/keys").want(t, http.StatusOK, "svc command line", "$0.00 of $2.50", ", ends ")
		row := page.text[strings.Index(page.text, "svc command line"):]
		p.submit("/console/keys/" + regexp.MustCompile(`key_[0-9a-f]{32}`).FindString(row) + "/revoke")
		if status, _ := call(t, http.MethodPost, p.base+"/mcp", access, listTools); status != http.StatusUnauthorized {
			t.Errorf("after the end: %d", status)
		}
		if status, body := program(t, p.base, "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {oauth.CommandLine}, "refresh_token": {fmt.Sprint(tokens["refresh_token"])}}); status != http.StatusBadRequest || body["error"] != "invalid_grant" {
			t.Errorf("a refresh after the end: %d %v", status, body)
		}
	})
}

func TestATokenForTheAPIStartsNothingAtTheTools(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 0)
	tokens := p.letIn(func(to string) string { return questionOf(to, "resource", p.base, "scope", "render:read") })
	access := fmt.Sprint(tokens["access_token"])
	if status, _ := call(t, http.MethodGet, p.base+"/v1/wallet", access, ""); status != http.StatusOK {
		t.Errorf("the API answers %d", status)
	}
	if status, _ := call(t, http.MethodPost, p.base+"/mcp", access, listTools); status != http.StatusUnauthorized {
		t.Errorf("the tools answer %d", status)
	}
	if status, _ := call(t, http.MethodPost, p.base+"/node/v1/uploads/UPL-00000000000000000000000000000000/start", access, `{"quote_id":"QTE-00000000000000000000000000000000","legal_acceptance":"SVC_LEGAL_V1"}`); status != http.StatusForbidden {
		t.Errorf("a token that reads starts: %d", status)
	}
}

func TestARunningRequestEndsWithItsToken(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 0)
	access := fmt.Sprint(p.letIn(func(to string) string { return questionOf(to, "resource", p.base) })["access_token"])
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/node/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+access)
	stream, err := http.DefaultClient.Do(r)
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", stream, err)
	}
	defer stream.Body.Close()
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = io.Copy(io.Discard, stream.Body) }()
	program(t, p.base, "/oauth/revoke", url.Values{"token": {access}, "client_id": {oauth.CommandLine}})
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the stream continues")
	}
}

func TestAnotherSiteCanNeitherAnswerNorFrameNorStealAQuestion(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 0)
	redirect, answers := listener(t)
	page := p.open(questionOf(redirect)).want(t, http.StatusOK, "svc command line", "Not verified", "Monthly limit", `value="10"`, "A program on this computer")
	origin := strings.TrimSuffix(redirect, "/")
	policy := page.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "form-action 'self' "+origin+";") || !strings.Contains(policy, "frame-ancestors 'none'") || page.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the policy is %s, kept %s", policy, page.header.Get("Cache-Control"))
	}
	elsewhere := func(r *http.Request) {
		r.Header.Set("Origin", "https://evil.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	q, _ := url.Parse(questionOf(redirect))
	form := q.RawQuery + "&answer=allow&limit=10&days=30"
	for _, path := range []string{"/oauth/authorize", "/oauth/device/answer"} {
		p.ask(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form), elsewhere).want(t, http.StatusForbidden)
	}
	p.answer(page, "answer", "deny").want(t, http.StatusOK)
	if q := <-answers; q.Get("error") != "access_denied" || q.Get("state") != "kept" || q.Has("code") {
		t.Errorf("after a no: %v", q)
	}
	for _, fields := range [][]string{{"limit", ""}, {"limit", "lots"}, {"limit", "-1"}, {"days", "0"}, {"days", "1000"}, {"days", "soon"}} {
		p.answer(page, append([]string{"answer", "allow", "limit", "10", "days", "30"}, fields...)...).want(t, http.StatusBadRequest, `role="alert"`, "Allow this program to use your workspace?")
	}
	for name, path := range map[string]string{
		"to another host": questionOf("https://evil.example/"), "to another client": questionOf(redirect, "client_id", "https://127.0.0.1/client.json"),
	} {
		if got := p.open(path); got.status != http.StatusBadRequest || !strings.HasPrefix(got.path, "/oauth/authorize") {
			t.Errorf("%s: %d at %s", name, got.status, got.path)
		}
	}
	if len(answers) != 0 {
		t.Errorf("something was sent: %v", <-answers)
	}
	if strings.Contains(p.open("/console/keys").text, "svc command line") {
		t.Error("there is a key")
	}
}

func TestWhoSignsInFirstComesBackToTheQuestionAndNowhereElse(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	stranger := &person{t: t, base: w.URL}
	page := stranger.open(questionOf("http://127.0.0.1:1/")).want(t, http.StatusUnauthorized, "Sign in")
	cookie := page.header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "svc_return=") || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
		t.Fatalf("the cookie is %q", cookie)
	}
	value := strings.TrimPrefix(strings.Split(cookie, ";")[0], "svc_return=")
	const nowhere = "/v1/auth/callback" // the page that confirms the sign-in, which leads to the console
	of := func(address string) string { return base64.RawURLEncoding.EncodeToString([]byte(address)) }
	for kept, want := range map[string]string{
		value: "/oauth/authorize?", of("/oauth/device?user_code=BCDF-GHJK"): "/oauth/device?user_code=BCDF-GHJK",
		of("/console/wallet?before=1"): "/console/wallet?before=1", of("/admin/jobs"): "/admin/jobs",
		of("https://evil.example/"): nowhere, of("//evil.example/oauth/authorize?"): nowhere, of("/oauth/authorize.evil"): nowhere, of("/console.evil"): nowhere, "%%%": nowhere,
	} {
		token := linkFor(t, w, stranger)
		got := stranger.ask(http.MethodPost, "/v1/auth/callback", "application/x-www-form-urlencoded", strings.NewReader("token="+token), func(r *http.Request) {
			r.Header.Set("Cookie", "svc_return="+kept)
		})
		if !strings.HasPrefix(got.path, want) || (want == nowhere && !strings.Contains(got.text, `href="/console"`)) {
			t.Errorf("%q leads to %s: %s", kept, got.path, got.text)
		}
	}
}

func TestADeviceIsSignedInByItsCode(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 0)
		begin := func() (string, url.Values) {
			_, d := program(t, p.base, "/oauth/device", url.Values{"client_id": {oauth.CommandLine}})
			return fmt.Sprint(d["user_code"]), url.Values{
				"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {oauth.CommandLine}, "device_code": {fmt.Sprint(d["device_code"])},
			}
		}
		code, poll := begin()
		p.open("/oauth/device").want(t, http.StatusOK, "Enter the code", "signs them in, not you")
		p.open("/oauth/device?user_code=XXXX-XXXX").want(t, http.StatusBadRequest, "No device is waiting")
		page := p.open("/oauth/device?user_code="+strings.ToLower(code)).want(t, http.StatusOK, code, "If somebody sent you the code or the link")
		if status, body := program(t, p.base, "/oauth/token", poll); status != http.StatusBadRequest || body["error"] != "authorization_pending" {
			t.Errorf("before an answer: %d %v", status, body)
		}
		p.answer(page, "answer", "allow", "limit", "", "days", "30").want(t, http.StatusBadRequest, `role="alert"`)
		p.answer(page, "answer", "allow", "limit", "5", "days", "30").want(t, http.StatusOK, "The device is signed in")
		status, tokens := program(t, p.base, "/oauth/token", poll)
		if status != http.StatusOK {
			t.Fatalf("%d %v", status, tokens)
		}
		if status, _ := call(t, http.MethodPost, p.base+"/mcp", fmt.Sprint(tokens["access_token"]), listTools); status != http.StatusOK {
			t.Errorf("the tools answer %d", status)
		}
		code, poll = begin()
		p.answer(p.open("/oauth/device?user_code="+code), "answer", "deny", "limit", "5", "days", "30").want(t, http.StatusOK, "was denied")
		if _, body := program(t, p.base, "/oauth/token", poll); body["error"] != "access_denied" {
			t.Errorf("after a no: %v", body)
		}
	})
}

func TestDiscoveryLeadsFromTheToolsToTheQuestion(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := &person{t: t, base: w.URL}
	read := func(address string) (document map[string]any) {
		t.Helper()
		res, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(&document); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", address, res.StatusCode, err)
		}
		return document
	}
	for _, token := range []string{"", "svc_agent_" + strings.Repeat("x", 43)} {
		status, challenge := call(t, http.MethodPost, p.base+"/mcp", token, listTools)
		if want := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="render:read render:spend"`, p.base); status != http.StatusUnauthorized || !strings.HasPrefix(challenge, want) || strings.HasSuffix(challenge, want) != (token == "") {
			t.Errorf("%d %s", status, challenge)
		}
	}
	if status, challenge := call(t, http.MethodGet, p.base+"/v1/wallet", "", ""); status != http.StatusUnauthorized || challenge != "Bearer" {
		t.Errorf("elsewhere: %d %s", status, challenge)
	}
	for path, resource := range map[string]string{"": p.base, "/mcp": p.base + "/mcp"} {
		d := read(p.base + "/.well-known/oauth-protected-resource" + path)
		if d["resource"] != resource || fmt.Sprint(d["authorization_servers"]) != "["+p.base+"]" {
			t.Errorf("%s: %v", path, d)
		}
	}
	d := read(p.base + "/.well-known/oauth-authorization-server")
	if d["issuer"] != p.base || fmt.Sprint(d["code_challenge_methods_supported"]) != "[S256]" || fmt.Sprint(d["client_id_metadata_document_supported"]) != "true" || d["registration_endpoint"] != nil {
		t.Errorf("%v", d)
	}
	for _, name := range []string{"authorization_endpoint", "token_endpoint", "revocation_endpoint", "device_authorization_endpoint"} {
		if status, _ := call(t, http.MethodPost, fmt.Sprint(d[name]), "", "{}"); status == http.StatusNotFound || status == http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", name, status)
		}
	}
}

func TestProgramsRegisterOnlyWhereTheOperatorLetsThem(t *testing.T) {
	t.Parallel()
	register := func(base, kind, body string) (int, map[string]any) {
		t.Helper()
		res, err := http.Post(base+"/oauth/register", kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var answer map[string]any
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusNotFound && (res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Access-Control-Allow-Origin") != "*") {
			t.Errorf("the headers are %v", res.Header)
		}
		return res.StatusCode, answer
	}
	const description = `{"client_name":"Painter","redirect_uris":["https://app.example/back"]}`
	if status, answer := register(worlds.On(t, "sqlite").URL, "application/json", description); status != http.StatusNotFound {
		t.Errorf("without leave: %d %v", status, answer)
	}
	w := registering.On(t, "sqlite")
	for name, c := range map[string][2]string{"a form": {"application/x-www-form-urlencoded", "client_name=x"}, "6 kB": {"application/json", `{"client_name":"` + strings.Repeat("x", 6<<10) + `"}`}, "nothing": {"application/json", ""}} {
		if status, answer := register(w.URL, c[0], c[1]); status != http.StatusBadRequest || answer["error"] != "invalid_client_metadata" {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
	status, answer := register(w.URL, "application/json", description)
	if status != http.StatusCreated || answer["token_endpoint_auth_method"] != "none" || answer["client_secret"] != nil {
		t.Fatalf("%d %v", status, answer)
	}
	p := personOf(t, w, 0)
	question := questionOf("https://app.example/back", "client_id", fmt.Sprint(answer["client_id"]))
	p.open(question).want(t, http.StatusOK, "Painter", "Not verified: it registered itself", "app.example")
	if page := p.open(question+"&response_type=token").want(t, http.StatusBadRequest, "made an invalid request"); page.header.Get("Location") != "" {
		t.Error("an error sends the browser on")
	}
}

func TestTheTokenEndpointTakesFormsOnly(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	for _, c := range []struct{ path, kind, body string }{
		{"/oauth/token", "application/json", `{"grant_type":"refresh_token"}`}, {"/oauth/token?grant_type=refresh_token", "application/x-www-form-urlencoded", ""},
		{"/oauth/token", "application/x-www-form-urlencoded", "code=" + strings.Repeat("x", 20<<10)}, {"/oauth/token", "application/x-www-form-urlencoded", "client_id=%00"},
		{"/oauth/token", "application/x-www-form-urlencoded", "client_id=%ff"}, {"/oauth/revoke", "text/plain", "token=x"}, {"/oauth/device", "", ""},
	} {
		res, err := http.Post(w.URL+c.path, c.kind, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		var body map[string]any
		err = json.NewDecoder(res.Body).Decode(&body)
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest || body["error"] != "invalid_request" || err != nil {
			t.Errorf("%+.60v: %d %v", c, res.StatusCode, body)
		}
	}
}

// linkFor is the token of a sign-in link for a new person.
func linkFor(t *testing.T, w *apptest.World, p *person) (token string) {
	t.Helper()
	err := w.App.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
		token, err = identity.CreateSignInLink(t.Context(), tx, id.New("person-")+"@example.com")
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return token
}

// deviceCode is what a person types for a device that waits.
func deviceCode(t *testing.T, base string) string {
	t.Helper()
	_, d := program(t, base, "/oauth/device", url.Values{"client_id": {oauth.CommandLine}})
	return fmt.Sprint(d["user_code"])
}
