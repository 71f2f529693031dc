package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/quote"
)

// newView is the content of the page where a person sends a scene.
type newView struct {
	// Problem is why the last file was refused; nil when none was.
	Problem *fault.Wire
	// Frozen is why the workspace cannot start anything; nil while it can.
	Frozen *freeze.Frozen
	// PartBytes is how the script cuts files, and MiB the most that a form may carry.
	PartBytes, MiB int64
}

// newPage builds the page of a new render.
func newPage(v newView) page.Page {
	v.PartBytes, v.MiB = contract.MaxPartBytes, contract.MaxUploadBytes>>20
	return page.Page{Template: "new", Title: "New render", Section: page.NewSection, Content: v, Scripts: []string{"upload.js"}}
}

// refusedFile builds the page of a new render with why a file was refused.
func refusedFile(problem *fault.Wire) page.Page { return newPage(newView{Problem: problem}) }

// newRender builds the page that takes a scene. A frozen workspace learns of it before it
// uploads anything.
func (s *Site) newRender(r *http.Request, who identity.Principal) (page.Page, error) {
	var v newView
	err := s.DB.ReadStatement(r.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		v.Frozen, err = freeze.Of(ctx, tx, who.WorkspaceID)
		return err
	})
	return newPage(v), err
}

// formSlack is how many bytes a form may have in addition to the file.
const formSlack = 64 << 10

// receive takes a file that a form sends, prices its own frames, and leads to the price. A
// person who is not signed in is refused before the file has come.
func (s *Site) receive(w http.ResponseWriter, r *http.Request) error {
	if err := s.CheckOrigin(r); err != nil {
		return err
	}
	p, err := s.AdmitAs(identity.Member, func(r *http.Request, who identity.Principal) (page.Page, error) {
		r.Body = intake.WithPace(r.Body, http.NewResponseController(w), s.UploadStall)
		received, err := s.fileOf(r, who)
		if err != nil {
			return refusedOn(refusedFile, err)
		}
		return priceOf(r, received)
	})(r)
	if err != nil {
		return err
	}
	return s.Show(w, r, p)
}

// sample uploads the sample scene, so that a newcomer can render without a file.
func (s *Site) sample(r *http.Request, who identity.Principal) (page.Page, error) {
	scene := demo.Scene()
	received, err := s.Intake.Receive(r.Context(), who.WorkspaceID, intake.File{Name: demo.Filename, Body: bytes.NewReader(scene), Announced: int64(len(scene))})
	if err != nil {
		return refusedOn(refusedFile, err)
	}
	return priceOf(r, received)
}

// priceOf prices the own frames of a scene that was received, and leads to its page.
func priceOf(r *http.Request, received *intake.Received) (page.Page, error) {
	defer received.Abort()
	i, err := received.Quote(r.Context(), quote.RequestedFrames{}, func(*db.Tx, intake.Inspection) error { return nil })
	if err != nil {
		return refusedOn(refusedFile, err)
	}
	return page.Page{Location: uploadsPath + i.UploadID}, nil
}

// refusedOn builds a page with what was refused. An error of the service itself is
// returned: it belongs on the error page.
func refusedOn(build func(problem *fault.Wire) page.Page, err error) (page.Page, error) {
	status, problem := page.Refused(err)
	if status >= http.StatusInternalServerError || fault.Is(err, fault.Unauthenticated) {
		return page.Page{}, err
	}
	p := build(problem)
	p.Status = status
	return p, nil
}

// fileOf receives the file of a form: a .blend, or a .zip with one and its files. The
// caller ends it. Errors: those of intake.Receive and of Archive.Unpack, invalid_request.
func (s *Site) fileOf(r *http.Request, who identity.Principal) (*intake.Received, error) {
	if r.ContentLength > contract.MaxUploadBytes+formSlack {
		return nil, intake.TooLarge()
	}
	form, err := intake.OpenForm(r)
	if err != nil {
		return nil, err
	}
	for {
		part, err := form.Next()
		if errors.Is(err, io.EOF) {
			return nil, fault.New(fault.InvalidRequest, "Choose a file first.")
		}
		if err != nil {
			return nil, err
		}
		if part.FormName() == "file" {
			return s.receivePart(r, who, part)
		}
	}
}

func (s *Site) receivePart(r *http.Request, who identity.Principal, part *multipart.Part) (*intake.Received, error) {
	name, err := intake.NameOf(part)
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "Choose a file first.")
	}
	file := intake.File{Name: name, Body: part, Announced: r.ContentLength - formSlack}
	if !intake.IsArchive(file.Name) {
		return s.Intake.Receive(r.Context(), who.WorkspaceID, file)
	}
	archive, err := s.Intake.ReceiveArchive(r.Context(), who.WorkspaceID, file)
	if err != nil {
		return nil, err
	}
	defer archive.Abort()
	return archive.Unpack(r.Context(), "", settings.Settings{})
}
