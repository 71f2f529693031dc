package console

import (
	"net/http"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/wallet"
)

// settingsView is the content of the page of a workspace's settings.
type settingsView struct {
	Email, WorkspaceID, Name string
	// Theme is the one that the person has chosen; "" for the system's.
	Theme string
	// Mails says that the service mails how jobs end.
	Mails bool
	// Verified says that the address is verified, Told that the ends of jobs are mailed to it.
	Verified, Told bool
	// Proofs says whether the proof pages of the workspace are public.
	Proofs bool
	// Sessions are those of the person, the newest first.
	Sessions []identity.OpenSession
	// Available is what is left in the wallet, in cents.
	Available int64
	// Problem is why the last form was refused; nil when none was.
	Problem *fault.Wire
	// Notice confirms the last action; "" shows none.
	Notice string
}

// settings builds the page of a workspace's settings.
func (s *Site) settings(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.settingsPage(r, who, nil)
}

func (s *Site) settingsPage(r *http.Request, who identity.Principal, problem *fault.Wire) (page.Page, error) {
	v := settingsView{Problem: problem, Email: who.Credential.Email, WorkspaceID: who.WorkspaceID, Theme: page.ThemeOf(r), Mails: s.Mails}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) error {
		workspace, _, err := identity.WorkspaceOf(r.Context(), tx, who.WorkspaceID)
		if err != nil {
			return err
		}
		v.Proofs, v.Name = workspace.ProofPage != 0, workspace.Name
		balance, err := wallet.Get(r.Context(), tx, who.WorkspaceID)
		if err != nil {
			return err
		}
		v.Available = balance.AvailableCents
		if v.Verified, v.Told, err = notice.Wants(r.Context(), tx, who.Credential.Email); err != nil {
			return err
		}
		token, err := identity.SessionToken(r)
		if err == nil {
			v.Sessions, err = identity.Sessions(r.Context(), tx, token)
		}
		return err
	})
	switch r.URL.Query().Get("did") {
	case "sessions":
		v.Notice = "You are signed out everywhere else."
	case "name":
		v.Notice = "The workspace has its new name."
	}
	return page.Page{Template: "settings", Title: "Settings", Section: page.SettingsSection, Content: v}, err
}

// rename gives the workspace a name.
func (s *Site) rename(r *http.Request, who identity.Principal) (page.Page, error) {
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error {
		return identity.Rename(r.Context(), tx, who.WorkspaceID, r.PostForm.Get("name"))
	})
	if fault.Is(err, fault.InvalidRequest) {
		_, problem := page.Refused(err)
		p, err := s.settingsPage(r, who, problem)
		p.Status = http.StatusBadRequest
		return p, err
	}
	return page.Page{Location: settingsPath + "?did=name"}, err
}

// setTheme keeps the theme that the person chooses, in this browser.
func (s *Site) setTheme(r *http.Request, _ identity.Principal) (page.Page, error) {
	return page.Page{Location: settingsPath, Cookie: s.ThemeCookie(r.PostForm.Get("theme"))}, nil
}

// setProofPages shows or hides the proof pages.
func (s *Site) setProofPages(r *http.Request, who identity.Principal) (page.Page, error) {
	show := r.PostForm.Get("show") == "yes"
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error { return identity.SetProofPages(r.Context(), tx, who.WorkspaceID, show) })
	return page.Page{Location: settingsPath}, err
}

// endOtherSessions signs the person out everywhere else.
func (s *Site) endOtherSessions(r *http.Request, _ identity.Principal) (page.Page, error) {
	token, err := identity.SessionToken(r)
	if err == nil {
		err = s.DB.Write(r.Context(), func(tx *db.Tx) error {
			_, err := identity.EndOtherSessions(r.Context(), tx, token)
			return err
		})
	}
	return page.Page{Location: settingsPath + "?did=sessions"}, err
}

// leave erases the workspace for good, once the person has typed the address to say so. It
// asks for the address because erasing cannot be undone.
func (s *Site) leave(r *http.Request, who identity.Principal) (page.Page, error) {
	var err error
	if !strings.EqualFold(strings.TrimSpace(r.PostForm.Get("email")), who.Credential.Email) {
		err = fault.New(fault.InvalidRequest, "Nothing was erased. Type %s to confirm.", who.Credential.Email)
	} else if err = s.Leave(r.Context(), who.WorkspaceID); err == nil {
		return page.Page{Location: "/", Cookie: new(identity.ClearedCookie(s.Links.PublicURL))}, nil
	}
	problem := fault.Wire{Code: fault.InvalidRequest}
	switch {
	case fault.Is(err, fault.InvalidRequest), fault.Is(err, fault.WorkspaceFrozen):
		_, told := page.Refused(err)
		problem.Message = told.Message
	case fault.Is(err, fault.JobsNotEnded), fault.Is(err, fault.MoneyReserved):
		problem.Message = "Nothing was erased: a job has not ended. Cancel it, or wait for its end."
	default:
		return page.Page{}, err
	}
	p, err := s.settingsPage(r, who, &problem)
	p.Status = http.StatusConflict
	return p, err
}
