package web

import (
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
)

// settingsView is the content of the page of a workspace's settings.
type settingsView struct {
	Email, WorkspaceID string
	// Proofs says whether anybody may read the proof pages of the workspace.
	Proofs bool
	// Sessions are those of the person, the newest first.
	Sessions []identity.OpenSession
	// Notice confirms the last action; "" shows none.
	Notice string
}

// settings builds the page of a workspace's settings.
func (s *Site) settings(r *http.Request, who identity.Principal) (page, error) {
	v := settingsView{Email: who.Credential.Email, WorkspaceID: who.WorkspaceID}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) error {
		workspace, _, err := identity.WorkspaceOf(r.Context(), tx, who.WorkspaceID)
		if err != nil {
			return err
		}
		v.Proofs = workspace.ProofPage != 0
		token, err := identity.SessionToken(r)
		if err == nil {
			v.Sessions, err = identity.Sessions(r.Context(), tx, token)
		}
		return err
	})
	if r.URL.Query().Get("did") == "sessions" {
		v.Notice = "You are signed out everywhere else."
	}
	return page{Template: "settings", Title: "Settings", Section: settingsSection, Content: v}, err
}

// setProofPages shows or hides the proof pages.
func (s *Site) setProofPages(r *http.Request, who identity.Principal) (page, error) {
	show := r.PostForm.Get("show") == "yes"
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error { return identity.SetProofPages(r.Context(), tx, who.WorkspaceID, show) })
	return page{Location: settingsPath}, err
}

// endOtherSessions signs the person out everywhere else.
func (s *Site) endOtherSessions(r *http.Request, _ identity.Principal) (page, error) {
	token, err := identity.SessionToken(r)
	if err == nil {
		err = s.DB.Write(r.Context(), func(tx *db.Tx) error {
			_, err := identity.EndOtherSessions(r.Context(), tx, token)
			return err
		})
	}
	return page{Location: settingsPath + "?did=sessions"}, err
}
