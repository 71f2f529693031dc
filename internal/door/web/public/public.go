// Package public serves the public pages: the home page, the leaderboard, a receipt's proof,
// the guide, the API reference, the SDKs, and the page that takes a file for an agent.
//
// Start reading at Site.Routes. Each page has a file of its own and a template of the same
// name.
package public

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"sync"

	"svc.example/addons/blender"
	"svc.example/internal/door/web/page"
	"svc.example/internal/door/web/public/reference"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/sdk"
)

//go:embed template
var files embed.FS

var pages = page.Templates(files, template.FuncMap{"label": labelText, "versions": versionsText, "prose": reference.Prose})

// Config holds what the public pages are made from. All fields but Terms and Downloads are required. The
// package closes none of them.
type Config struct {
	Intake *intake.Intake
	Board  *leaderboard.Board
	Proofs Proofs
	// Terms is the operator's text of what a start accepts, in Markdown; nil shows ours.
	Terms []byte
	// Downloads is the folder of a release that /download offers; "" offers none.
	Downloads string
}

// Proofs reads the public part of a receipt. It is an interface because the
// proof page needs one method of job.Jobs.
type Proofs interface {
	// Public returns the receipt and its proof. Errors: receipt_not_found, also
	// where the workspace has switched its proof pages off.
	Public(ctx context.Context, receiptID string) (job.Public, error)
}

// Site serves the public pages. It is safe for concurrent use.
type Site struct {
	*page.Base
	Config
	addOn func() ([]sdk.Package, error)
	cards sync.Mutex // one card is drawn at a time: a font keeps its glyphs
}

// New makes the public pages.
func New(shared page.Shared, c Config) *Site {
	// The files of the add-on for Blender at this service's version and address: an extension
	// repository.
	addOn := func() ([]sdk.Package, error) { return blender.Packages(blender.Version(), shared.Links.PublicURL) }
	return &Site{Base: page.NewBase(shared, pages), Config: c, addOn: sync.OnceValues(addOn)}
}

// Routes adds the public pages. openAPI returns the document that the API reference
// shows; it is called once, at the first request.
func (s *Site) Routes(mux *http.ServeMux, openAPI func() []byte) {
	mux.Handle("GET "+page.AssetFolder+"{file}", s.Errors.Handle(page.ServeAsset))
	mux.Handle("GET "+links.IconPath, s.Errors.Handle(page.ServeIcon))
	mux.Handle("GET /{$}", s.Page(s.home))
	mux.Handle("GET "+links.DocsPath, s.Fixed(func() (page.Page, error) { return referencePage(openAPI()) }))
	mux.Handle("GET "+links.ProofPath+"{receipt_id}", s.Errors.Handle(s.proof))

	mux.Handle("GET "+page.GuidePath, s.Page(s.guideDoors))
	mux.Handle("GET "+page.GuidePath+"/{name}", s.Errors.Handle(s.guide))
	mux.Handle("POST "+page.GuidePath+"/{name}", s.Page(s.Form(identity.Owner, s.makeGuideKey)))
	mux.Handle("GET "+searchPath, s.Page(s.searchGuide))
	mux.Handle("GET "+searchPath+"/{file}", s.Errors.Handle(serveIndex))
	mux.Handle("GET "+links.SDKPath+"{$}", s.Page(s.sdks))
	mux.Handle("GET "+links.SDKPath+"{file}", s.packages(links.SDKPath, sdk.Packages))
	mux.Handle("GET "+links.GoProxyPath+"{path...}", s.Errors.Handle(s.goProxy))
	mux.Handle("GET "+links.ProgramsPath, s.Page(s.downloadPage))
	mux.Handle("GET "+links.ProgramsPath+"/{file}", s.Errors.Handle(s.download))
	mux.Handle("GET "+links.AddOnPath+"{$}", s.Page(s.addOnPage))
	mux.Handle("GET "+links.AddOnPath+"{file}", s.packages(links.AddOnPath, s.addOn))
	mux.Handle("GET "+links.TermsPath, s.Page(s.terms))
	mux.Handle("GET "+links.UploadPath+"{upload_id}", s.Page(s.handOver))
	mux.Handle("GET "+links.LeaderboardPath, s.Page(leaderboardPage(s.board)))
	mux.Handle("GET "+links.GPUPath+"{gpu_slug}", s.Page(leaderboardPage(s.gpu)))
	mux.Handle("GET "+links.ComparePath, s.Page(leaderboardPage(s.compare)))
	mux.Handle("GET "+links.ResultPath+"{result_id}", s.Page(leaderboardPage(s.result)))
	mux.Handle("GET "+links.ResultPath+"{result_id}/card.png", s.Errors.Handle(s.resultCard))
}
