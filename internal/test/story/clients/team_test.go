package clients_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
)

// TestATeamSharesAWorkspaceUntilOneOfItIsRemovedInTheMiddleOfAnUpload has an owner invite an
// artist and a client by mail.
func TestATeamSharesAWorkspaceUntilOneOfItIsRemovedInTheMiddleOfAnUpload(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		server := mailing(t, &config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		owner := signInByMail(t, svc, c, server)
		see(t, owner, http.MethodPost, svc.URL+"/console/settings/name", url.Values{"name": {"<b>Studio</b>"}})
		invite := func(email, role string) (link string) {
			see(t, owner, http.MethodPost, svc.URL+"/console/members", url.Values{"email": {email}, "role": {role}})
			text := await.Next(t, server.Messages, "the invitation").Text
			if strings.Contains(text, "Studio") || !strings.Contains(text, "@example.com invites you") {
				t.Errorf("the mail is %s", text)
			}
			return regexp.MustCompile(regexp.QuoteMeta(svc.URL) + `/console/invitation\?token=\w+`).FindString(text)
		}
		join := func(browser *http.Client, link string) {
			if page := see(t, browser, http.MethodGet, link, nil); !strings.Contains(page, "&lt;b&gt;Studio&lt;/b&gt;") || strings.Contains(page, "<b>Studio") {
				t.Errorf("the invitation shows %s", page)
			}
			_, token, _ := strings.Cut(link, "token=")
			see(t, browser, http.MethodPost, svc.URL+"/console/invitation", url.Values{"token": {token}})
		}

		link := invite("artist@example.com", "member")
		story.Get(t, http.MethodGet, link, nil).Want(t, http.StatusUnauthorized, "")
		thief := press(t, svc, linkFor(svc, "thief@example.com"))
		if status, page := visit(t, thief, http.MethodGet, link, nil); status != http.StatusBadRequest || strings.Contains(page, "Studio") {
			t.Errorf("a forwarded invitation: %d %s", status, page)
		}
		artist := press(t, svc, linkFor(svc, "artist@example.com"))
		join(artist, link)
		_, token, _ := strings.Cut(link, "token=")
		if status, _ := visit(t, artist, http.MethodPost, svc.URL+"/console/invitation", url.Values{"token": {token}}); status != http.StatusBadRequest {
			t.Errorf("an invitation that was used: %d", status)
		}

		priced, page := uploadForm(t, svc, artist)
		order := url.Values{"quote_id": {hidden(t, page, "quote_id")}, "frames": {"1-2"}, "terms": {contract.LegalAcceptance}}
		order.Set("quote_id", hidden(t, see(t, artist, http.MethodPost, priced+"/frames", url.Values{"frames": {"1-2"}}), "quote_id"))
		looker := press(t, svc, linkFor(svc, "client@example.com"))
		join(looker, invite("client@example.com", "viewer"))
		if status, _ := visit(t, looker, http.MethodPost, priced+"/start", order); status != http.StatusForbidden {
			t.Errorf("a viewer starts a job: %d", status)
		}
		if page := see(t, looker, http.MethodGet, priced, nil); strings.Contains(page, "/start") || !strings.Contains(page, "Owners and members") {
			t.Error("a viewer sees how to start a job")
		}
		stop := svc.Worker(&story.Painter{})
		begun := see(t, artist, http.MethodPost, priced+"/start", order)
		jobID := regexp.MustCompile(`JOB-[0-9a-f]{32}`).FindString(begun)
		c.Await(jobID, client.StatusCompleted)
		stop()
		if page := see(t, looker, http.MethodGet, svc.URL+"/console/jobs/"+jobID, nil); !strings.Contains(page, "completed") || strings.Contains(page, "rerender") {
			t.Error("a viewer does not see the job as it is")
		}

		underWay, ended := halfAnUpload(t, svc, artist)
		await.Next(t, underWay, "half of an upload")
		removed := regexp.MustCompile(`/console/members/(PER-[0-9a-f]{32})/remove"><button class="quiet small" aria-label="Remove artist`).FindStringSubmatch(see(t, owner, http.MethodGet, svc.URL+"/console/members", nil))
		see(t, owner, http.MethodPost, svc.URL+"/console/members/"+removed[1]+"/remove", nil)
		if status := await.Next(t, ended, "the end of the upload"); status == http.StatusOK {
			t.Error("the upload of a removed person was taken")
		}
		if status, _ := visit(t, artist, http.MethodGet, svc.URL+"/console/jobs/"+jobID, nil); status != http.StatusUnauthorized {
			t.Errorf("the next request: %d", status)
		}
		alone := press(t, svc, linkFor(svc, "artist@example.com"))
		if page := see(t, alone, http.MethodGet, svc.URL+"/console", nil); !strings.Contains(page, "No jobs yet") {
			t.Error("a removed person does not come back to a workspace of their own")
		}
	})
}

// linkFor is the token of a sign-in link that an operator makes.
func linkFor(svc *story.Service, email string) (token string) {
	svc.Write(func(ctx context.Context, tx *db.Tx) (err error) {
		token, err = identity.CreateSignInLink(ctx, tx, email)
		return err
	})
	return token
}

// visit is see of a page of any status.
func visit(t *testing.T, browser *http.Client, method, address string, form url.Values) (status int, page string) {
	t.Helper()
	req := story.Request(t, method, address, "", form.Encode())
	req.Header.Del("Authorization")
	req.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	res, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// uploadForm sends the demo's scene by the form of New render, and returns where it leads.
func uploadForm(t *testing.T, svc *story.Service, browser *http.Client) (address, page string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "scene.blend")
	if err == nil {
		_, err = part.Write(demo.Scene())
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := browser.Do(formRequest(t, svc.URL+"/console/new", form, &body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", res.Status, err, text)
	}
	return res.Request.URL.String(), string(text)
}

func formRequest(t *testing.T, address string, form *multipart.Writer, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return req
}

func hidden(t *testing.T, page, name string) string {
	t.Helper()
	m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no field %s: %s", name, page)
	}
	return m[1]
}

// halfAnUpload sends more of a file than fits between the browser and the service, and then
// continues slowly. ended gets the status of the answer; 0 for a connection that was closed.
func halfAnUpload(t *testing.T, svc *story.Service, browser *http.Client) (underWay chan struct{}, ended chan int) {
	t.Helper()
	read, write := io.Pipe()
	form := multipart.NewWriter(write)
	underWay, ended = make(chan struct{}), make(chan int, 1)
	go func() {
		part, err := form.CreateFormFile("file", "scene.blend")
		if err == nil {
			_, err = part.Write(append(demo.Scene(), make([]byte, 24<<20)...))
		}
		if err == nil {
			close(underWay)
		}
		for err == nil { // a request between two pieces slows it down
			if res, failed := http.Get(svc.URL + "/v1/health"); failed == nil {
				_ = res.Body.Close()
			}
			_, err = part.Write(make([]byte, 1<<10))
		}
	}()
	alone := &http.Client{Jar: &fixedJar{browser.Jar}}
	go func() {
		res, err := alone.Do(formRequest(t, svc.URL+"/console/new", form, read))
		_ = read.Close()
		if err != nil {
			ended <- 0
			return
		}
		_ = res.Body.Close()
		ended <- res.StatusCode
	}()
	return underWay, ended
}

// fixedJar has the cookies of another jar, and keeps none.
type fixedJar struct {
	http.CookieJar
}

// SetCookies implements http.CookieJar.
func (*fixedJar) SetCookies(*url.URL, []*http.Cookie) {}
