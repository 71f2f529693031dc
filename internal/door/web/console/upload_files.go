package console

import (
	"encoding/json"
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/project"
)

// files is what the script asks for that adds missing files to an upload: the files that it has,
// in the form in which a project is sent. Error: upload_not_found.
func (s *Site) files(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	uploadID := r.PathValue("upload_id")
	if _, err := s.Intake.Inspected(r.Context(), who.WorkspaceID, uploadID); err != nil {
		return err
	}
	var has project.Manifest
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		has, err = project.ManifestOf(r.Context(), tx, uploadID)
		return err
	})
	if err != nil {
		return err
	}
	type file struct {
		Path      string   `json:"path"`
		SizeBytes int64    `json:"size_bytes"`
		Parts     []string `json:"parts"`
	}
	sent := struct {
		Main  string `json:"main"`
		Files []file `json:"files"`
	}{Main: has.Main}
	for _, f := range has.Files {
		sent.Files = append(sent.Files, file{f.Path, f.SizeBytes, f.Parts})
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(sent) // a failed write means the browser is gone
	return nil
}
