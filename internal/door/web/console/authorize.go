package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/oauth"
	"svc.example/internal/work/wallet"
)

// consentView is the content of the page on which a person answers a program.
type consentView struct {
	Client oauth.Client
	// Asked is the program's question, which the form sends back; empty for a device.
	Asked url.Values
	// UserCode is the code of a device; "" where a browser asks.
	UserCode string
	// To is the host that gets the answer; Here says that it is this computer.
	To   string
	Here bool
	// Spends says that it wants to spend.
	Spends      bool
	Limit, Days string
	Problem     *fault.Wire
}

// deviceView is the content of the page that takes a device's code.
type deviceView struct {
	Code    string
	Problem *fault.Wire
	// Done says what became of a device: "allowed" or "denied".
	Done string
}

// deviceAnswerPath takes a person's answer to a device.
const deviceAnswerPath = links.DevicePath + "/answer"

// asked are the parameters of a program's question that the form sends back.
var asked = []string{"response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method", "scope", "resource"}

// authorizeRoutes adds the pages on which a person answers programs.
func (s *Site) authorizeRoutes(mux *http.ServeMux) {
	mux.Handle("GET "+links.AuthorizePath, s.Page(s.AdmitAs(identity.Member, s.authorize)))
	mux.Handle("POST "+links.AuthorizePath, s.Page(s.Form(identity.Member, s.answerProgram)))
	mux.Handle("GET "+links.DevicePath, s.Page(s.AdmitAs(identity.Member, s.device)))
	s.FormAt(mux, deviceAnswerPath, links.DevicePath, identity.Member, s.answerDevice)
}

// authorize shows the program that asks and what it wants.
func (s *Site) authorize(r *http.Request, _ identity.Principal) (page.Page, error) {
	return s.consent(r, r.URL.Query(), consentView{Limit: strconv.Itoa(oauth.DefaultLimitCents / 100), Days: strconv.Itoa(oauth.DefaultDays)})
}

// consent reads a question and builds its page, or sends what is wrong with it back to the
// program.
func (s *Site) consent(r *http.Request, values url.Values, v consentView) (page.Page, error) {
	request, err := s.OAuth.Read(r.Context(), values)
	if refused, is := errors.AsType[*oauth.Error](err); is {
		return page.Page{Location: s.OAuth.Refused(request, refused)}, nil
	}
	if err != nil {
		return page.Page{}, err
	}
	v.Client, v.Asked, v.Spends = request.Client, url.Values{}, request.Scopes.Has(identity.ScopeSpend)
	for _, name := range asked {
		if values.Has(name) {
			v.Asked[name] = values[name]
		}
	}
	to, err := url.Parse(request.RedirectURI)
	if err != nil {
		return page.Page{}, err
	}
	v.To, v.Here = to.Host, to.Scheme == "http"
	formsTo := to.Scheme + "://" + to.Host
	if request.Private() {
		v.To, v.Here, formsTo = to.Scheme+"://"+to.Host, true, to.Scheme+":"
	}
	p := page.Page{Template: "consent", Title: "Let a program in", Section: page.KeysSection, NoScript: true, Content: v, FormsTo: formsTo}
	if v.Problem != nil {
		p.Status = http.StatusBadRequest
	}
	return p, nil
}

// answerProgram takes a person's answer and sends the browser back to the program.
func (s *Site) answerProgram(r *http.Request, who identity.Principal) (page.Page, error) {
	request, err := s.OAuth.Read(r.Context(), r.PostForm)
	if refused, is := errors.AsType[*oauth.Error](err); is {
		return page.Page{Location: s.OAuth.Refused(request, refused)}, nil
	}
	if err != nil {
		return page.Page{}, err
	}
	if r.PostForm.Get("answer") != "allow" {
		return page.Page{Location: s.OAuth.Deny(request)}, nil
	}
	v := consentView{Limit: strings.TrimSpace(r.PostForm.Get("limit")), Days: r.PostForm.Get("days")}
	terms, err := termsOf(who, request.Scopes, v.Limit, v.Days)
	var location string
	if err == nil {
		location, err = s.OAuth.Allow(r.Context(), request, terms)
	}
	if err != nil {
		if v.Problem = problemOf(err); v.Problem == nil {
			return page.Page{}, err
		}
		return s.consent(r, r.PostForm, v)
	}
	return page.Page{Location: location}, nil
}

// termsOf reads what a person allows. Error: invalid_request.
func termsOf(who identity.Principal, scopes identity.Scopes, limit, days string) (t oauth.Terms, err error) {
	t.WorkspaceID, t.PersonID = who.WorkspaceID, who.Credential.PersonID
	if scopes.Has(identity.ScopeSpend) {
		cents, err := page.Dollars("limit", limit, 0, wallet.MaxCents)
		if err == nil && cents == nil {
			err = fault.Field("limit", "must be an amount in US dollars, such as 10 or 2.50")
		}
		if err != nil {
			return t, err
		}
		t.SpendLimitCents = *cents
	}
	t.Days, err = strconv.Atoi(days)
	if err != nil {
		return t, fault.Field("days", "must be a number of days")
	}
	return t, nil
}

// problemOf is the text that a page shows for an error; nil for one of ours.
func problemOf(err error) *fault.Wire {
	status, problem := page.Refused(err)
	if status >= http.StatusInternalServerError {
		return nil
	}
	return problem
}

// device shows the field for a device's code, or, with one, the device that waits.
func (s *Site) device(r *http.Request, _ identity.Principal) (page.Page, error) {
	code := strings.TrimSpace(r.URL.Query().Get("user_code"))
	if code == "" {
		return devicePage(deviceView{}), nil
	}
	return s.deviceConsent(r, code, consentView{Limit: strconv.Itoa(oauth.DefaultLimitCents / 100), Days: strconv.Itoa(oauth.DefaultDays)})
}

func devicePage(v deviceView) page.Page {
	p := page.Page{Template: "device", Title: "Sign in a device", Section: page.KeysSection, NoScript: true, Content: v}
	if v.Problem != nil {
		p.Status = http.StatusBadRequest
	}
	return p
}

// deviceConsent builds the page of the device that waits with a code.
func (s *Site) deviceConsent(r *http.Request, code string, v consentView) (page.Page, error) {
	waiting, err := s.OAuth.Find(r.Context(), code)
	if err == nil {
		v.Client, err = s.OAuth.Clients.Get(r.Context(), waiting.ClientID)
	}
	if err != nil {
		problem := problemOf(err)
		if problem == nil {
			return page.Page{}, err
		}
		return devicePage(deviceView{Code: code, Problem: problem}), nil
	}
	v.UserCode, v.Spends = waiting.UserCode, waiting.Scopes.Has(identity.ScopeSpend)
	p := page.Page{Template: "consent", Title: "Sign in a device", Section: page.KeysSection, NoScript: true, Content: v}
	if v.Problem != nil {
		p.Status = http.StatusBadRequest
	}
	return p, nil
}

// answerDevice takes a person's answer to a device.
func (s *Site) answerDevice(r *http.Request, who identity.Principal) (page.Page, error) {
	code, done := r.PostForm.Get("user_code"), "denied"
	v := consentView{Limit: strings.TrimSpace(r.PostForm.Get("limit")), Days: r.PostForm.Get("days")}
	waiting, err := s.OAuth.Find(r.Context(), code)
	if err == nil && r.PostForm.Get("answer") == "allow" {
		done = "allowed"
		var terms oauth.Terms
		var client oauth.Client
		if terms, err = termsOf(who, waiting.Scopes, v.Limit, v.Days); err == nil {
			client, err = s.OAuth.Clients.Get(r.Context(), waiting.ClientID)
		}
		if err == nil {
			err = s.OAuth.AllowDevice(r.Context(), code, client, terms)
		}
	} else if err == nil {
		err = s.OAuth.DenyDevice(r.Context(), code)
	}
	if err != nil {
		if v.Problem = problemOf(err); v.Problem == nil {
			return page.Page{}, err
		}
		return s.deviceConsent(r, code, v)
	}
	return devicePage(deviceView{Done: done}), nil
}
