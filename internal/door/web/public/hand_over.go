package public

import (
	"net/http"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
)

// handOverView is the content of the page where a person gives an agent a file.
type handOverView struct {
	Arrived   bool
	Refused   *fault.Wire // why the last file was refused; nil when none was
	ExpiresAt time.Time
	MiB       int64
	Extension string
}

// handOver builds the page of an agent's one-time link: hosted agents cannot read a file of
// the person's own computer. The signed link is the only authorisation, as it is for curl,
// so the page shows only whether a file has arrived. Its form goes to the same address,
// which package agent answers. Errors: link_invalid, upload_not_found.
func (s *Site) handOver(r *http.Request) (page.Page, error) {
	upload, query := r.PathValue("upload_id"), r.URL.Query()
	err := s.DB.Read(r.Context(), func(tx *db.Tx) error {
		return s.Links.CheckUpload(upload, query.Get("expires"), query.Get("signature"), tx.Time())
	})
	if err != nil {
		return page.Page{}, err
	}
	a, arrived, err := s.Intake.Linked(r.Context(), upload)
	if err != nil {
		return page.Page{}, err
	}
	v := handOverView{Arrived: arrived, ExpiresAt: a.ExpiresAt, MiB: contract.MaxUploadBytes >> 20, Extension: contract.InputExtension}
	if a.Refused != nil && !arrived {
		_, envelope := fault.Envelope(a.Refused, "")
		v.Refused = &envelope.Error
	}
	return page.Page{Template: "hand_over", Title: "Send a file to your agent", Content: v, Private: true, Unlisted: true, Forms: true, NoScript: true}, nil
}
