package console

import (
	"net/http"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/notice"
)

// setMails switches the mails about the person's jobs on or off.
func (s *Site) setMails(r *http.Request, who identity.Principal) (page.Page, error) {
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error {
		return notice.Set(r.Context(), tx, who.Credential.PersonID, r.PostForm.Get("on") == "yes")
	})
	return page.Page{Location: settingsPath}, err
}

// mailsView is the content of the page that ends mails.
type mailsView struct {
	Action string // where the form goes below links.NoticesPath; "" once the mails have ended
}

// askUnsubscribe builds the page to which the link of a mail leads. It changes nothing, because mail
// scanners follow links.
func (s *Site) askUnsubscribe(r *http.Request) (page.Page, error) {
	if err := s.checkUnsubscribe(r); err != nil {
		return page.Page{}, err
	}
	return mailsPage(mailsView{strings.TrimPrefix(r.URL.RequestURI(), links.NoticesPath)}), nil
}

// unsubscribe ends the mails to a person. Mail programs call it without a browser (RFC 8058), so
// the signature of the address is all that it asks for.
func (s *Site) unsubscribe(r *http.Request) (page.Page, error) {
	if err := s.checkUnsubscribe(r); err != nil {
		return page.Page{}, err
	}
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error {
		return notice.Set(r.Context(), tx, r.PathValue("person_id"), false)
	})
	return mailsPage(mailsView{}), err
}

func (s *Site) checkUnsubscribe(r *http.Request) error {
	q := r.URL.Query()
	return s.DB.Read(r.Context(), func(tx *db.Tx) error {
		return s.Links.CheckNotices(r.PathValue("person_id"), q.Get("expires"), q.Get("signature"), tx.Time())
	})
}

func mailsPage(v mailsView) page.Page {
	return page.Page{Template: "mails", Title: "E-mails about your jobs", Private: true, Unlisted: true, Forms: true, Content: v}
}
