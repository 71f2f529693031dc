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
}

// settings builds the page of a workspace's settings.
func (s *Site) settings(r *http.Request, who identity.Principal) (page, error) {
	v := settingsView{Email: who.Credential.Email, WorkspaceID: who.WorkspaceID}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) error {
		workspace, _, err := identity.WorkspaceOf(r.Context(), tx, who.WorkspaceID)
		v.Proofs = workspace.ProofPage != 0
		return err
	})
	return page{Template: "settings", Title: "Settings", Section: settingsSection, Content: v}, err
}

// setProofPages shows or hides the proof pages.
func (s *Site) setProofPages(r *http.Request, who identity.Principal) (page, error) {
	show := r.PostForm.Get("show") == "yes"
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error { return identity.SetProofPages(r.Context(), tx, who.WorkspaceID, show) })
	return page{Location: settingsPath}, err
}
