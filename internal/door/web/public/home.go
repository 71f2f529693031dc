package public

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
)

// homeView is the content of the home page. All its figures come from package
// contract, so that the page cannot differ from the API.
type homeView struct {
	Currency, Blender       string
	PriceCents, Frames, MiB int64
	// AgentURL is the address of the MCP tools.
	AgentURL string // of the tools for agents
}

// home builds the home page. It reads no database, so that it opens whatever
// state the service is in.
func (s *Site) home(*http.Request) (page.Page, error) {
	return page.Page{Template: "home", Title: "Blender Cycles, rendered at a locked price", Content: homeView{
		PriceCents: contract.Published().Current().CentsPerFrame, Currency: contract.Currency, Blender: contract.BlenderVersion,
		Frames: contract.MaxFrames, MiB: contract.MaxUploadBytes >> 20, AgentURL: s.Links.To(links.AgentPath),
	}}, nil
}

// termsView is the content of the terms. Its figures come from package contract.
type termsView struct {
	Version                  string
	Cents                    int64
	ArtifactDays, UploadDays int
	// Own is the operator's text; "" means ours.
	Own template.HTML
}

// terms builds the page of what a person accepts at start.
func (s *Site) terms(*http.Request) (page.Page, error) {
	const day = 24 * time.Hour
	view := termsView{Version: contract.LegalAcceptance, Cents: contract.Published().Current().CentsPerFrame, ArtifactDays: int(contract.ArtifactRetention / day), UploadDays: int(contract.UploadRetention / day)}
	var own bytes.Buffer
	if err := markdown().Convert(s.Terms, &own); err != nil {
		return page.Page{}, fmt.Errorf("show the terms: %w", err)
	}
	view.Own = template.HTML(own.String()) //nolint:gosec // the operator's Markdown, without its HTML
	return page.Page{Template: "terms", Title: "Terms", Content: view}, nil
}
