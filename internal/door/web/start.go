package web

import (
	"fmt"
	"net/http"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
)

// startView is the first page: what is offered, and the ways to it.
type startView struct {
	Price, Currency, Blender string
	Frames, MiB              int64
	AgentURL                 string // of the tools for agents
}

func (s *Site) start(*http.Request) (page, error) {
	return page{Template: "start", Title: "Blender Cycles renders at a locked price", Content: startView{
		Price: fmt.Sprintf("%d.%02d", contract.CentsPerFrame/100, contract.CentsPerFrame%100), Currency: contract.Currency, Blender: contract.BlenderVersion,
		Frames: contract.MaxFrames, MiB: contract.MaxUploadBytes >> 20, AgentURL: s.Links.To(links.AgentPath),
	}}, nil
}
